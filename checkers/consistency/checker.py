"""The consistency checker: divide, have each sentence graded by the reference, score."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from checkers.checker import MISLED, Checker, Decision, Models, Undecidable
from checkers.consistency.evidence import (
    Findings,
    ResponseSource,
    compared,
    consistent_share,
    found,
    found_by_samples,
    graded_score,
    source_of,
)
from checkers.thresholds import BETWEEN, ScoringSettings
from models.protocol import ClaimKind, Claims, Grades, Judgement
from models.wording import Sentence, counted, on_a_line, split_sentences
from schemas import ConsistencyEvidence, Generation, JudgedSentence, SentenceFinding
from schemas.records import MOST_TURNS

_SHOWN = 240

_MOST_SENTENCES = 400
"""More take more calls than a record is worth, and more than its time: a response of 400 has about twenty pages."""


class ConsistencySettings(ScoringSettings):
    """The consistency checker: how sentences are judged, and what is accepted."""

    turns: Annotated[int, Field(ge=0, le=MOST_TURNS)] = 0
    """Earlier answers of the record's `session` that a response must not contradict, the last ones; 0: none. They are
    kept until the session is silent for half an hour."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Language of the responses, an ISO 639 code: its rules divide them into sentences."""


class ConsistencyChecker(Checker[ConsistencySettings]):
    """Decides whether a `generation` is consistent with its reference, its contexts, or its other samples."""

    name = "consistency"
    version = "5"

    def __init__(self, settings: ConsistencySettings, models: Models) -> None:
        """Raises ValueError if the thresholds cannot be used."""
        super().__init__(settings, models)
        settings.thresholds.require(self.judge.name)
        self.turns = settings.turns

    async def decide(self, record: Generation) -> Decision:
        """A finding a sentence; undecidable without a reference or a sentence."""
        record = record.after(record.earlier[-self.turns :] if self.turns else ())
        source = source_of(record)
        sentences = split_sentences(record.response, language=self.settings.language)
        if not sentences:
            raise Undecidable("empty_response", "the response holds no sentence")
        if len(sentences) > _MOST_SENTENCES:
            raise Undecidable("too_long", f"{len(sentences)} sentences; at most {_MOST_SENTENCES} are judged")
        kind, texts = ClaimKind(record.effective_task), tuple(one.text for one in sentences)
        claims = [Claims(text, texts, kind, record.prompt, text=record.response) for text in source.texts]
        # Of a record that has nothing else to be compared with.
        grades: Grades = ((Judgement(1.0, "it contradicts no earlier answer", None),) * len(texts),)
        if claims:
            grades = (await self.judge.grade(f"consistency.{kind}", claims)).reply
        whole = found_by_samples(sentences, grades) if source.against == "samples" else found(sentences, grades[0])
        if record.earlier:
            whole = await compared(self.judge, record, whole)
        return self._decision(record, source, sentences, whole)

    def _decision(
        self, record: Generation, source: ResponseSource, sentences: Sequence[Sentence], whole: Findings
    ) -> Decision:
        claims = whole.claims
        share = consistent_share([finding.mark for finding in claims])
        if share is None:
            detail = f"the judge calls no sentence of the response a claim: “{on_a_line(sentences[0].text, _SHOWN)}”"
            raise Undecidable("no_claim", detail)
        score = graded_score([finding.support for finding in claims])
        thresholds = self.settings.thresholds
        evidence = ConsistencyEvidence(
            task=record.effective_task,
            against=source.against,
            sentences=claims,
            without_claim=whole.without_claim,
            consistent_share=share,
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            samples=whole.samples,
            earlier=record.earlier,
            judge_version=self.judge.version,
            self_test=self.judge.self_test,
        )
        try:
            accepted = thresholds.accepts(score) if thresholds.are_set else share == 1
            if not thresholds.are_set:
                _require_decided(claims, score)
        except Undecidable as error:
            error.graded = evidence
            raise
        if accepted and whole.misled:
            raise Undecidable("judge_misled", MISLED)
        if accepted and source.against == "session":
            detail = f"the record has nothing to be compared with; it contradicts none of {_answers(evidence)}"
            raise Undecidable("no_reference", detail)
        reason = _reason(evidence, score=score, accepted=accepted)
        return Decision(accepted=accepted, score=score, reason=reason, evidence=evidence)


def _require_decided(claims: Sequence[SentenceFinding], score: float) -> None:
    """Raise Undecidable where the outcome depends on sentences that the judge leaves open: no other is at fault."""
    open_ = [one for one in claims if one.unsure]
    if open_ and all(one.mark > 0 or one.unsure for one in claims):
        which = "the only sentence" if len(claims) == 1 else f"{len(open_)} of {len(claims)} sentences"
        detail = f"the judge is not sure of {which}: “{on_a_line(open_[0].text, _SHOWN)}”"
        if passage := open_[0].passage:
            detail += f", nearest to “{on_a_line(passage, _SHOWN)}”"
        raise Undecidable(BETWEEN, detail, score=score)


def _answers(evidence: ConsistencyEvidence) -> str:
    return counted(len(evidence.earlier), "earlier answer") + " of its session"


def _reason(evidence: ConsistencyEvidence, *, score: float, accepted: bool) -> str:
    sentences, against = evidence.sentences, evidence.against
    source = "the other samples on average" if against == "samples" else f"the {against}"
    faults = [one for one in sentences if one.mark < 0]
    count = len(sentences)
    shown = _shown(min(faults or sentences, key=lambda one: one.support))
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


def _shown(sentence: JudgedSentence) -> str:
    return f"“{on_a_line(sentence.text, _SHOWN)}” {on_a_line(sentence.reason, _SHOWN)}"
