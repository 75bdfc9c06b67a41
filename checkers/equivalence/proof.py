"""Phi: which alignments stand once the phrase pairs that matter have been asked about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from checkers.equivalence.opinions import Opinion

if TYPE_CHECKING:
    from checkers.equivalence.alignment import Alignment, Matched, PhrasePair

Require = Literal["or", "and"]
"""`or`: any of the four alignments. `and`: one in each direction at least."""

Outcome = Literal["found", "uncovered", "denied", "not_asked"]
"""What became of an alignment. `uncovered`: words are left over. `denied`: a pair was. `not_asked`: covered, but phi
was decided before all its pairs were asked."""

Ask = Callable[[Sequence["PhrasePair"]], Awaitable[Sequence[Opinion]]]
"""An opinion for each pair, in order."""


@dataclass(frozen=True, slots=True)
class Settled:
    """An alignment and what became of it."""

    alignment: Alignment
    outcome: Outcome
    denied: tuple[PhrasePair, ...]
    """Its pairs that were denied."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether phi holds, and why or why not."""

    found: bool
    require: Require
    alignments: tuple[Settled, ...]
    """`1>2`, `1>2*`, `2>1`, `2>1*`."""
    opinions: Mapping[tuple[str, str], Opinion]
    """By the texts of a pair: what was asked."""

    def opinion(self, pair: PhrasePair) -> Opinion | None:
        """What was said of a pair; None where nobody was asked."""
        return self.opinions.get(_key(pair))

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return len(self.opinions)


async def prove(matched: Matched, ask: Ask, require: Require = "or", *, at_once: int = 1) -> Proof:
    """Ask, up to `at_once` pairs in a go, until phi is decided.

    Only pairs of an alignment that covers its sentence are asked, each once however often and in whichever direction
    it was matched; two phrases of the same words need no asking. Fewest open questions first, and of an alignment the
    least similar pair, which is the likeliest to be denied. Raises what `ask` raises.
    """
    opinions: dict[tuple[str, str], Opinion] = {}
    while open_pairs := _next(matched, opinions, require)[:at_once]:
        for pair, opinion in zip(open_pairs, await ask(open_pairs), strict=True):
            opinions[_key(pair)] = opinion
    settled = tuple(_settled(one, opinions) for one in matched.alignments)
    return Proof(_holds(settled, require), require, settled, opinions)


def _next(matched: Matched, opinions: Mapping[tuple[str, str], Opinion], require: Require) -> list[PhrasePair]:
    """The questions of the alignments to be settled now, in order; none once phi is decided."""
    settled = [_settled(one, opinions) for one in matched.alignments]
    if _holds(settled, require):
        return []
    hopeful = {one.alignment.source: one.alignment.pairs for one in settled if one.outcome in ("found", "not_asked")}
    if require == "and":
        # One pair denied is the end of it, so all of both directions stand in one line.
        return _open([pair for pairs in hopeful.values() for pair in pairs], opinions) if len(hopeful) == 2 else []
    return min((_open(pairs, opinions) for pairs in hopeful.values()), key=len, default=[])


def _open(pairs: Iterable[PhrasePair], opinions: Mapping[tuple[str, str], Opinion]) -> list[PhrasePair]:
    """Pairs that nobody has been asked about, each once, the least similar first."""
    found = {_key(pair): pair for pair in pairs if not _alike(pair) and _key(pair) not in opinions}
    return sorted(found.values(), key=lambda pair: (pair.similarity, _key(pair)))


def _settled(alignment: Alignment, opinions: Mapping[tuple[str, str], Opinion]) -> Settled:
    said = [(pair, opinions.get(_key(pair))) for pair in alignment.pairs if not _alike(pair)]
    denied = tuple(pair for pair, opinion in said if opinion is not None and not opinion.same)
    outcome: Outcome = "not_asked"
    if not alignment.covering:
        outcome = "uncovered"
    elif denied:
        outcome = "denied"
    elif all(opinion is not None for _, opinion in said):
        outcome = "found"
    return Settled(alignment, outcome, denied)


def _holds(settled: Iterable[Settled], require: Require) -> bool:
    directions = {one.alignment.source for one in settled if one.outcome == "found"}
    return len(directions) >= (2 if require == "and" else 1)


def _alike(pair: PhrasePair) -> bool:
    one, other = _key(pair)
    return one == other


def _key(pair: PhrasePair) -> tuple[str, str]:
    """The same for a pair and its reverse."""
    one, other = sorted((" ".join(pair.first.split()), " ".join(pair.second.split())))
    return one, other
