"""Alignments as people see them: pairs side by side, uncovered words in brackets, nothing that acts on a terminal."""

import re
from typing import Any

from checkers.equivalence.evidence import verdict_lines
from checkers.wording import explanation_width
from schemas import (
    AlignedPhrases,
    EquivalenceEvidence,
    EquivalenceProof,
    EquivalenceTest,
    EquivalenceTestRound,
    ParaphraseCandidate,
    PhraseAlignment,
    TriangularEvidence,
    UncoveredWord,
    Usage,
    Verdict,
)

FIRST = "But he said that sales would grow."
SECOND = "Ms Ito said sales would grow."


def words(sentence: str, *texts: str) -> tuple[UncoveredWord, ...]:
    return tuple(UncoveredWord(text=t, start=sentence.index(t), end=sentence.index(t) + len(t)) for t in texts)


def pair(first: str, second: str, *, confirmed: bool | None = None) -> AlignedPhrases:
    return AlignedPhrases(
        first=first, second=second, first_span=(0, 1), second_span=(0, 1), similarity=0.5, confirmed=confirmed
    )


def alignment(
    name: Any, outcome: Any, *pairs: AlignedPhrases, uncovered: tuple[UncoveredWord, ...] = ()
) -> PhraseAlignment:
    source = int(name[0])
    covers = 3 - source if name.endswith("*") else source
    return PhraseAlignment(name=name, source=source, covers=covers, outcome=outcome, pairs=pairs, uncovered=uncovered)


def shown(*alignments: PhraseAlignment, reason: str = "There is none.", **fields: Any) -> list[str]:
    """The lines about a verdict with this evidence."""
    found = any(one.outcome == "found" for one in alignments)
    proof = EquivalenceProof(found=found, require="or", alignments=alignments)
    made: dict[str, Any] = {"sentence1": FIRST, "sentence2": SECOND, "answer": True, "asked": "judge", "parser": "p"}
    body: dict[str, Any] = {
        "id": "v", "record_id": "par-1", "checker": "equivalence", "checker_version": "1", "config_digest": "d",
        "outcome": "reject", "score": 0.0, "reason": reason, "usage": Usage(), "source": "s", "model": "m",
        "judge": "j",
    }  # fmt: skip
    evidence = EquivalenceEvidence(**{**made, "proof": proof, **fields})
    return list(verdict_lines(Verdict(**body, evidence=evidence)))


def test_a_proof_is_its_pairs_and_nothing_of_what_failed():
    found = alignment(
        "2>1", "found", pair("sales would grow", "sales would grow"), pair("he said", "Ms Ito said", confirmed=True)
    )
    failed = alignment("1>2", "uncovered", uncovered=words(FIRST, "But"))
    assert [re.sub(r"\s+", " ", line).strip() for line in shown(failed, found)] == [
        "There is none.",
        "phrases of sentence 2 in sentence 1",
        "sales would grow = sales would grow",
        "he said = Ms Ito said",
        "every word of sentence 2 is in a pair",
    ]


def test_a_rejection_says_of_each_alignment_why_it_fails():
    forward = (pair("would", "will", confirmed=True), pair("grow", "fall", confirmed=False))
    backward = (pair("grow", "rise"),)
    told = "\n".join(
        shown(
            alignment("1>2", "uncovered", *forward, uncovered=words(FIRST, "But", "he")),
            alignment("1>2*", "denied", *forward),
            alignment("2>1", "not_asked", *backward),
            alignment("2>1*", "uncovered", *backward, uncovered=words(FIRST, "But")),
        )
    )
    assert re.search(r"sentence 1 in sentence 2\n +would +[=] will\n +grow +≠ fall\n", told)
    assert re.search(r"words of sentence 1 are in no pair: \[But he\] said that sales would\s+grow\.", told)
    assert re.search(r"every word of sentence 2 is in a pair, but one pair differs \(≠\)\n", told)
    assert re.search(r"sentence 2 in sentence 1\n +grow +~ rise\n", told)
    assert re.search(r"every word of sentence 2 is in a pair, and not all were asked about\s+\(~\)\n", told)
    assert re.search(r"words of sentence 1 are in no pair: \[But\] he", told)
    assert "1>2" not in told


def test_a_tested_no_shows_what_was_asked():
    candidate = ParaphraseCandidate(text="He added that sales were to grow.", made_from=1, indifferentiable=True)
    test = EquivalenceTest(
        category="I",
        tests=1,
        rounds=(EquivalenceTestRound(paraphrase=candidate, answer=True, explanation="Both speak of growth."),),
        paraphrases=(candidate,),
        triangle=TriangularEvidence(first=FIRST, second=SECOND, paraphrase=candidate.text),
        seed="s",
    )
    failed = alignment("1>2", "uncovered", uncovered=words(FIRST, "But"))
    told = " ".join(" ".join(shown(failed, answer=False, test=test)).split())
    assert "test of the no, category I" in told
    assert "sentence 1 in other words (indifferentiable): “He added that sales were to grow.”" in told
    assert "equivalent to sentence 2? yes: Both speak of growth." in told


def test_it_fits_its_columns_and_cannot_act_on_the_terminal():
    hostile = "\x1b[2J\x1b]0;owned\x07 \u202ereversed " + "long words " * 80
    lines = shown(
        alignment("1>2", "denied", pair(hostile, hostile + "!", confirmed=False)),
        alignment("2>1", "uncovered", pair(hostile, "x"), uncovered=words(SECOND, "Ms")),
        sentence2=SECOND + hostile,
        reason=hostile,
    )
    assert max(map(len, lines)) <= explanation_width()
    assert not re.search(r"[\x00-\x1f\x7f\u202e]", "".join(lines))
