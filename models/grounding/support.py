"""The best support that a claim finds among the pieces of a text, for many claims at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.grounding.pairs import PairScorer, Row, TooManyTokens, size_of
from models.grounding.pieces import halves_of

_WINDOW_CHARACTERS = 400_000
"""Pairs that are put into batches together: enough that those of like length meet, however long the texts are."""

_LEFT_FOR_PIECE = 1 / 4
"""The least share of the limit where a text has to be cut: what is said in less is not to be judged by."""


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """A claim, and the pieces of a text of which one is to support it."""

    pieces: tuple[str, ...]
    """At least one."""
    claim: str


@dataclass(frozen=True, slots=True)
class PieceSupport:
    """The support of a claim by the best piece."""

    score: float
    """0 to 1, rounded to four places: beyond them, what else is in a batch may show."""
    piece: str
    place: int
    """The place of the piece among those compared."""


@dataclass(frozen=True, slots=True)
class _PieceAndClaim:
    owner: int
    place: int
    piece: str
    claim: str


class _Best:
    """The best support so far of each comparison, or why it cannot be had."""

    def __init__(self, count: int) -> None:
        self.found: list[PieceSupport | TooManyTokens | None] = [None] * count

    def take(self, pair: _PieceAndClaim, score: float) -> None:
        known = self.found[pair.owner]
        support = PieceSupport(round(score, 4), pair.piece, pair.place)
        if known is None or (isinstance(known, PieceSupport) and _rank(support) > _rank(known)):
            self.found[pair.owner] = support


def best_supports(scorer: PairScorer, comparisons: Sequence[ClaimComparison]) -> list[PieceSupport | TooManyTokens]:
    """For each comparison its best support, or the reason if the claim leaves too little room for a piece.

    Pieces of all comparisons go through the network together. A piece that is too long with its claim is divided.
    """
    best = _Best(len(comparisons))
    for window in _windows(comparisons):
        pairs, rows = _fitted(scorer, window, best)
        for batch in scorer.batches(rows):
            for index, score in zip(batch, scorer.run([rows[index] for index in batch]), strict=True):
                best.take(pairs[index], score)
    return [found for found in best.found if found is not None]


def _windows(comparisons: Sequence[ClaimComparison]) -> Iterator[list[_PieceAndClaim]]:
    window: list[_PieceAndClaim] = []
    size = 0
    for owner, comparison in enumerate(comparisons):
        for place, piece in enumerate(comparison.pieces):
            window.append(_PieceAndClaim(owner, place, piece, comparison.claim))
            size += len(piece) + len(comparison.claim)
            if size >= _WINDOW_CHARACTERS:
                yield window
                window, size = [], 0
    yield window


def _fitted(scorer: PairScorer, todo: list[_PieceAndClaim], best: _Best) -> tuple[list[_PieceAndClaim], list[Row]]:
    """The pairs, with pieces divided until they fit, and their rows; of a claim that leaves no room, none."""
    pairs: list[_PieceAndClaim] = []
    rows: list[Row] = []
    while todo:
        again: list[_PieceAndClaim] = []
        for pair, row in zip(todo, scorer.rows([(one.piece, one.claim) for one in todo]), strict=True):
            if isinstance(best.found[pair.owner], TooManyTokens):
                continue
            if size_of(row) <= scorer.limit:
                pairs.append(pair)
                rows.append(row)
            elif fault := _lack_of_room(scorer, pair.claim):
                best.found[pair.owner] = fault
            else:
                again += [_PieceAndClaim(pair.owner, pair.place, half, pair.claim) for half in halves_of(pair.piece)]
        todo = again
    kept = [index for index, pair in enumerate(pairs) if not isinstance(best.found[pair.owner], TooManyTokens)]
    return [pairs[index] for index in kept], [rows[index] for index in kept]


def _lack_of_room(scorer: PairScorer, claim: str) -> TooManyTokens | None:
    (alone,) = scorer.rows([("", claim)])
    if size_of(alone) <= scorer.limit * (1 - _LEFT_FOR_PIECE):
        return None
    return TooManyTokens(
        f"a sentence takes {size_of(alone)} of the {scorer.limit} tokens that the judge reads at once; too few are "
        "left for a piece of the reference"
    )


def _rank(support: PieceSupport) -> tuple[float, int]:
    return support.score, -support.place
