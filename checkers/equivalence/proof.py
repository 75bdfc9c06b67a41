"""Phi: the alignments that hold once the phrase pairs that matter have been asked about (oracle-checker, section 4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal

from checkers.equivalence.alignment import AlignedSentences, PhrasePair, RhoAlignment
from checkers.equivalence.questions import EquivalenceReply
from checkers.equivalence.trees import plain_form, same_text
from schemas import AlignedPhrases, EquivalenceProof, PhraseAlignment, UncoveredWord

Require = Literal["or", "and"]
"""`or`: any of the four alignments. `and`: at least one in each direction."""

Outcome = Literal["found", "uncovered", "denied", "not_asked"]

AskPhrases = Callable[[Sequence[PhrasePair]], Awaitable[Sequence[EquivalenceReply]]]
"""A reply for each pair, in order."""

_ASKED_FIRST = 2
"""Pairs that are asked about one by one before the rest: most alignments that fail do so in these, and no proof of 300
takes more than four one behind the other."""

_Replies = dict[tuple[str, str], EquivalenceReply]
"""By the texts of a pair, in either order."""


async def prove(aligned: AlignedSentences, ask: AskPhrases, require: Require = "or") -> EquivalenceProof:
    """Ask until phi is decided: about two pairs one behind the other, then about all that are left of an alignment.

    Only pairs of an alignment that covers its sentence are asked, each once however often and in whichever direction
    it was matched; two phrases of the same text need no asking. The direction with the fewest open questions comes
    first, and in it the least similar pair, which is the likeliest to be denied: so most alignments that fail do so at
    the first two, and the rest need not wait for each other. Raises what `ask` raises.
    """
    replies: _Replies = {}
    waited = 0
    while pairs := _open_pairs(aligned, replies, require):
        asked = pairs[:1] if waited < _ASKED_FIRST else pairs
        waited += 1
        for pair, reply in zip(asked, await ask(asked), strict=True):
            replies[_key(pair)] = reply
    outcomes = [_outcome(alignment, replies) for alignment in aligned.alignments]
    return EquivalenceProof(
        found=_holds(aligned, outcomes, require),
        require=require,
        alignments=tuple(
            _evidence(alignment, outcome, aligned.sentences, replies)
            for alignment, outcome in zip(aligned.alignments, outcomes, strict=True)
        ),
    )


def _open_pairs(aligned: AlignedSentences, replies: _Replies, require: Require) -> list[PhrasePair]:
    """The pairs to ask about next, in order; none once phi is decided."""
    outcomes = [_outcome(alignment, replies) for alignment in aligned.alignments]
    if _holds(aligned, outcomes, require):
        return []
    hopeful = {
        alignment.source: alignment.pairs
        for alignment, outcome in zip(aligned.alignments, outcomes, strict=True)
        if outcome in {"found", "not_asked"}
    }
    if require == "and":
        # One denied pair decides, so the pairs of both directions stand in one line.
        return _unasked([pair for pairs in hopeful.values() for pair in pairs], replies) if len(hopeful) == 2 else []
    return min((_unasked(pairs, replies) for pairs in hopeful.values()), key=len, default=[])


def _unasked(pairs: Iterable[PhrasePair], replies: _Replies) -> list[PhrasePair]:
    """Pairs that nobody has been asked about, each once, the least similar first."""
    found = {_key(pair): pair for pair in pairs if not same_text(pair.first, pair.second) and _key(pair) not in replies}
    return sorted(found.values(), key=lambda pair: (pair.similarity, _key(pair)))


def _outcome(alignment: RhoAlignment, replies: Mapping[tuple[str, str], EquivalenceReply]) -> Outcome:
    if not alignment.covering:
        return "uncovered"
    asked = [replies.get(_key(pair)) for pair in alignment.pairs if not same_text(pair.first, pair.second)]
    if any(reply is not None and reply.answer == "no" for reply in asked):
        return "denied"
    return "not_asked" if None in asked else "found"


def _holds(aligned: AlignedSentences, outcomes: Sequence[Outcome], require: Require) -> bool:
    found = zip(aligned.alignments, outcomes, strict=True)
    directions = {alignment.source for alignment, outcome in found if outcome == "found"}
    return len(directions) >= (2 if require == "and" else 1)


def _key(pair: PhrasePair) -> tuple[str, str]:
    """The same for a pair and its reverse."""
    first, second = sorted((plain_form(pair.first), plain_form(pair.second)))
    return first, second


def _evidence(
    alignment: RhoAlignment, outcome: Outcome, sentences: tuple[str, str], replies: _Replies
) -> PhraseAlignment:
    covered = sentences[alignment.covers - 1]
    return PhraseAlignment(
        name=alignment.name,
        source=alignment.source,
        covers=alignment.covers,
        outcome=outcome,
        pairs=tuple(
            AlignedPhrases(
                first=pair.first,
                second=pair.second,
                first_span=pair.spans[0],
                second_span=pair.spans[1],
                similarity=round(pair.similarity, 4),
                confirmed=None if reply is None else reply.answer == "yes",
                explanation="" if reply is None else reply.explanation,
            )
            for pair, reply in ((pair, replies.get(_key(pair))) for pair in alignment.pairs)
        ),
        uncovered=tuple(UncoveredWord(text=covered[a:b], start=a, end=b) for a, b in alignment.uncovered),
    )
