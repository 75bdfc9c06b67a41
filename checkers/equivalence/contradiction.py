"""The test of a no: does the subject contradict it? See oracle-checker, section 4.1 and figure 4.

Whoever can tell two sentences apart can tell a paraphrase of the one from the other sentence. The test sees
contradictions only: a subject that tosses a coin at every question passes in half of all cases, one that always says no
passes always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from checkers.draws import generator, uniform
from checkers.equivalence.aligned import Side
from models.concurrent import both, gather_or_cancel
from schemas import EquivalenceProof, EquivalenceTest, EquivalenceTestRound, ParaphraseCandidate, TriangularEvidence

if TYPE_CHECKING:
    from checkers.equivalence.respondent import Respondent

Phi = Callable[[str, str], Awaitable[bool]]
"""True if two sentences align, as the setting `require` asks for it."""


async def look_for_contradiction(
    sentences: tuple[str, str],
    subject: Respondent,
    phi: Phi,
    proving: Awaitable[EquivalenceProof],
    *,
    seed: str,
) -> EquivalenceTest:
    """Test a no with a paraphrase; a yes contradicts it.

    Questions that need no earlier answer are asked at the same time: the subject paraphrases while the proof is looked
    for, and all paraphrases of one side are aligned at once.

    Args:
        sentences: Those that the subject called different.
        subject: Paraphrases each sentence and is asked about the paraphrases.
        phi: Finds indifferentiable paraphrases.
        proving: The proof for the two sentences; it is awaited last.
        seed: Decides all draws.
    """
    first, second = sentences
    made = await both(subject.paraphrases(first, second), subject.paraphrases(second, first))
    drawn = _Paraphrases(sentences, made, phi, seed)
    taken = await drawn.one()
    # It takes the place of the sentence that it was made from.
    reply = await subject.equivalent(*((taken.text, second) if taken.made_from == 1 else (first, taken.text)))
    contradicts = reply.answer == "yes"
    aligned = (await proving).found
    indifferentiable = any(candidate.indifferentiable for candidate in drawn.candidates)
    return EquivalenceTest(
        category=("AI" if indifferentiable else "A") if aligned else "I" if indifferentiable else "none",
        tests=1,
        rounds=(EquivalenceTestRound(paraphrase=taken, answer=contradicts, explanation=reply.explanation),),
        paraphrases=tuple(drawn.candidates),
        triangle=TriangularEvidence(first=first, second=second, paraphrase=taken.text) if contradicts else None,
        seed=seed,
    )


class _Paraphrases:
    """Paraphrases of both sentences, from which one is drawn."""

    def __init__(
        self, sentences: tuple[str, str], made: tuple[Sequence[str], Sequence[str]], phi: Phi, seed: str
    ) -> None:
        self._sentences = sentences
        self._phi = phi
        self._seed = seed
        sides: tuple[Side, Side] = (1, 2)
        self.candidates = [
            ParaphraseCandidate(text=text, made_from=side)
            for side, texts in zip(sides, made, strict=True)
            for text in texts
        ]
        """All of them, those of the first sentence first."""

    async def one(self) -> ParaphraseCandidate:
        """An indifferentiable one if there is any, of either side with the same chance; else any.

        The coin is tossed first, and the other side looked at only if the first has none: this comes to the same as
        drawing one on each side and tossing then, with fewer questions.
        """
        order = list(range(len(self.candidates)))
        generator(self._seed, "order").shuffle(order)
        first_side = 1 if uniform(self._seed, "side 1") < 0.5 else 2
        for side in (first_side, 3 - first_side):
            places = [place for place in order if self.candidates[place].made_from == side]
            found = await gather_or_cancel(map(self._is_indifferentiable, places))
            for place, is_indifferentiable in zip(places, found, strict=True):
                if is_indifferentiable:
                    return self.candidates[place]
        return self.candidates[order[int(uniform(self._seed, "any 1") * len(order))]]

    async def _is_indifferentiable(self, place: int) -> bool:
        candidate = self.candidates[place]
        found = await self._phi(candidate.text, self._sentences[2 - candidate.made_from])
        self.candidates[place] = candidate.model_copy(update={"indifferentiable": found})
        return found
