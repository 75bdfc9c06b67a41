"""The consistency checker: divide, judge each sentence against the whole reference, convert, score."""

from statistics import fmean

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.consistency.converter import Converter
from checkers.consistency.entries import CONVERT, ConsistencyQuestions
from checkers.consistency.evaluator import DivideConquerEvaluator
from checkers.consistency.findings import Findings, found_against, over_pieces, over_samples, support_of
from checkers.consistency.material import CheckedResponse, ResponseSource, source_of
from checkers.consistency.scoring import consistent_share
from checkers.consistency.sentences import split_sentences
from checkers.consistency.settings import ConsistencySettings
from checkers.thresholds import BETWEEN
from models.claims import SUPPORTED
from models.concurrent import gather_or_cancel
from models.wording import on_a_line
from schemas import ConsistencyEvidence, Generation, JudgedSentence, SampleAgreement, SentenceFinding

_SHOWN = 240
_MISLED = (
    "the judge did not find a control sentence inconsistent, which nothing bears out: it goes by something other than "
    "the reference, such as a text in the record that tells it what to answer"
)

_MOST_SENTENCES = 400
"""More take more calls than a record is worth, and more than its time: a response of 400 has about twenty pages."""


class ConsistencyChecker(Checker[ConsistencySettings]):
    """Decides whether a `generation` is consistent with its reference, its contexts, or its other samples."""

    name = "consistency"
    version = "4"

    def __init__(self, settings: ConsistencySettings, models: Models) -> None:
        """Raises ValueError if a template (TemplateError) or the thresholds cannot be used."""
        super().__init__(settings, models)
        settings.thresholds.require(self.judge.name)
        self._questions = ConsistencyQuestions(settings.prompts)
        self._evaluator = DivideConquerEvaluator(self.judge, self._questions, language=settings.language)
        self._converter: Converter | None = None
        if settings.marks_from == "reasons" and self.grader is None:
            self._converter = Converter(self.judge, self._questions)

    def fingerprint(self) -> JsonValue:
        """The prompts' versions."""
        return dict(self._questions.versions)

    async def decide(self, record: Generation) -> Decision:
        """A finding a sentence; undecidable without a reference or a sentence."""
        source, materials = self._materials(record)
        found = await gather_or_cancel(self._against(material) for material in materials)
        whole = found[0] if source.against != "samples" else over_samples(found)
        return self._decision(record, source, whole, found)

    def _materials(self, record: Generation) -> tuple[ResponseSource, list[CheckedResponse]]:
        """The texts that the response is held against, and with each of them its sentences."""
        source = source_of(record)
        sentences = split_sentences(record.response, language=self.settings.language)
        if not sentences:
            raise Undecidable("empty_response", "the response holds no sentence")
        if len(sentences) > _MOST_SENTENCES:
            raise Undecidable("too_long", f"{len(sentences)} sentences; at most {_MOST_SENTENCES} are judged")
        task, response, prompt = record.effective_task, record.response, record.prompt
        return source, [CheckedResponse.of(task, text, response, prompt, sentences) for text in source.texts]

    async def _against(self, material: CheckedResponse) -> Findings:
        evaluations = await self._evaluator.evaluate(material)
        if self._converter is not None:
            evaluations = await gather_or_cancel(self._converter.converted(one) for one in evaluations)
        each = [found_against(material.sentences, one) for one in evaluations]
        return over_pieces([one.piece for one in evaluations], each)

    def _decision(self, record: Generation, source: ResponseSource, whole: Findings, each: list[Findings]) -> Decision:
        claims, marks = whole.claims, [finding.mark for finding in whole.claims]
        alpha, beta = -sum(whole.whole_marks), -len(whole.whole_marks)
        share = consistent_share([*marks, *whole.whole_marks], alpha=alpha, beta=beta)
        if share is None:
            raise Undecidable("no_claim", f"no sentence of the response claims anything: {_shown(whole.sentences[0])}")
        graded = whole.graded_score
        score = share if graded is None else graded
        thresholds = self.settings.thresholds
        accepted = thresholds.accepts(score) if thresholds.are_set else share >= self.settings.threshold
        if not thresholds.are_set and any(whole.unsure):
            self._require_decided(whole, score)
        if accepted and whole.misled:
            raise Undecidable("judge_misled", _MISLED)
        asked = (record.effective_task, *(() if self._converter is None else (CONVERT,)))
        evidence = ConsistencyEvidence(
            task=record.effective_task,
            marks_from=self.settings.marks_from,
            against=source.against,
            sentences=claims,
            without_claim=tuple(one for one in whole.sentences if not isinstance(one, SentenceFinding)),
            is_consistent=whole.is_consistent,
            consistent_share=share,
            alpha=alpha,
            beta=beta,
            threshold=self.settings.threshold,
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            samples=_agreements(whole, each) if source.against == "samples" else (),
            prompt_versions={name: self._questions.versions[name] for name in asked},
            score_is="share" if graded is None else "graded",
            overruled=whole.overruled,
            asked_again=whole.asked_again,
            invented=whole.invented,
        )
        return Decision(
            accepted=accepted,
            score=score,
            reason=_reason(claims, source.against, score=score, accepted=accepted),
            evidence=evidence,
        )

    def _require_decided(self, whole: Findings, score: float) -> None:
        """Raise Undecidable where the outcome hangs on sentences that the judge leaves open."""
        shares = (
            consistent_share(
                [mark if unsure else found.mark for found, unsure in zip(whole.claims, whole.unsure, strict=True)]
            )
            for mark in (1, -1)
        )
        if len({share is not None and share >= self.settings.threshold for share in shares}) > 1:
            count = sum(whole.unsure)
            detail = f"the judge is not sure of {count} of {len(whole.claims)} sentences, on which the outcome hangs"
            raise Undecidable(BETWEEN, detail, score=score)


def _agreements(whole: Findings, each: list[Findings]) -> tuple[SampleAgreement, ...]:
    faults = [{found.start for found in findings.claims if found.mark < 0} for findings in each]
    return tuple(
        SampleAgreement(
            sample=number,
            score=round(fmean([support_of(found) for found in findings.claims] or [SUPPORTED]), 6),
            inconsistent=tuple(index for index, found in enumerate(whole.claims) if found.start in faults[number]),
        )
        for number, findings in enumerate(each)
    )


def _reason(sentences: tuple[SentenceFinding, ...], against: str, *, score: float, accepted: bool) -> str:
    source = "the other samples on average" if against == "samples" else f"the {against}"
    faults = [found for found in sentences if found.mark < 0]
    count = len(sentences)
    told = _shown(min(faults or sentences, key=support_of))
    if not faults and not accepted:
        return f"The score {score:g} is too low, though no sentence is at fault alone. The least supported: {told}"
    if not faults:
        what = "The only sentence is" if count == 1 else f"All {count} sentences are"
        return f"{what} consistent with {source}."
    verb = "is" if len(faults) == 1 else "are"
    note = ", which the threshold allows" if accepted else ""
    return f"{len(faults)} of {count} sentences {verb} not consistent with {source}{note}: {told}"


def _shown(sentence: JudgedSentence) -> str:
    return f"“{on_a_line(sentence.text, _SHOWN)}” {on_a_line(sentence.reason, _SHOWN)}"
