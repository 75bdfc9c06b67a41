"""Findings about every sentence of a response, against what it is compared with: their score, and in words."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from checkers.checker import Undecidable
from checkers.wording import labelled
from models.grounding.pieces import nearest_sentence
from models.protocol import SUPPORTED, ClaimKind, Claims, Grades, Judge, Judgement, WindowExceeded
from models.wording import Sentence
from schemas import (
    ConsistencyEvidence,
    EarlierAnswer,
    Generation,
    JudgedSentence,
    SampleAgreement,
    SentenceFinding,
    Turn,
    Verdict,
)

_MOST_SAMPLES = 20
"""Samples that a response is compared with."""


@dataclass(frozen=True, slots=True)
class ResponseSource:
    """The texts that a response is compared with, one by one."""

    against: Literal["reference", "contexts", "samples", "session"]
    texts: tuple[str, ...]
    """One where there is a reference or contexts, else a text a sample; none where there is only the session."""


def source_of(record: Generation) -> ResponseSource:
    """The texts that `record` brings along; if there are none, its session will do.

    Raises:
        Undecidable: `no_reference` where it brings nothing.
    """
    # Contexts and a true answer are both what the response may draw on.
    texts = [text for text in (*record.contexts, record.reference or "") if text.strip()]
    if texts:
        return ResponseSource("reference" if record.reference else "contexts", ("\n\n".join(texts),))
    samples = tuple(text for text in record.samples if text.strip())[:_MOST_SAMPLES]
    if samples:
        return ResponseSource("samples", samples)
    if record.earlier:
        return ResponseSource("session", ())
    raise Undecidable("no_reference", "the record has neither a reference nor contexts nor other samples")


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences with their marks."""

    claims: tuple[SentenceFinding, ...]
    """Those that claim something."""
    without_claim: tuple[JudgedSentence, ...]
    misled: bool = False
    """True if the judge called a control sentence supported."""
    samples: tuple[SampleAgreement, ...] = ()


def found(sentences: Sequence[Sentence], grades: Sequence[Judgement]) -> Findings:
    """The findings of a judge's grades."""
    pairs = list(zip(sentences, grades, strict=True))
    claims = [(sentence, grade) for sentence, grade in pairs if not grade.claims_nothing]
    return Findings(
        tuple(_finding(sentence, grade) for sentence, grade in claims),
        tuple(
            JudgedSentence(text=one.text, start=one.start, end=one.end, reason=grade.reason)
            for one, grade in pairs
            if grade.claims_nothing
        ),
        any(grade.misled for grade in grades),
    )


def found_by_samples(sentences: Sequence[Sentence], each: Sequence[Sequence[Judgement]]) -> Findings:
    """Self-consistency: a sentence is consistent where the samples support it on average (method page, "Input").

    Its support is the mean over the samples; its reason and passage are those of the sample that supports it least
    or, where it is consistent, most.
    """
    merged = [_mean(column) for column in zip(*each, strict=True)]
    whole = found(sentences, merged)
    places = [place for place, grade in enumerate(merged) if not grade.claims_nothing]
    agreements = []
    for number, grades in enumerate(each):
        own = [grades[place] for place in places]
        agreements.append(
            SampleAgreement(
                sample=number,
                score=round(fmean([one.support for one in own] or [SUPPORTED]), 6),
                inconsistent=tuple(index for index, one in enumerate(own) if not one.supported),
            )
        )
    return Findings(whole.claims, whole.without_claim, whole.misled, tuple(agreements))


def _mean(grades: Sequence[Judgement]) -> Judgement:
    claims = [one for one in grades if not one.claims_nothing]
    if not claims:
        return grades[0]
    support = round(fmean(one.support for one in claims), 6)
    against = sum(not one.supported for one in claims)
    telling = (max if support >= SUPPORTED else min)(claims, key=lambda one: one.support)
    reason = f"{against} of {len(claims)} other samples do not support it. {telling.reason}"
    return Judgement(support, reason, telling.passage, misled=any(one.misled for one in grades))


def _finding(sentence: Sentence, grade: Judgement) -> SentenceFinding:
    return SentenceFinding(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        mark=1 if grade.supported else -1,
        support=grade.support,
        reason=grade.reason,
        passage=grade.passage,
        unsure=grade.unsure,
    )


async def compared(judge: Judge, record: Generation, found: Findings) -> Findings:
    """The findings, with the sentences that contradict an earlier answer at fault; raises as `Judge.grade` does.

    An earlier answer supports nothing: a model's own words would confirm its mistakes. All answers are looked at
    together first, a question a sentence, then one by one for those that contradict something: of several answers the
    one that is contradicted most is named, and of equals the oldest.
    """
    claims, answers = list(found.claims), [turn.response for turn in record.earlier]

    async def grades(answers: Sequence[str], places: Sequence[int]) -> Grades:
        said = tuple(claims[place].text for place in places)
        each = [Claims(answer, said, ClaimKind.COMPATIBLE, record.prompt) for answer in answers]
        return (await judge.grade("consistency.session", each)).reply

    suspects: Sequence[int] = range(len(claims))
    # Too long together, each is asked about by itself.
    with suppress(WindowExceeded):
        if claims and len(answers) > 1:
            (together,) = await grades(["\n\n".join(answers)], suspects)
            suspects = [place for place in suspects if not together[place].supported]
    each = zip(*await grades(answers, suspects), strict=True) if suspects else ()
    for place, by_answer in zip(suspects, each, strict=True):
        turn, grade = min(zip(record.earlier, by_answer, strict=True), key=lambda one: one[1].support)
        if not grade.supported:
            claims[place] = _contradicting(claims[place], turn, grade)
    return replace(found, claims=tuple(claims))


def _contradicting(one: SentenceFinding, turn: Turn, grade: Judgement) -> SentenceFinding:
    sentence = grade.passage or nearest_sentence(turn.response, one.text)
    fault = f"contradicts the answer {turn.record_id}: “{sentence}”"
    changed = {
        "mark": -1,
        "support": min(one.support, grade.support),
        "reason": f"{one.reason}; it also {fault}" if one.mark < 0 and not one.unsure else f"it {fault}",
        "unsure": False,
        "contradicts": EarlierAnswer(record_id=turn.record_id, sentence=sentence),
    }
    return one.model_copy(update=changed)


WORST_SHARE = 0.4
"""Weight of the worst sentence in a graded score, beyond its part in the mean."""


def consistent_share(marks: Sequence[float]) -> float | None:
    """The mean of `marks` (1: consistent, -1: not) scaled to 0..1; None where there are none.

    Entries that judge a response as a whole, which the paper takes out by alpha and beta, are never asked for.
    """
    return (fmean(marks) + 1) / 2 if marks else None


def graded_score(supports: Sequence[float]) -> float:
    """The score from a judge that grades: three fifths the sentences' mean support, two fifths the worst one's.

    The mean is equation 3 over marks of 2 * support - 1. Alone it would let many good sentences hide a false one,
    which plain marks never do. `supports` holds at least one, each 0 to 1.
    """
    return round((1 - WORST_SHARE) * fmean(supports) + WORST_SHARE * min(supports), 6)


_MOST_FINDINGS = 3


def explain(verdict: Verdict) -> Iterator[str]:
    """Lines about the first sentences that are not consistent; none about a verdict that does not reject."""
    if verdict.outcome != "reject" or not isinstance(verdict.evidence, ConsistencyEvidence):
        return
    faults = [found for found in verdict.evidence.sentences if found.mark < 0]
    for finding in faults[:_MOST_FINDINGS]:
        yield from labelled("says:   ", f"“{finding.text}”")
        yield from labelled("fault:  ", finding.reason)
        if finding.passage and finding.passage not in finding.reason:
            yield from labelled("source: ", f"“{finding.passage}”")
    if len(faults) > _MOST_FINDINGS:
        yield f"and {len(faults) - _MOST_FINDINGS} more"
