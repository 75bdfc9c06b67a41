"""Rows as the network reads them: each different sentence is encoded once, by the product's own encoder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.judge.training.rows import Row
from models.local.encoding import TextEncoder
from models.local.sides import Pair, Side, evidence, joined, side_of
from models.text.words import passages

_STRETCH = 2048
"""Sentences that are encoded in one go."""


@dataclass(frozen=True, slots=True)
class Item:
    """A row: its claim beside its evidence, and whether that supports it."""

    source: str
    pair: Pair
    """The network's input."""
    label: int

    @property
    def size(self) -> int:
        """Words of the evidence."""
        return len(self.pair[1].stems)


class Corpus:
    """The sentences of rows, encoded."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._sides: dict[str, Side] = {}

    def encode(self, rows: Sequence[Row]) -> None:
        """Read all sentences of the rows."""
        texts = list(dict.fromkeys(text for row in rows for text in (row.claim, *passages(row.premise))))
        begun = time.monotonic()
        for start in range(0, len(texts), _STRETCH):
            for text, encoded in self._encoder.sentences(texts[start : start + _STRETCH]).items():
                side = side_of(encoded)
                vectors, gists = (part.astype(np.float16) for part in (side.vectors, side.sentences))
                self._sides[text] = replace(side, vectors=vectors, sentences=gists)
            done = min(start + _STRETCH, len(texts))
            print(f"{done} of {len(texts)} sentences, {time.monotonic() - begun:.0f} s", flush=True)

    def items(self, rows: Sequence[Row]) -> list[Item]:
        """The rows, but for those whose claim or evidence has no words."""
        found = []
        for row in rows:
            claim = self._sides[row.claim]
            sides = [side for text in passages(row.premise) if (side := self._sides[text]).stems]
            if sides and claim.stems:
                found.append(Item(row.source, (claim, evidence(claim, joined(sides))[0]), row.label))
        return found
