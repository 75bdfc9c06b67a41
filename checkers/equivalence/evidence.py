"""Proofs and tests for a person: the reason of a verdict, and alignments with phrase pairs side by side."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from checkers.equivalence.trees import same_text
from checkers.wording import explanation_width, labelled, plain
from models.wording import on_a_line
from schemas import EquivalenceEvidence, Verdict
from schemas.equivalence import AlignedPhrases, EquivalenceProof, EquivalenceTest, PhraseAlignment, UncoveredWord

_MOST_WORDS = 8

_SIGNS = {True: "=", False: "≠", None: "~"}
_COVERING = {
    "found": "",
    "denied": ", but one pair differs (≠)",
    "not_asked": ", and not all were asked about (~)",
}


def proof_reason(proof: EquivalenceProof, sentences: tuple[str, str]) -> str:
    """Why a yes is accepted or rejected."""
    pairs = [pair for alignment in proof.alignments for pair in alignment.pairs]
    if proof.found:
        by = "by the model that was asked, " if any(pair.confirmed for pair in pairs) else ""
        return f"The yes is proved: {by}the sentences match phrase by phrase."
    if denied := next((pair for pair in pairs if pair.confirmed is False), None):
        told = f"{_quoted(denied.first)} and {_quoted(denied.second)} could not mean the same"
        return f"The yes has no proof: by the model that was asked, {told}."
    found = []
    for side, sentence in enumerate(sentences, start=1):
        # Of the alignment that leaves the fewest.
        left = min((alignment.uncovered for alignment in proof.alignments if alignment.covers == side), key=len)
        if runs := _runs(sentence, left[:_MOST_WORDS]):
            words = ", ".join(_quoted(sentence[start:end]) for start, end in runs)
            found.append(f"{words}{' …' * (len(left) > _MOST_WORDS)} in sentence {side}")
    why = f"no matching phrase covers {'; '.join(found)}" if found else "no phrases match"
    return f"The yes has no proof: {why}."


def test_reason(test: EquivalenceTest) -> str:
    """Why a no is accepted or rejected."""
    if test.triangle is not None:
        return (
            "The no is not trusted, which does not make it a yes: the subject says that "
            f"{_quoted(test.triangle.paraphrase)} is equivalent to both sentences."
        )
    passed = "the test" if test.tests == 1 else f"all {test.tests} tests"
    return f"The subject passed {passed} (category {test.category}), as one does that always says no."


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """The reason of a verdict on a paraphrase decision, its phrase pairs, and of a no what was tested."""
    evidence = verdict.evidence
    if not isinstance(evidence, EquivalenceEvidence):
        return
    yield from labelled("", verdict.reason)
    told = [one for one in evidence.proof.alignments if not evidence.proof.found or one.outcome == "found"]
    for source, alignments in groupby(told, lambda one: one.source):
        yield f"phrases of sentence {source} in sentence {3 - source}"
        yield from _pairs(list(alignments), (evidence.sentence1, evidence.sentence2))
    if test := evidence.test:
        yield f"test of the no, category {test.category}"
        if test.unusable:
            yield f"  {test.unusable} of {test.unusable + len(test.paraphrases)} paraphrases could not be used"
        for asked in test.rounds:
            source = asked.paraphrase.made_from
            kind = "indifferentiable" if asked.paraphrase.indifferentiable else "any"
            yield from labelled("  ", f"sentence {source} in other words ({kind}): “{asked.paraphrase.text}”")
            said = "yes" if asked.answer else "no"
            yield from labelled("    ", f"equivalent to sentence {3 - source}? {said}: {asked.explanation}")


def _runs(sentence: str, words: Iterable[UncoveredWord]) -> list[tuple[int, int]]:
    """The characters of words, those with nothing but blanks between them in one run."""
    runs: list[tuple[int, int]] = []
    for word in words:
        joins = runs and not sentence[runs[-1][1] : word.start].strip()
        runs.append((runs.pop()[0] if joins else word.start, word.end))
    return runs


def _quoted(text: str) -> str:
    return f"“{on_a_line(text)}”"


def _pairs(alignments: Sequence[PhraseAlignment], sentences: tuple[str, str]) -> Iterator[str]:
    """Alignments of one source, which have the same pairs, and what of which sentence those cover."""
    for pair in alignments[0].pairs:
        yield from _pair(pair)
    for one in alignments:
        if one.outcome in _COVERING:
            yield from labelled("  ", f"every word of sentence {one.covers} is in a pair{_COVERING[one.outcome]}")
            continue
        sentence = sentences[one.covers - 1]
        for start, end in reversed(_runs(sentence, one.uncovered)):
            sentence = f"{sentence[:start]}[{sentence[start:end]}]{sentence[end:]}"
        yield from labelled("  ", f"words of sentence {one.covers} are in no pair: {sentence}")


def _pair(pair: AlignedPhrases) -> Iterator[str]:
    first, second = " ".join(plain(pair.first).split()), " ".join(plain(pair.second).split())
    sign = "=" if same_text(pair.first, pair.second) else _SIGNS[pair.confirmed]
    room = (explanation_width() - 5) // 2
    if max(len(first), len(second)) <= room:
        yield f"  {first:<{room}} {sign} {second}"
    else:
        yield from labelled("  ", first)
        yield from labelled(f"  {sign} ", second)
