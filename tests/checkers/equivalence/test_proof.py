"""What is asked: for the proof of a yes, and for the test of a no."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.alignment import Alignments
from checkers.equivalence.proof import Require, look_for_contradiction, prove
from checkers.equivalence.questions import EquivalenceReply
from schemas.equivalence import AlignedPhrases, EquivalenceProof, EquivalenceTest, PhraseAlignment, UncoveredWord

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


PHRASES = ["the mill", "an old mill", "sold flour", "gave flour away", "on Sunday"]


def pair(first: str, second: str, similarity: float = 0.5, *, confirmed: bool | None = None) -> AlignedPhrases:
    span = (0, 1)
    return AlignedPhrases(
        first=first, second=second, first_span=span, second_span=span, similarity=similarity, confirmed=confirmed
    )


def alignment(
    name: Any, outcome: Any, *pairs: AlignedPhrases, uncovered: tuple[UncoveredWord, ...] = ()
) -> PhraseAlignment:
    source = int(name[0])
    covers = 3 - source if name.endswith("*") else source
    return PhraseAlignment(name=name, source=source, covers=covers, outcome=outcome, pairs=pairs, uncovered=uncovered)


def between(
    there: Sequence[AlignedPhrases], back: Sequence[AlignedPhrases], left: Sequence[bool] = (False,) * 4
) -> Alignments:
    """Of two sentences; `left` says of which of the four alignments a word is left over."""
    pairs = {"1": there, "2": back}
    return tuple(
        alignment(name, "uncovered" if over or not pairs[name[0]] else "not_asked", *pairs[name[0]])
        for name, over in zip(("1>2", "1>2*", "2>1", "2>1*"), left, strict=True)
    )


def proved(
    matched: Alignments,
    require: Require = "or",
    deny: Callable[[str, str], bool] = lambda first, second: False,
) -> tuple[EquivalenceProof, list[tuple[str, str]]]:
    """The proof by a judge that denies some pairs, and all that it was asked."""
    asked: list[tuple[str, str]] = []

    async def ask(pairs: Sequence[AlignedPhrases]) -> list[EquivalenceReply]:
        asked.extend((one.first, one.second) for one in pairs)
        said = ("no" if deny(one.first, one.second) else "yes" for one in pairs)
        return [EquivalenceReply.model_validate({"answer": one, "explanation": "because"}) for one in said]

    return asyncio.run(prove(matched, ask, require)), asked


def outcomes(proof: EquivalenceProof) -> list[str]:
    return [one.outcome for one in proof.alignments]


def test_the_alignment_with_the_fewest_questions_is_asked_about_first():
    proof, asked = proved(between([pair("a", "b", 0.1), pair("c", "d", 0.2)], [pair("e", "f", 0.9)]))
    assert asked == [("e", "f")]
    assert outcomes(proof) == ["not_asked", "not_asked", "found", "found"]


def test_the_least_alike_pair_is_asked_about_first_and_none_after_it_is_denied():
    matched = between([pair("a", "b", 0.9), pair("c", "d", 0.2), pair("e", "f", 0.5)], [], (False, True) * 2)
    proof, asked = proved(matched, deny=lambda first, second: first == "c")
    assert asked == [("c", "d")]
    assert not proof.found
    assert outcomes(proof) == ["denied", "uncovered", "uncovered", "uncovered"]
    assert [one.first for one in proof.alignments[0].pairs if one.confirmed is False] == ["c"]


PAIRS = st.lists(
    st.builds(pair, st.sampled_from(PHRASES), st.sampled_from(PHRASES), st.sampled_from([0.1, 0.5, 0.9])), max_size=4
)
MATCHED = st.builds(between, PAIRS, PAIRS, st.tuples(*[st.booleans()] * 4))
DENIED = st.frozensets(st.tuples(st.sampled_from(PHRASES), st.sampled_from(PHRASES)), max_size=8)


@given(MATCHED, DENIED, st.sampled_from(["or", "and"]))
def test_asking_less_comes_to_the_same_as_asking_all(
    matched: Alignments, denied: frozenset[tuple[str, str]], require: Require
):
    def deny(first: str, second: str) -> bool:
        return (first, second) in denied or (second, first) in denied

    proof, told = proved(matched, require, deny)
    sound = [
        one.outcome != "uncovered" and all(p.first == p.second or not deny(p.first, p.second) for p in one.pairs)
        for one in matched
    ]
    directions = [sound[0] or sound[1], sound[2] or sound[3]]
    assert proof.found is (all(directions) if require == "and" else any(directions))
    asked = {frozenset(texts) for texts in told}
    # A pair and its reverse are asked about once, and no phrase whether it means itself.
    assert len(asked) == len(told)
    assert all(len(texts) == 2 for texts in asked)
    covering = [one for one in matched if one.outcome != "uncovered"]
    assert asked <= {frozenset((p.first, p.second)) for one in covering for p in one.pairs}
