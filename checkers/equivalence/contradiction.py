"""The test of a no: does the subject contradict it? See oracle-checker, section 4.1 and figure 4.

Anyone who can tell two sentences apart can tell a paraphrase of the one from the other sentence. The test sees
contradictions only: a subject that tosses a coin at every question passes n tests with probability 2^-n, one that
always says no passes always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from checkers.checker import Undecidable
from checkers.draws import generator, uniform
from checkers.equivalence.alignment import Side
from checkers.equivalence.questions import PARAPHRASES, Subject
from models.work import both, gather_or_cancel
from schemas import EquivalenceProof, EquivalenceTest, EquivalenceTestRound, ParaphraseCandidate, TriangularEvidence

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

    Questions that need no earlier answer are asked at the same time: the subject paraphrases while the proof is looked
    for, all paraphrases of one side are aligned at once, and all tests are asked together. `phi` finds indifferentiable
    paraphrases, and `proving`, the proof for the two sentences, is awaited last.

    Raises:
        Undecidable: there is no paraphrase.
    """
    first, second = sentences
    made = await both(subject.paraphrases(first), subject.paraphrases(second))
    drawn = _Paraphrases(sentences, made, phi, seed)
    asked = 2 * PARAPHRASES
    if not drawn.candidates:
        raise Undecidable("subject_unusable", f"none of {asked} paraphrases can be used")
    tests = min(tests, len(drawn.candidates))
    taken = [await drawn.next(number) for number in range(1, tests + 1)]
    # Each takes the place of the sentence that it was made from.
    pairs = [(one.text, second) if one.made_from == 1 else (first, one.text) for one in taken]
    replies = await gather_or_cancel(subject.equivalent(*pair) for pair in pairs)
    rounds: list[EquivalenceTestRound] = []
    for one, reply in zip(taken, replies, strict=True):
        answer = reply.answer == "yes"
        rounds.append(EquivalenceTestRound(paraphrase=one, answer=answer, explanation=reply.explanation))
        if answer:
            break
    aligned = (await proving).found
    indifferentiable = any(one.indifferentiable for one in drawn.candidates)
    last = rounds[-1]
    triangle = TriangularEvidence(first=first, second=second, paraphrase=last.paraphrase.text) if last.answer else None
    return EquivalenceTest(
        category=("AI" if indifferentiable else "A") if aligned else "I" if indifferentiable else "none",
        tests=tests,
        rounds=tuple(rounds),
        paraphrases=tuple(drawn.candidates),
        unusable=asked - len(drawn.candidates),
        triangle=triangle,
        seed=seed,
    )


class _Paraphrases:
    """Paraphrases of both sentences, from which each is drawn once."""

    def __init__(
        self, sentences: tuple[str, str], made: tuple[Sequence[str], Sequence[str]], phi: Phi, seed: str
    ) -> None:
        self._sentences, self._phi, self._seed = sentences, phi, seed
        sides: tuple[Side, Side] = (1, 2)
        self.candidates = [
            ParaphraseCandidate(text=one, made_from=side)
            for side, texts in zip(sides, made, strict=True)
            for one in texts
        ]
        """All of them, those of the first sentence first."""
        self._untested = list(range(len(self.candidates)))
        generator(seed, "order").shuffle(self._untested)

    async def next(self, number: int) -> ParaphraseCandidate:
        """An indifferentiable one if there is any, of either side with the same chance; else any.

        The coin is tossed first, and the other side looked at only if the first has none: this comes to the same as
        drawing one on each side and tossing then, with fewer questions.
        """
        first_side = 1 if uniform(self._seed, f"side {number}") < 0.5 else 2
        for side in (first_side, 3 - first_side):
            places = [place for place in self._untested if self.candidates[place].made_from == side]
            found = await gather_or_cancel(map(self._is_indifferentiable, places))
            for place, is_indifferentiable in zip(places, found, strict=True):
                if is_indifferentiable:
                    return self._take(place)
        return self._take(self._untested[int(uniform(self._seed, f"any {number}") * len(self._untested))])

    def _take(self, place: int) -> ParaphraseCandidate:
        self._untested.remove(place)
        return self.candidates[place]

    async def _is_indifferentiable(self, place: int) -> bool:
        candidate = self.candidates[place]
        if candidate.indifferentiable is None:
            found = await self._phi(candidate.text, self._sentences[2 - candidate.made_from])
            candidate = self.candidates[place] = candidate.model_copy(update={"indifferentiable": found})
        return bool(candidate.indifferentiable)
