"""Phi: who is asked, in which order, and when enough is known."""

import asyncio
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from checkers.equivalence.alignment import AlignedSentences, PhrasePair, RhoAlignment, Side
from checkers.equivalence.proof import Require, prove
from checkers.equivalence.questions import EquivalenceReply
from schemas import EquivalenceProof

PHRASES = ["the mill", "an old mill", "sold flour", "gave flour away", "on Sunday"]


def pair(first: str, second: str, similarity: float = 0.5) -> PhrasePair:
    return PhrasePair(first, second, similarity, ((0, 1), (0, 1)))


def reply(same: bool) -> EquivalenceReply:
    return EquivalenceReply(answer="yes" if same else "no", explanation="because")


def between(
    there: Sequence[PhrasePair],
    back: Sequence[PhrasePair],
    *,
    left: tuple[bool, bool, bool, bool] = (False, False, False, False),
) -> AlignedSentences:
    """Two sentences; `left` says of which of the four alignments a word is left over."""
    sides: list[tuple[Side, Side]] = [(1, 1), (1, 2), (2, 2), (2, 1)]
    first, star, second, other_star = (
        RhoAlignment(source, covers, tuple(there if source == 1 else back), ((0, 1),) if over else ())
        for (source, covers), over in zip(sides, left, strict=True)
    )
    return AlignedSentences(("one", "other"), (first, star, second, other_star))


class Judge:
    """Denies the pairs it is told to, and keeps what it was asked."""

    def __init__(self, deny: Callable[[str, str], bool] = lambda first, second: False) -> None:
        self.deny = deny
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, pairs: Sequence[PhrasePair]) -> list[EquivalenceReply]:
        self.asked += [(one.first, one.second) for one in pairs]
        return [reply(not self.deny(one.first, one.second)) for one in pairs]


def proved(matched: AlignedSentences, judge: Judge, require: Require = "or") -> EquivalenceProof:
    return asyncio.run(prove(matched, judge, require))


def outcomes(proof: EquivalenceProof) -> list[str]:
    return [one.outcome for one in proof.alignments]


class TestWhatIsAsked:
    def test_the_alignment_with_the_fewest_questions_first(self):
        judge = Judge()
        proof = proved(between([pair("a", "b", 0.1), pair("c", "d", 0.2)], [pair("e", "f", 0.9)]), judge)
        assert judge.asked == [("e", "f")]
        assert outcomes(proof) == ["not_asked", "not_asked", "found", "found"]

    def test_the_least_alike_pair_first_and_none_after_it_is_denied(self):
        judge = Judge(lambda first, second: first == "c")
        matched = between([pair("a", "b", 0.9), pair("c", "d", 0.2), pair("e", "f", 0.5)], [], left=(False, True) * 2)
        proof = proved(matched, judge)
        assert judge.asked == [("c", "d")]
        assert not proof.found
        assert outcomes(proof) == ["denied", "uncovered", "uncovered", "uncovered"]
        assert [one.first for one in proof.alignments[0].pairs if one.confirmed is False] == ["c"]


PAIRS = st.lists(
    st.builds(pair, st.sampled_from(PHRASES), st.sampled_from(PHRASES), st.sampled_from([0.1, 0.5, 0.9])), max_size=4
)
LEFT = st.tuples(*[st.booleans()] * 4)
MATCHED = st.builds(lambda there, back, left: between(there, back, left=left), PAIRS, PAIRS, LEFT)
DENIED = st.frozensets(st.tuples(st.sampled_from(PHRASES), st.sampled_from(PHRASES)), max_size=8)


@given(MATCHED, DENIED, st.sampled_from(["or", "and"]))
def test_asking_less_comes_to_the_same_as_asking_all(
    matched: AlignedSentences, denied: frozenset[tuple[str, str]], require: Require
):
    def deny(first: str, second: str) -> bool:
        return (first, second) in denied or (second, first) in denied

    judge = Judge(deny)
    proof = proved(matched, judge, require)
    sound = [
        one.covering and all(p.first == p.second or not deny(p.first, p.second) for p in one.pairs)
        for one in matched.alignments
    ]
    directions = [sound[0] or sound[1], sound[2] or sound[3]]
    assert proof.found is (all(directions) if require == "and" else any(directions))
    asked = {frozenset(texts) for texts in judge.asked}
    # A pair and its reverse are asked about once, and no phrase whether it means itself.
    assert len(asked) == len(judge.asked)
    assert all(len(texts) == 2 for texts in asked)
    assert asked <= {frozenset((p.first, p.second)) for one in matched.alignments if one.covering for p in one.pairs}
