"""The consistency checker: divide, have each sentence graded by the reference, score."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from checkers.checker import MISLED, Checker, Decision, Models, ScoringSettings, Undecidable
from checkers.consistency.evidence import agreements, contradictions, findings, graded_score, mean_judgement, source_of
from models.protocol import ClaimKind, Claims, Grades, Judgement
from models.wording import counted, on_a_line, split_sentences
from schemas import ConsistencyEvidence, Generation, SentenceFinding
from schemas.records import MOST_TURNS

_SHOWN = 240

_MOST_SENTENCES = 400
"""More take more calls than a record is worth, and more than its time: a response of 400 has about twenty pages."""


class ConsistencySettings(ScoringSettings):
    """The consistency checker: how sentences are judged, and what is accepted."""

    turns: Annotated[int, Field(ge=0, le=MOST_TURNS)] = 0
    """Earlier answers of the record's `session`, the last ones, that a response must not contradict."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Language of the responses, an ISO 639 code; its rules divide sentences."""


class ConsistencyChecker(Checker[ConsistencySettings]):
    """Decides whether a `generation` is consistent with its reference, its contexts, or its other samples."""

    name = "consistency"
    version = "5"

    def __init__(self, settings: ConsistencySettings, models: Models) -> None:
        super().__init__(settings, models)
        self.turns = settings.turns

    async def decide(self, record: Generation) -> Decision:
        """A finding a sentence; undecidable without a reference or a sentence."""
        record = record.after(record.earlier[-self.turns :] if self.turns else ())
        against, sources = source_of(record)
        sentences = split_sentences(record.response, language=self.settings.language)
        if not sentences:
            raise Undecidable("empty_response", "the response holds no sentence")
        if len(sentences) > _MOST_SENTENCES:
            raise Undecidable("too_long", f"{len(sentences)} sentences; at most {_MOST_SENTENCES} are judged")
        kind, texts = ClaimKind(record.effective_task), tuple(one.text for one in sentences)
        claims = [Claims(text, texts, kind, record.prompt, text=record.response) for text in sources]
        # Of a record that has nothing else to be compared with.
        each: Grades = ((Judgement(1.0, "it contradicts no earlier answer", None),) * len(texts),)
        if claims:
            each = (await self.judge.grade(f"consistency.{kind}", claims)).reply
        grades = [mean_judgement(column) for column in zip(*each, strict=True)] if against == "samples" else each[0]
        found, without_claim = findings(sentences, grades)
        if not found:
            detail = f"the judge calls no sentence of the response a claim: “{on_a_line(texts[0], _SHOWN)}”"
            raise Undecidable("no_claim", detail)
        found = await contradictions(self.judge, record, found)
        thresholds, score = self.settings.thresholds, graded_score([one.support for one in found])
        evidence = ConsistencyEvidence(
            task=record.effective_task,
            against=against,
            sentences=tuple(found),
            without_claim=without_claim,
            consistent_share=sum(one.mark > 0 for one in found) / len(found),
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            samples=agreements(each, grades) if against == "samples" else (),
            earlier=record.earlier,
            judge_version=self.judge.version,
            self_test=self.judge.self_test,
        )
        accepted: bool | None = all(one.mark > 0 for one in found)
        open_ = _left_open(found)
        if thresholds.are_set:
            accepted = thresholds.accepts(score)
            open_ = thresholds.between(score) if accepted is None else None
        if accepted is None or open_:
            raise Undecidable("between_thresholds", open_ or "", score=score, graded=evidence)
        if accepted and any(grade.misled for grade in grades):
            raise Undecidable("judge_misled", MISLED)
        if accepted and against == "session":
            detail = f"the record has nothing to be compared with; it contradicts none of {_answers(evidence)}"
            raise Undecidable("no_reference", detail)
        reason = _reason(evidence, score=score, accepted=accepted)
        return Decision(accepted=accepted, score=score, reason=reason, evidence=evidence)


def _left_open(claims: Sequence[SentenceFinding]) -> str | None:
    """Why the outcome depends on sentences that the judge leaves open, if no other is at fault."""
    open_ = [one for one in claims if one.unsure]
    if not open_ or any(one.mark < 0 and not one.unsure for one in claims):
        return None
    which = "the only sentence" if len(claims) == 1 else f"{len(open_)} of {len(claims)} sentences"
    passage = f", nearest to “{on_a_line(open_[0].passage, _SHOWN)}”" if open_[0].passage else ""
    return f"the judge is not sure of {which}: “{on_a_line(open_[0].text, _SHOWN)}”{passage}"


def _answers(evidence: ConsistencyEvidence) -> str:
    return counted(len(evidence.earlier), "earlier answer") + " of its session"


def _reason(evidence: ConsistencyEvidence, *, score: float, accepted: bool) -> str:
    sentences, against = evidence.sentences, evidence.against
    source = "the other samples on average" if against == "samples" else f"the {against}"
    faults = [one for one in sentences if one.mark < 0]
    count = len(sentences)
    worst = min(faults or sentences, key=lambda one: one.support)
    shown = f"“{on_a_line(worst.text, _SHOWN)}” {on_a_line(worst.reason, _SHOWN)}"
    if not faults and not accepted:
        return f"The score {score:g} is too low, though no sentence is at fault alone. The least supported: {shown}"
    if not faults:
        what = "The only sentence is" if count == 1 else f"All {count} sentences are"
        contradicts = f", and contradict{'s' * (count == 1)} none of {_answers(evidence)}" if evidence.earlier else ""
        return f"{what} consistent with {source}{contradicts}."
    note = ", which the thresholds allow" if accepted else ""
    # The fault first: lists cut what comes late.
    said = f" or {_answers(evidence)}" if evidence.earlier and against != "session" else ""
    return f"{shown} ({len(faults)} of {count} sentences not consistent with {source}{said}{note})"
