"""Findings about every sentence of a response, against what it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from checkers.checker import Undecidable
from models.claims import SUPPORTED, Judgement
from models.sentences import Sentence
from schemas import Generation, JudgedSentence, SampleAgreement, SentenceFinding

_MOST_SAMPLES = 20
"""Samples that a response is compared with."""


@dataclass(frozen=True, slots=True)
class ResponseSource:
    """The texts that a response is compared with, one by one."""

    against: Literal["reference", "contexts", "samples", "session"]
    texts: tuple[str, ...]
    """One where there is a reference or contexts, else a text a sample; none where there is only the session."""


def source_of(record: Generation, *, has_session: bool = False) -> ResponseSource:
    """The texts that `record` brings along; if there are none, its session will do if it `has_session`.

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
    if has_session:
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
