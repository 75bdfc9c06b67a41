"""Two sentences and what is matched in them: the material of a proof, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal[1, 2]
"""The first sentence or the second."""


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """A matched pair of phrases."""

    first: str
    """The phrase of the first sentence, whichever the source is."""
    second: str
    similarity: float
    """Cosine of the two in their sentences."""
    spans: tuple[tuple[int, int], tuple[int, int]]
    """Their characters in the two sentences."""


@dataclass(frozen=True, slots=True)
class RhoAlignment:
    """One of the four, before anything is asked."""

    source: Side
    """The sentence whose phrases were looked up in the other."""
    covers: Side
    """The sentence whose words must be covered: the source, or the other in a starred alignment."""
    pairs: tuple[PhrasePair, ...]
    """In the source's order, wider before narrower; nested ones too, and equal words that no phrase covers."""
    uncovered: tuple[tuple[int, int], ...]
    """Characters of the words of `covers` that no phrase covers, single prepositions left out."""

    @property
    def name(self) -> str:
        """`1>2`, `1>2*`, `2>1` or `2>1*`."""
        return f"{self.source}>{3 - self.source}{'' if self.source == self.covers else '*'}"

    @property
    def covering(self) -> bool:
        """True if it needs nothing but its pairs to be confirmed."""
        return bool(self.pairs) and not self.uncovered


@dataclass(frozen=True, slots=True)
class AlignedSentences:
    """Two sentences and their alignments."""

    sentences: tuple[str, str]
    alignments: tuple[RhoAlignment, RhoAlignment, RhoAlignment, RhoAlignment]
    """`1>2`, `1>2*`, `2>1`, `2>1*`."""


def identical(first: str, second: str) -> AlignedSentences:
    """The four alignments of two sentences that are the same text: each is one pair, of the sentences themselves."""
    spans = [(len(text) - len(text.lstrip()), len(text.rstrip())) for text in (first, second)]
    whole = PhrasePair(first.strip(), second.strip(), 1.0, (spans[0], spans[1]))
    return AlignedSentences(
        (first, second),
        (
            RhoAlignment(1, 1, (whole,), ()),
            RhoAlignment(1, 2, (whole,), ()),
            RhoAlignment(2, 2, (whole,), ()),
            RhoAlignment(2, 1, (whole,), ()),
        ),
    )
