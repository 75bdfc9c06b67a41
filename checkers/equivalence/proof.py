"""Phi, which proves a yes, and the test that a no has to pass (oracle-checker, section 4.1 and figure 4).

Phi: the alignments that hold once the phrase pairs that matter have been asked about.

The test: anyone who can tell two sentences apart can tell a paraphrase of the one from the other sentence. It sees
contradictions only: a subject that tosses a coin at every question passes n tests with probability 2^-n, one that
always says no passes always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from checkers.checker import Undecidable
from checkers.draws import generator, uniform
from checkers.equivalence.alignment import Alignments
from checkers.equivalence.questions import PARAPHRASES, EquivalenceReply, Subject
from checkers.equivalence.trees import plain_form, same_text
from models.work import both, gather_or_cancel
from schemas.equivalence import (
    AlignedPhrases,
    EquivalenceProof,
    EquivalenceTest,
    EquivalenceTestRound,
    ParaphraseCandidate,
    PhraseAlignment,
    TriangularEvidence,
)

Require = Literal["or", "and"]
"""`or`: any of the four alignments. `and`: at least one in each direction."""

AskPhrases = Callable[[Sequence[AlignedPhrases]], Awaitable[Sequence[EquivalenceReply]]]
"""A reply for each pair, in order."""

_ASKED_FIRST = 2
"""Pairs that are asked about one by one before the rest: most alignments that fail do so in these, and no proof of 300
takes more than four one behind the other."""


async def prove(alignments: Alignments, ask: AskPhrases, require: Require = "or") -> EquivalenceProof:
    """Ask until phi is decided: about two pairs one behind the other, then about all that are left of an alignment.

    Only pairs of an alignment that covers its sentence are asked, each once however often it was matched. The direction
    with the fewest open questions comes first, and in it the least similar pair, which is the likeliest to be denied.
    """
    alignments, waited = tuple(_answered(one, {}) for one in alignments), 0
    while pairs := _open_pairs(alignments, require):
        asked = pairs[:1] if waited < _ASKED_FIRST else pairs
        waited += 1
        replies = dict(zip(map(_key, asked), await ask(asked), strict=True))
        alignments = tuple(_answered(one, replies) for one in alignments)
    return EquivalenceProof(found=_holds(alignments, require), require=require, alignments=alignments)


def _holds(alignments: Alignments, require: Require) -> bool:
    directions = {one.source for one in alignments if one.outcome == "found"}
    return len(directions) >= (2 if require == "and" else 1)


def _open_pairs(alignments: Alignments, require: Require) -> list[AlignedPhrases]:
    """The pairs to ask about next, in order; none once phi is decided."""
    hopeful = {one.source: one.pairs for one in alignments if one.outcome in {"found", "not_asked"}}
    if _holds(alignments, require) or len(hopeful) < (2 if require == "and" else 1):
        return []
    if require == "and":
        # One denied pair decides, so the pairs of both directions stand in one line.
        return _unasked([pair for pairs in hopeful.values() for pair in pairs])
    return min(map(_unasked, hopeful.values()), key=len)


def _unasked(pairs: Sequence[AlignedPhrases]) -> list[AlignedPhrases]:
    """Pairs that nobody has been asked about, each once, the least similar first."""
    found = {_key(pair): pair for pair in pairs if pair.confirmed is None and not same_text(pair.first, pair.second)}
    return sorted(found.values(), key=lambda pair: (pair.similarity, _key(pair)))


def _answered(alignment: PhraseAlignment, replies: Mapping[tuple[str, str], EquivalenceReply]) -> PhraseAlignment:
    """The alignment with these replies about its pairs."""
    pairs = []
    for pair in alignment.pairs:
        if reply := replies.get(_key(pair)):
            found = {"confirmed": reply.answer == "yes", "explanation": reply.explanation}
            pair = pair.model_copy(update=found)  # noqa: PLW2901 - the same pair
        pairs.append(pair)
    outcome = alignment.outcome
    if outcome == "not_asked":
        is_denied = any(pair.confirmed is False for pair in pairs)
        outcome = "denied" if is_denied else "not_asked" if _unasked(pairs) else "found"
    return alignment.model_copy(update={"pairs": tuple(pairs), "outcome": outcome})


def _key(pair: AlignedPhrases) -> tuple[str, str]:
    """The same for a pair and its reverse."""
    first, second = sorted((plain_form(pair.first), plain_form(pair.second)))
    return first, second


Phi = Callable[[str, str], Awaitable[bool]]
"""True if two sentences align, as the setting `require` asks for it."""


async def look_for_contradiction(
    sentences: tuple[str, str],
    subject: Subject,
    phi: Phi,
    proving: Awaitable[EquivalenceProof],
    *,
    seed: str,
    tests: int = 1,
) -> EquivalenceTest:
    """Test a no `tests` times, or as often as there are paraphrases, each time with another; any yes contradicts it.

    `phi` finds indifferentiable paraphrases; `proving`, the proof for the two sentences, is awaited last. Raises
    Undecidable if there is no paraphrase.
    """
    first, second = sentences
    made = zip((1, 2), await both(subject.paraphrases(first), subject.paraphrases(second)), strict=True)
    candidates = [ParaphraseCandidate(text=one, made_from=side) for side, texts in made for one in texts]
    asked = 2 * PARAPHRASES
    if not candidates:
        raise Undecidable("subject_unusable", f"none of {asked} paraphrases can be used")
    untested = list(range(len(candidates)))
    generator(seed, "order").shuffle(untested)

    async def is_indifferentiable(place: int) -> bool:
        one = candidates[place]
        if one.indifferentiable is None:
            found = await phi(one.text, sentences[2 - one.made_from])
            one = candidates[place] = one.model_copy(update={"indifferentiable": found})
        return bool(one.indifferentiable)

    async def drawn(number: int) -> ParaphraseCandidate:
        """An indifferentiable one if there is any, of either side with the same chance; else any.

        The coin is tossed first, and the other side looked at only if the first has none: this comes to the same as
        drawing one on each side and tossing then, with fewer questions.
        """
        taken = untested[int(uniform(seed, f"any {number}") * len(untested))]
        side = 1 if uniform(seed, f"side {number}") < 0.5 else 2
        for one in (side, 3 - side):
            places = [place for place in untested if candidates[place].made_from == one]
            found = await gather_or_cancel(map(is_indifferentiable, places))
            if any(found):
                taken = places[found.index(True)]
                break
        untested.remove(taken)
        return candidates[taken]

    tests = min(tests, len(candidates))
    taken = [await drawn(number) for number in range(1, tests + 1)]
    # Each takes the place of the sentence that it was made from.
    pairs = [(one.text, second) if one.made_from == 1 else (first, one.text) for one in taken]
    replies = await gather_or_cancel(subject.equivalent(*pair) for pair in pairs)
    rounds = [
        EquivalenceTestRound(paraphrase=one, answer=reply.answer == "yes", explanation=reply.explanation)
        for one, reply in zip(taken, replies, strict=True)
    ]
    yes = next((place for place, one in enumerate(rounds) if one.answer), None)
    aligned = (await proving).found
    indifferentiable = any(one.indifferentiable for one in candidates)
    return EquivalenceTest(
        category=("AI" if indifferentiable else "A") if aligned else "I" if indifferentiable else "none",
        tests=tests,
        rounds=tuple(rounds if yes is None else rounds[: yes + 1]),
        paraphrases=tuple(candidates),
        unusable=asked - len(candidates),
        triangle=None if yes is None else TriangularEvidence(first=first, second=second, paraphrase=taken[yes].text),
        seed=seed,
    )
