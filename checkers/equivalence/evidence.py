"""Proofs and tests for a person: the reason of a verdict, and alignments with phrase pairs side by side."""

from collections.abc import Iterable, Iterator

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
    if proof.found:
        return "The yes is proved: the sentences align phrase by phrase."
    pairs = [pair for alignment in proof.alignments for pair in alignment.pairs]
    if denied := next((pair for pair in pairs if pair.confirmed is False), None):
        return f"The yes has no proof: {_quoted(denied.first)} and {_quoted(denied.second)} could not mean the same."
    left_over = [_left_over(proof, side, sentence) for side, sentence in enumerate(sentences, start=1)]
    named = "; ".join(f"{words} in sentence {side}" for side, words in enumerate(left_over, start=1) if words)
    return f"The yes has no proof: {f'these words have no counterpart: {named}' if named else 'no phrases match'}."


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
    """The reason of a verdict on a paraphrase decision, with the phrase pairs that hold, or why they prove nothing.

    Of a no also what was tested; of any other verdict nothing.
    """
    evidence = verdict.evidence
    if not isinstance(evidence, EquivalenceEvidence):
        return
    yield from labelled("", verdict.reason)
    sentences = (evidence.sentence1, evidence.sentence2)
    alike: dict[frozenset[object], list[PhraseAlignment]] = {}
    for one in evidence.proof.alignments:
        if not evidence.proof.found or one.outcome == "found":
            alike.setdefault(frozenset((pair.first, pair.second, pair.confirmed) for pair in one.pairs), []).append(one)
    for alignments in alike.values():
        yield from _pairs(alignments, sentences)
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


def _left_over(proof: EquivalenceProof, side: int, sentence: str) -> str:
    """The uncovered words of a sentence, in the alignment that leaves the fewest; neighbours in one quotation."""
    fewest = min((alignment.uncovered for alignment in proof.alignments if alignment.covers == side), key=len)
    quoted = ", ".join(_quoted(sentence[start:end]) for start, end in _runs(sentence, fewest[:_MOST_WORDS]))
    return quoted + (" …" if len(fewest) > _MOST_WORDS else "")


def _runs(sentence: str, words: Iterable[UncoveredWord]) -> list[tuple[int, int]]:
    """The characters of words, those with nothing but blanks between them in one run."""
    runs: list[tuple[int, int]] = []
    for word in words:
        joins = runs and not sentence[runs[-1][1] : word.start].strip()
        runs.append((runs.pop()[0] if joins else word.start, word.end))
    return runs


def _marked(sentence: str, uncovered: Iterable[UncoveredWord]) -> str:
    """A sentence with its uncovered words in brackets; words with nothing but blanks between them share one pair."""
    for start, end in reversed(_runs(sentence, uncovered)):
        sentence = f"{sentence[:start]}[{sentence[start:end]}]{sentence[end:]}"
    return sentence


def _quoted(text: str) -> str:
    return f"“{on_a_line(text)}”"


def _pairs(alignments: list[PhraseAlignment], sentences: tuple[str, str]) -> Iterator[str]:
    """Alignments with the same pairs, and what of which sentence those cover."""
    sources = {one.source for one in alignments}
    source = alignments[0].source
    yield "phrases of both sentences" if len(sources) > 1 else f"phrases of sentence {source} in sentence {3 - source}"
    for pair in alignments[0].pairs:
        yield from _pair(pair)
    for outcome, wording in _COVERING.items():
        covered = sorted({one.covers for one in alignments if one.outcome == outcome})
        if covered:
            which = "both sentences" if len(covered) > 1 else f"sentence {covered[0]}"
            yield from labelled("  ", f"every word of {which} is in a pair{wording}")
    for covers, said in sorted(
        {(one.covers, _marked(sentences[one.covers - 1], one.uncovered)) for one in alignments if one.uncovered}
    ):
        yield from labelled("  ", f"words of sentence {covers} are in no pair: {said}")


def _pair(pair: AlignedPhrases) -> Iterator[str]:
    first, second = " ".join(plain(pair.first).split()), " ".join(plain(pair.second).split())
    sign = "=" if same_text(pair.first, pair.second) else _SIGNS[pair.confirmed]
    room = (explanation_width() - 5) // 2
    if max(len(first), len(second)) <= room:
        yield f"  {first:<{room}} {sign} {second}"
    else:
        yield from labelled("  ", first)
        yield from labelled(f"  {sign} ", second)
