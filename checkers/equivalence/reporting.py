"""Proofs and tests as evidence, and in a sentence for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkers.wording import on_a_line
from schemas import (
    AlignedPhrases,
    EquivalenceProof,
    EquivalenceTest,
    EquivalenceTestRound,
    ParaphraseCandidate,
    PhraseAlignment,
    TriangularEvidence,
    UncoveredWord,
)

if TYPE_CHECKING:
    from checkers.equivalence.proof import Proof, Settled
    from checkers.equivalence.trust import Asked, Candidate, Tested

_NAMED = 8


def proof_of(proof: Proof, sentences: tuple[str, str]) -> EquivalenceProof:
    """A proof, found or not, as it stands in a verdict."""
    return EquivalenceProof(
        found=proof.found,
        require=proof.require,
        alignments=tuple(_alignment(proof, one, sentences) for one in proof.alignments),
    )


def test_of(tested: Tested, sentences: tuple[str, str], *, aligned: bool, tests: int, seed: str) -> EquivalenceTest:
    """A test of a no; `aligned` is whether phi holds for the two sentences."""
    contradiction = tested.contradiction
    return EquivalenceTest(
        category=("AI" if tested.indifferentiable else "A") if aligned else "I" if tested.indifferentiable else "none",
        tests=tests,
        rounds=tuple(_round(one) for one in tested.asked),
        paraphrases=tuple(_candidate(one) for one in tested.candidates),
        triangle=None if contradiction is None else _triangle(contradiction, sentences),
        seed=seed,
    )


def proof_reason(proof: EquivalenceProof, sentences: tuple[str, str]) -> str:
    """Why a yes is accepted or rejected."""
    found = [one.name for one in proof.alignments if one.outcome == "found"]
    if proof.found:
        return f"The yes is proved: the sentences align phrase by phrase ({' and '.join(found)})."
    denied = next((pair for one in proof.alignments for pair in one.pairs if pair.confirmed is False), None)
    if denied is not None:
        return f"The yes has no proof: {_quoted(denied.first)} and {_quoted(denied.second)} could not mean the same."
    left = [_left_over(proof, side) for side in (1, 2)]
    named = ", ".join(
        f"{_quoted(words)} in {_quoted(sentence)}" for words, sentence in zip(left, sentences, strict=True) if words
    )
    return f"The yes has no proof: no phrase that matches covers {named or 'anything'}."


def test_reason(test: EquivalenceTest) -> str:
    """Why a no is accepted or rejected."""
    if test.triangle is not None:
        return (
            "The no is not trusted, which does not make it a yes: the subject says that "
            f"{_quoted(test.triangle.paraphrase)} is equivalent to both sentences."
        )
    passed = "the test" if test.tests == 1 else f"all {test.tests} tests"
    return f"The subject passed {passed} (category {test.category}), as one does that always says no."


def _alignment(proof: Proof, settled: Settled, sentences: tuple[str, str]) -> PhraseAlignment:
    alignment = settled.alignment
    covered = sentences[alignment.covers - 1]
    pairs = []
    for pair in alignment.pairs:
        opinion = proof.opinion(pair)
        pairs.append(
            AlignedPhrases(
                first=pair.first,
                second=pair.second,
                first_span=pair.spans[0],
                second_span=pair.spans[1],
                similarity=round(pair.similarity, 4),
                confirmed=None if opinion is None else opinion.same,
                explanation="" if opinion is None else opinion.explanation,
            )
        )
    return PhraseAlignment(
        name=alignment.name,
        source=alignment.source,
        covers=alignment.covers,
        outcome=settled.outcome,
        pairs=tuple(pairs),
        uncovered=tuple(UncoveredWord(text=covered[a:b], start=a, end=b) for a, b in alignment.uncovered),
    )


def _left_over(proof: EquivalenceProof, side: int) -> str:
    """The words of a sentence that no alignment which is to cover it covers, of the one that leaves the fewest."""
    left = [one.uncovered for one in proof.alignments if one.covers == side]
    fewest = min(left, key=len)
    words = [word.text for word in fewest]
    return " ".join(words[:_NAMED]) + (" …" if len(words) > _NAMED else "")


def _round(asked: Asked) -> EquivalenceTestRound:
    return EquivalenceTestRound(
        paraphrase=_candidate(asked.candidate), answer=asked.opinion.same, explanation=asked.opinion.explanation
    )


def _candidate(candidate: Candidate) -> ParaphraseCandidate:
    return ParaphraseCandidate(
        text=candidate.text, made_from=candidate.made_from, indifferentiable=candidate.indifferentiable
    )


def _triangle(asked: Asked, sentences: tuple[str, str]) -> TriangularEvidence:
    return TriangularEvidence(first=sentences[0], second=sentences[1], paraphrase=asked.candidate.text)


def _quoted(text: str) -> str:
    return f"“{on_a_line(text)}”"
