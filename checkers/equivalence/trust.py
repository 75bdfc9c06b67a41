"""The test of trust in a no (oracle-checker, section 4.1 and figure 4).

Whoever can tell two sentences apart can tell a paraphrase of the one from the other sentence. The test sees
contradictions only: a subject that tosses a coin at every question passes n tests with 2^-n, one that always says no
passes always.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from checkers.concurrent import gather_or_cancel
from checkers.draws import generator, uniform

if TYPE_CHECKING:
    from checkers.equivalence.alignment import Side
    from checkers.equivalence.opinions import Opinion

Phi = Callable[[str, str], Awaitable[bool]]
"""Whether an alignment of two sentences is found, as the setting `require` asks for it."""


class Subject(Protocol):
    """Whoever said no."""

    async def paraphrases(self, sentence: str) -> tuple[str, ...]:
        """The sentence in other words."""

    async def equivalent(self, first: str, second: str) -> Opinion:
        """Whether two sentences mean the same."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paraphrase."""

    text: str
    made_from: Side
    indifferentiable: bool | None = None
    """Whether it phi-aligns with the sentence that it was not made from; None where nobody looked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One test: whether a paraphrase is equivalent to the sentence that it was not made from."""

    candidate: Candidate
    opinion: Opinion


@dataclass(frozen=True, slots=True)
class Tested:
    """The tests that were made; the first yes is the last."""

    candidates: tuple[Candidate, ...]
    """All paraphrases, those of the first sentence first."""
    asked: tuple[Asked, ...]

    @property
    def indifferentiable(self) -> bool:
        """Whether a paraphrase was found that aligns with the other sentence as well."""
        return any(one.indifferentiable for one in self.candidates)

    @property
    def contradiction(self) -> Asked | None:
        """The test whose answer was yes: with the no that is tested, triangular evidence."""
        return next((one for one in self.asked if one.opinion.same), None)


async def put_to_test(sentences: tuple[str, str], subject: Subject, phi: Phi, *, seed: str, tests: int = 1) -> Tested:
    """Test a no about two sentences up to `tests` times, each with another paraphrase. All draws follow from `seed`.

    Raises:
        ValueError: there are fewer paraphrases than tests, or no tests.
    """
    made = await gather_or_cancel(subject.paraphrases(sentence) for sentence in sentences)
    pool = _Pool(sentences, (made[0], made[1]), phi, seed)
    if not 1 <= tests <= len(pool):
        raise ValueError(f"tests = {tests}: must be 1 to {len(pool)}, the number of paraphrases")
    asked: list[Asked] = []
    for number in range(1, tests + 1):
        candidate = await pool.drawn(number)
        # In the place of the sentence that it was made from.
        first, second = sentences
        pair = (candidate.text, second) if candidate.made_from == 1 else (first, candidate.text)
        asked.append(Asked(candidate, await subject.equivalent(*pair)))
        if asked[-1].opinion.same:
            break
    return Tested(pool.candidates, tuple(asked))


class _Pool:
    """Paraphrases of both sentences, from which each is drawn once."""

    def __init__(
        self, sentences: tuple[str, str], made: tuple[tuple[str, ...], tuple[str, ...]], phi: Phi, seed: str
    ) -> None:
        self._sentences = sentences
        self._phi = phi
        self._seed = seed
        self._candidates = [Candidate(text, 1) for text in made[0]] + [Candidate(text, 2) for text in made[1]]
        self._left = list(range(len(self._candidates)))
        generator(seed, "order").shuffle(self._left)

    def __len__(self) -> int:
        return len(self._candidates)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(self._candidates)

    async def drawn(self, number: int) -> Candidate:
        """An indifferentiable one where there is any, of either side with the same chance; else any.

        The coin is tossed before, and a side searched in random order up to the first that is indifferentiable: it
        comes to the same as drawing one on each side and tossing then, with fewer questions.
        """
        heads = uniform(self._seed, f"side {number}") < 0.5
        sides: tuple[Side, Side] = (1, 2) if heads else (2, 1)
        for side in sides:
            for place in self._left:
                if self._candidates[place].made_from == side and await self._is_indifferentiable(place):
                    return self._taken(place)
        return self._taken(self._left[int(uniform(self._seed, f"any {number}") * len(self._left))])

    def _taken(self, place: int) -> Candidate:
        self._left.remove(place)
        return self._candidates[place]

    async def _is_indifferentiable(self, place: int) -> bool:
        candidate = self._candidates[place]
        if candidate.indifferentiable is None:
            found = await self._phi(candidate.text, self._sentences[2 - candidate.made_from])
            candidate = self._candidates[place] = replace(candidate, indifferentiable=found)
        return bool(candidate.indifferentiable)
