"""The very sentences of the paper's tables 12 to 15: its outcomes beside ours.

Parser, model, draws and verdicts are the real ones. The subject says yes to every question about phrases, so that what
is proved is what the alignment lets be proved; docs/equivalence.md says where and why that is not what the paper found.
"""

import json
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from schemas import EquivalenceEvidence, Verdict
from schemas.equivalence import PhraseAlignment
from tests.checkers.equivalence.conftest import MakeChecker
from tests.checkers.equivalence.setting import StubSubject, decision, five_of

Phi = Literal["-", "or", "and"]
"""The strictest that holds; `and` implies `or`."""


class Case(NamedTuple):
    """Sentences of a table, with the paper's outcome and ours; the paper's tables do not say by which phi."""

    name: str
    """Table and row. Tables 12 to 14 prove a yes, table 15 tests a no."""
    first: str
    second: str
    proved: bool
    """By the paper's checker: the yes, or that the paraphrase aligns with the second sentence."""
    ours: Phi
    left_over: tuple[str, str] = ("", "")
    """The words of each sentence that the paper's alignment leaves over; parts divided by commas."""
    paraphrase: str = ""
    """The paper's subject's own, of the first sentence."""


# Zeng, Wang and Ibbetson, "Oracle-Checker Scheme for Evaluating a Generative Large Language Model", appendix B. Its
# news sentences come from the Microsoft Research Paraphrase Corpus. Quotation marks are as the paper prints them.
CASES = {
    case.name: case
    for line in Path(__file__).with_name("oracle_checker.jsonl").read_text("utf-8").splitlines()
    for case in [Case(**json.loads(line))]
}
YESES = [case for case in CASES.values() if not case.paraphrase]
NOES = [case for case in CASES.values() if case.paraphrase]


@pytest.fixture
def subject() -> StubSubject:
    return StubSubject(phrases=lambda first, second: True)


def alignments_in(verdict: Verdict) -> tuple[PhraseAlignment, ...]:
    assert isinstance(verdict.evidence, EquivalenceEvidence), verdict.reason
    return verdict.evidence.proof.alignments


@pytest.mark.parametrize("case", YESES, ids=lambda case: case.name)
async def test_a_yes_is_proved_or_not(checker_of: MakeChecker, case: Case):
    holding = [
        require
        for require in ("or", "and")
        if (await checker_of(require=require).check(decision(case.first, case.second))).outcome == "accept"
    ]
    assert (holding or ["-"])[-1] == case.ours


@pytest.mark.parametrize("case", [CASES["12.1"], CASES["14.4"]], ids=lambda case: case.name)
async def test_the_words_left_over_are_the_papers(checker_of: MakeChecker, subject: StubSubject, case: Case):
    """A name for a pronoun, and subjects and adverbs of one word. Single prepositions count for covered."""
    verdict = await checker_of().check(decision(case.first, case.second))
    found = [
        {" ".join(word.text for word in one.uncovered) for one in alignments_in(verdict) if one.covers == side}
        for side in (1, 2)
    ]
    for words, left_over in zip(case.left_over, found, strict=True):
        assert words.removeprefix("At ") in left_over
        assert words.removeprefix("At ") in verdict.reason
    assert not subject.asked_phrases, "what cannot be covered costs no call"


async def test_every_phrase_within_a_phrase_has_to_be_confirmed(checker_of: MakeChecker, subject: StubSubject):
    """Table 13; of the six pairs that it prints those are paired that begin where the embedded parser cuts."""
    case = decision(CASES["13"].first, CASES["13"].second)
    proof = await checker_of(require="and").check(case)
    assert proof.outcome == "accept"
    paired = {(pair.first, pair.second) for one in alignments_in(proof) for pair in one.pairs}
    assert paired >= {("Sheena Young",) * 2, ("the national infertility support network",) * 2}
    nested = set().union(*(nested_in(one) for one in alignments_in(proof)))
    assert nested
    for inner in nested:
        subject.phrases = partial(_but, inner)
        # By a checker of its own, as none asks the same twice.
        again = alignments_in(await checker_of(require="and").check(case))
        assert "denied" in {one.outcome for one in again if inner in nested_in(one)}
        assert "found" not in {one.outcome for one in again if inner in nested_in(one)}


def _but(denied: tuple[str, str], first: str, second: str) -> bool:
    """What a subject says that denies one pair."""
    return {first, second} != {*denied}


def nested_in(alignment: PhraseAlignment) -> set[tuple[str, str]]:
    """The pairs of other words that lie within another pair."""
    return {
        (inner.first, inner.second)
        for outer in alignment.pairs
        for inner in alignment.pairs
        if outer is not inner and inner.first in outer.first and inner.second in outer.second
        if inner.first != inner.second
    }


@pytest.mark.parametrize("case", NOES, ids=lambda case: case.name)
async def test_a_no_that_the_subject_contradicts_is_rejected_by_the_papers_triangle(
    checker_of: MakeChecker, subject: StubSubject, case: Case
):
    """The subject says yes about the paper's paraphrase and no about all others; in the end all ten are tried."""
    subject.paraphrases = lambda sentence: (
        [*five_of(sentence)[:4], case.paraphrase] if sentence == case.first else five_of(sentence)
    )
    subject.sentences = lambda first, second: (first, second) == (case.paraphrase, case.second)
    verdict = await checker_of(tests=10).check(decision(case.first, case.second, answer=False))
    assert isinstance(verdict.evidence, EquivalenceEvidence), verdict.reason
    test = verdict.evidence.test
    assert verdict.outcome == "reject"
    assert test is not None
    assert test.triangle is not None
    assert [*test.triangle.model_dump().values()] == [case.first, case.second, case.paraphrase]
    (papers,) = (one for one in test.paraphrases if one.text == case.paraphrase)
    assert papers.indifferentiable is (case.ours != "-")
