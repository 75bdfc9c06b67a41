"""Rows as the network reads them: each different sentence is encoded once, by the bundled sentence model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.judge.training.rows import Row, evidence
from checkers.oracle.local.encoder import bundled_model, unit
from checkers.oracle.model_loading import sentence_transformer
from checkers.text.negation import is_negator
from checkers.text.numbers import quantities
from checkers.text.words import Word, normalise, passages, words

LAYER = 4
"""Behind which words' vectors are read; the sentences' are read behind the last."""

MOST_WORDS, MOST_SENTENCES = 64, 14
EVIDENCE_WORDS = 110
"""Words of a passage that a claim is held against."""

_BATCH = 48
_STRETCH = 4096
_PIECES = 128
"""Word pieces of a sentence that are read."""


@dataclass(frozen=True, slots=True)
class Item:
    """A row by the numbers of its sentences."""

    source: str
    evidence: tuple[int, ...]
    claim: int
    label: int


class Corpus:
    """The sentences of all rows, and their words' vectors one behind the other."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.first: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        """Where each sentence's words begin; the last entry is the number of all words."""
        self.vectors: npt.NDArray[np.float16] = np.zeros((0, 0), dtype=np.float16)
        self.gists: npt.NDArray[np.float16] = np.zeros((0, 0), dtype=np.float16)
        self.stems: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.flags: npt.NDArray[np.uint8] = np.zeros((0, 4), dtype=np.uint8)
        self.values: npt.NDArray[np.float64] = np.zeros(0)

    def items(self, rows: Sequence[Row]) -> list[Item]:
        """The rows, their sentences numbered; those without evidence are left out."""
        found = []
        for row in rows:
            lines = list(passages(row.premise))
            kept = list(passages(" ".join(evidence(lines, row.claim, EVIDENCE_WORDS)))) if lines else []
            numbers = tuple(self._number(line) for line in kept[:MOST_SENTENCES])
            if numbers:
                found.append(Item(row.source, numbers, self._number(row.claim), row.label))
        return found

    def encode(self) -> None:
        """Read all sentences."""
        texts = list(self._numbers)
        found = [words(text)[:MOST_WORDS] for text in texts]
        sizes = [len(each) for each in found]
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self._describe(found)
        model = sentence_transformer(str(bundled_model()), local_files_only=True)
        tokenizer, transformer = model.tokenizer, model[0].auto_model.eval()
        self.vectors = np.zeros((int(self.first[-1]), transformer.config.hidden_size), dtype=np.float16)
        self.gists = np.zeros((len(texts), transformer.config.hidden_size), dtype=np.float16)
        begun = time.monotonic()
        for start in range(0, len(texts), _STRETCH):
            numbers = sorted(range(start, min(start + _STRETCH, len(texts))), key=lambda number: len(texts[number]))
            for at in range(0, len(numbers), _BATCH):
                self._read(tokenizer, transformer, texts, found, numbers[at : at + _BATCH])
            print(f"{start + len(numbers)} of {len(texts)} sentences, {time.monotonic() - begun:.0f} s", flush=True)

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(normalise(text), len(self._numbers))

    def _describe(self, found: Sequence[Sequence[Word]]) -> None:
        count = int(self.first[-1])
        self.stems, self.values = np.zeros(count, dtype=np.int32), np.full(count, np.nan)
        self.flags = np.zeros((count, 4), dtype=np.uint8)
        known: dict[str, int] = {}
        for number, own in enumerate(found):
            at = int(self.first[number])
            cased = any(word.surface[0].islower() for word in own)
            for k, word in enumerate(own):
                self.stems[at + k] = known.setdefault(word.stem, len(known))
                named = k > 0 and cased and word.surface[0].isupper()
                self.flags[at + k] = (
                    word.content,
                    named,
                    word.surface[0].isdigit(),
                    is_negator(word.surface.lower()),
                )
            for quantity in quantities(own):
                self.values[at + quantity.first : at + quantity.last + 1] = quantity.value
                self.flags[at + quantity.first : at + quantity.last + 1, 2] = 1

    def _read(
        self,
        tokenizer: Any,
        transformer: Any,
        texts: Sequence[str],
        found: Sequence[Sequence[Word]],
        numbers: list[int],
    ) -> None:
        encoding = tokenizer(
            [texts[number] for number in numbers],
            truncation=True,
            max_length=_PIECES,
            padding=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = encoding.pop("offset_mapping")
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            states = transformer(**encoding, output_hidden_states=True).hidden_states
        middle, last = states[LAYER].float().numpy(), states[-1].float().numpy()
        for row, number in enumerate(numbers):
            size = int(encoding["attention_mask"][row].sum())
            self.gists[number] = unit(last[row, :size].mean(axis=0))
            own = found[number]
            if own:
                rows = _by_word(middle[row, :size], offsets[row, :size].tolist(), own)
                self.vectors[self.first[number] : self.first[number + 1]] = unit(rows)


def _by_word(
    states: npt.NDArray[np.float32], offsets: Sequence[tuple[int, int]], own: Sequence[Word]
) -> npt.NDArray[np.float32]:
    """The mean over each word's pieces; zeros where they were cut off."""
    sums = np.zeros((len(own), states.shape[1]), dtype=np.float32)
    counts = np.zeros(len(own), dtype=np.float32)
    current = 0
    for piece, (start, end) in zip(states, offsets, strict=True):
        while current < len(own) and own[current].end <= start:
            current += 1
        if current == len(own):
            break
        if start < end and own[current].start < end:
            sums[current] += piece
            counts[current] += 1
    sums /= np.maximum(counts, 1)[:, None]
    return sums
