"""The test of a no: what is drawn, what is asked, and what it can and cannot see."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection

from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.contradiction import look_for_contradiction
from checkers.equivalence.questions import EquivalenceReply
from schemas import EquivalenceProof, EquivalenceTest

SENTENCES = ("s1", "s2")
MADE = {sentence: tuple(f"{sentence} in words {number}" for number in range(1, 6)) for sentence in SENTENCES}
ALL = MADE["s1"] + MADE["s2"]


class Scripted:
    """Paraphrases as in MADE; `says` decides about two texts."""

    role = "subject"

    def __init__(self, says: Callable[[str, str], bool], made: Collection[str] = ALL) -> None:
        self._says = says
        self._made = made
        self.asked: list[tuple[str, str]] = []

    async def paraphrases(self, sentence: str) -> tuple[str, ...]:
        return tuple(text for text in MADE[sentence] if text in self._made)

    async def equivalent(self, first: str, second: str) -> EquivalenceReply:
        self.asked.append((first, second))
        return EquivalenceReply(answer="yes" if self._says(first, second) else "no", explanation="Compared.")


class Aligning:
    """Phi of the paraphrases in `which` with the other sentence; counts what it is asked."""

    def __init__(self, which: frozenset[str] = frozenset()) -> None:
        self._which = which
        self.looked_at: list[tuple[str, str]] = []

    async def __call__(self, first: str, second: str) -> bool:
        self.looked_at.append((first, second))
        return first in self._which


def run(
    says: Callable[[str, str], bool] = lambda first, second: False,
    aligning: frozenset[str] = frozenset(),
    *,
    seed: str = "seed",
    tests: int = 1,
) -> tuple[EquivalenceTest, Scripted, Aligning]:
    subject, phi = Scripted(says), Aligning(aligning)
    return asyncio.run(looked_for(subject, phi, seed=seed, tests=tests)), subject, phi


async def looked_for(subject: "Scripted", phi: Aligning, *, seed: str, tests: int) -> EquivalenceTest:
    # As a task: it is begun before it is awaited, and not every test comes that far.
    proving = asyncio.create_task(no_proof())
    return await look_for_contradiction(SENTENCES, subject, phi, proving, seed=seed, tests=tests)


async def no_proof() -> EquivalenceProof:
    return EquivalenceProof(found=False, require="or", alignments=())


subsets = st.frozensets(st.sampled_from(ALL))
seeds = st.text(max_size=8)
counts = st.integers(1, 10)


class TestWhatIsDrawn:
    @given(subsets, seeds, counts)
    def test_each_test_draws_another_indifferentiable_ones_first_and_puts_it_in_the_place_of_its_own_sentence(
        self, aligning: frozenset[str], seed: str, tests: int
    ):
        found, subject, phi = run(aligning=aligning, seed=seed, tests=tests)
        drawn = [one.paraphrase.text for one in found.rounds]
        assert len(set(drawn)) == tests
        assert set(drawn[: len(aligning)]) == aligning if tests >= len(aligning) else set(drawn) <= aligning
        assert subject.asked == [(text, "s2") if text in MADE["s1"] else ("s1", text) for text in drawn]
        assert all(second == ("s2" if first in MADE["s1"] else "s1") for first, second in phi.looked_at)
        # Whoever says no to everything passes, and the same seed draws the same.
        assert found.triangle is None
        assert run(aligning=aligning, seed=seed, tests=tests)[0] == found

    def test_the_sides_are_tossed_for_whatever_their_numbers(self):
        """One indifferentiable paraphrase of the first sentence, four of the second."""
        aligning = frozenset({MADE["s1"][2], *MADE["s2"][:4]})
        drawn = Counter(run(aligning=aligning, seed=str(number))[0].rounds[0].paraphrase.text for number in range(1000))
        assert set(drawn) == aligning
        # 500 of 1000 with a standard deviation of 16; each of the four 125 with 10.5.
        assert 420 <= drawn[MADE["s1"][2]] <= 580
        assert all(72 <= drawn[text] <= 178 for text in MADE["s2"][:4])


class TestWhatComesOfIt:
    def test_a_yes_is_a_contradiction_and_the_last_round(self):
        answers = iter([False, False, True, False, True])
        found, subject, _ = run(lambda first, second: next(answers), tests=5)
        assert found.triangle is not None
        assert found.triangle.paraphrase == found.rounds[-1].paraphrase.text
        assert [one.answer for one in found.rounds] == [False, False, True]
        assert len(subject.asked) == 5

    @given(st.sets(st.sampled_from(ALL), min_size=1), seeds)
    def test_there_are_no_more_tests_than_paraphrases_and_the_others_are_counted(self, made: set[str], seed: str):
        subject = Scripted(lambda first, second: False, made=made)
        found = asyncio.run(looked_for(subject, Aligning(), seed=seed, tests=10))
        assert {one.paraphrase.text for one in found.rounds} == made
        assert (found.tests, found.unusable) == (len(made), 10 - len(made))
