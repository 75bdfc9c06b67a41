"""Findings about every sentence of a response, against what it is compared with: their score, and in words."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from statistics import fmean
from typing import Literal

from checkers.checker import Undecidable
from checkers.wording import labelled
from models.grounding.pieces import nearest_sentence
from models.protocol import SUPPORTED, ClaimKind, Claims, Grades, Judge, Judgement, WindowExceeded
from models.wording import Sentence
from schemas import ConsistencyEvidence, Generation, SentenceFinding, Turn, Verdict
from schemas.evidence import EarlierAnswer, JudgedSentence, SampleAgreement

_MOST_SAMPLES = 20
_MOST_FINDINGS = 3


def source_of(record: Generation) -> tuple[Literal["reference", "contexts", "samples", "session"], tuple[str, ...]]:
    """What a response is compared with: a text of reference or contexts, one a sample, or none but its session."""
    # Contexts and a true answer are both what the response may draw on.
    texts = [text for text in (*record.contexts, record.reference or "") if text.strip()]
    if texts:
        return "reference" if record.reference else "contexts", ("\n\n".join(texts),)
    samples = tuple(text for text in record.samples if text.strip())[:_MOST_SAMPLES]
    if samples:
        return "samples", samples
    if record.earlier:
        return "session", ()
    raise Undecidable("no_reference", "the record has neither a reference nor contexts nor other samples")


def findings(
    sentences: Sequence[Sentence], grades: Sequence[Judgement]
) -> tuple[list[SentenceFinding], tuple[JudgedSentence, ...]]:
    """The findings of a judge's grades, and the sentences that claim nothing."""
    found, without_claim = list[SentenceFinding](), list[JudgedSentence]()
    for one, grade in zip(sentences, grades, strict=True):
        judged = JudgedSentence(text=one.text, start=one.start, end=one.end, reason=grade.reason)
        if grade.claims_nothing:
            without_claim.append(judged)
            continue
        about, support, passage = judged.model_dump(), grade.support, grade.passage
        mark: Literal[-1, 1] = 1 if grade.supported else -1
        found.append(SentenceFinding(**about, mark=mark, support=support, passage=passage, unsure=grade.unsure))
    return found, tuple(without_claim)


def mean_judgement(grades: Sequence[Judgement]) -> Judgement:
    """Self-consistency: the mean support over the samples, with reason and passage of the sample that tells most."""
    claims = [one for one in grades if not one.claims_nothing]
    if not claims:
        return grades[0]
    support = round(fmean(one.support for one in claims), 6)
    against = sum(not one.supported for one in claims)
    telling = (max if support >= SUPPORTED else min)(claims, key=lambda one: one.support)
    reason = f"{against} of {len(claims)} other samples do not support it. {telling.reason}"
    return Judgement(support, reason, telling.passage, misled=any(one.misled for one in grades))


def agreements(each: Grades, mean: Sequence[Judgement]) -> tuple[SampleAgreement, ...]:
    """How far each sample agrees, over the sentences that claim something."""
    found = []
    for number, grades in enumerate(each):
        own = [grade for grade, merged in zip(grades, mean, strict=True) if not merged.claims_nothing]
        inconsistent = tuple(index for index, one in enumerate(own) if not one.supported)
        score = round(fmean(one.support for one in own), 6)
        found.append(SampleAgreement(sample=number, score=score, inconsistent=inconsistent))
    return tuple(found)


async def contradictions(judge: Judge, record: Generation, found: list[SentenceFinding]) -> list[SentenceFinding]:
    """The findings, with the sentences that contradict an earlier answer at fault; raises as `Judge.grade` does.

    An earlier answer supports nothing: a model's own words would confirm its mistakes. All answers are looked at
    together first, a question a sentence, then one by one for those that contradict something: of several answers the
    one that is contradicted most is named, and of equals the oldest.
    """
    answers, suspects = [turn.response for turn in record.earlier], list(range(len(found)))

    async def grades(answers: Sequence[str]) -> Grades:
        said = tuple(found[place].text for place in suspects)
        each = [Claims(answer, said, ClaimKind.COMPATIBLE, record.prompt) for answer in answers]
        return (await judge.grade("consistency.session", each)).reply

    # Too long together, each is asked about by itself.
    with suppress(WindowExceeded):
        if len(answers) > 1:
            (together,) = await grades(["\n\n".join(answers)])
            suspects = [place for place in suspects if not together[place].supported]
    each = zip(*await grades(answers), strict=True) if answers and suspects else ()
    worst = [min(zip(record.earlier, by_answer, strict=True), key=lambda one: one[1].support) for by_answer in each]
    at_fault = {place: one for place, one in zip(suspects, worst, strict=False) if not one[1].supported}
    return [_contradicting(one, *at_fault[place]) if place in at_fault else one for place, one in enumerate(found)]


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


def graded_score(supports: Sequence[float]) -> float:
    """The score from a judge that grades: three fifths the sentences' mean support, two fifths the worst one's.

    The mean is equation 3 over marks of 2 * support - 1. Alone it would let many good sentences hide a false one,
    which plain marks never do. `supports` holds at least one, each 0 to 1.
    """
    return round(0.6 * fmean(supports) + 0.4 * min(supports), 6)


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
