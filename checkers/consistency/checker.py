"""The consistency checker: divide, judge each sentence against the whole reference, convert, score."""

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.concurrent import gather_or_cancel
from checkers.consistency.converter import Converter
from checkers.consistency.evaluator import DivideConquerEvaluator, Evaluation
from checkers.consistency.findings import Findings, combined
from checkers.consistency.questions import CheckedResponse, ConsistencyQuestions
from checkers.consistency.scoring import consistent_share
from checkers.consistency.sentences import Sentence, split_sentences
from checkers.consistency.settings import ConsistencySettings
from checkers.consistency.sources import ResponseSource, source_of
from checkers.wording import on_a_line
from schemas import ConsistencyEvidence, Generation, SampleAgreement, SentenceFinding

_SHOWN = 240


class ConsistencyChecker(Checker[ConsistencySettings]):
    """Decides whether a `generation` is consistent with its reference, its contexts, or its other samples."""

    name = "consistency"

    def __init__(self, settings: ConsistencySettings, models: Models) -> None:
        """Raises ValueError (as TemplateError) if one of the settings' own templates cannot be used."""
        super().__init__(settings, models)
        self._questions = ConsistencyQuestions(settings.prompts)
        self._evaluator = DivideConquerEvaluator(self.judge, self._questions, calls=settings.calls)
        self._converter = Converter(self.judge, self._questions, always_ask=settings.convert == "always_ask")

    def fingerprint(self) -> JsonValue:
        """The prompts' versions."""
        return dict(self._questions.versions)

    async def decide(self, record: Generation) -> Decision:
        """A finding a sentence; undecidable without a reference or a sentence."""
        source = source_of(record, max_samples=self.settings.max_samples)
        sentences = split_sentences(record.response, language=self.settings.language)
        if not sentences:
            raise Undecidable("empty_response", "the response holds no sentence")
        if len(sentences) > self.settings.max_sentences:
            limit = self.settings.max_sentences
            raise Undecidable("too_long", f"{len(sentences)} sentences; consistency.max_sentences allows {limit}")
        if self.settings.granularity == "paragraph":
            start, end = sentences[0].start, sentences[-1].end
            sentences = [Sentence(record.response[start:end], start, end)]

        found = await gather_or_cancel(
            self._against(CheckedResponse(record.effective_task, text, record.response, record.prompt), sentences)
            for text in source.texts
        )
        whole = found[0] if source.against != "samples" else combined(found)
        return self._decision(record, source, whole, found)

    async def _against(self, material: CheckedResponse, sentences: list[Sentence]) -> Findings:
        if self.settings.granularity == "paragraph":
            evaluation = await self._evaluator.whole(material)
        else:
            evaluation = await self._evaluator.sentences(material, [one.text for one in sentences])
        if self.settings.marks_from == "flag":
            return Findings.by_flag(sentences, evaluation)
        return await self._converted(sentences, evaluation)

    async def _converted(self, sentences: list[Sentence], evaluation: Evaluation) -> Findings:
        if all(entry.grade is not None for entry in evaluation.entries):
            return Findings.by_grade(sentences, evaluation)
        reasons = [reason for entry in evaluation.entries for reason in entry.reasons]
        marks = await self._converter.marks([*reasons, *evaluation.whole])
        return Findings.by_marks(sentences, evaluation, marks)

    def _decision(self, record: Generation, source: ResponseSource, whole: Findings, each: list[Findings]) -> Decision:
        marks = [finding.mark for finding in whole.sentences]
        share = consistent_share([*marks, *whole.whole_marks], alpha=whole.alpha, beta=whole.beta)
        if share is None:
            raise Undecidable("empty_response", "nothing that was judged is a sentence of the response")
        accepted = share >= self.settings.threshold
        evidence = ConsistencyEvidence(
            task=record.effective_task,
            granularity=self.settings.granularity,
            marks_from=self.settings.marks_from,
            against=source.against,
            sentences=whole.sentences,
            is_consistent=whole.is_consistent,
            consistent_share=share,
            alpha=whole.alpha,
            beta=whole.beta,
            threshold=self.settings.threshold,
            samples=_agreements(each) if source.against == "samples" else (),
            prompt_versions=self._questions.version(
                record.effective_task, whole=self.settings.granularity == "paragraph"
            ),
            calls_saved=sum(findings.calls_saved for findings in each),
            asked_again=sum(findings.asked_again for findings in each),
            invented=sum(findings.invented for findings in each),
        )
        return Decision(
            accepted=accepted,
            score=whole.graded_score if whole.graded_score is not None else share,
            reason=_reason(whole.sentences, source.against, accepted=accepted),
            evidence=evidence,
        )


def _agreements(each: list[Findings]) -> tuple[SampleAgreement, ...]:
    return tuple(
        SampleAgreement(
            sample=number,
            score=findings.mean_support,
            inconsistent=tuple(index for index, found in enumerate(findings.sentences) if found.mark < 0),
        )
        for number, findings in enumerate(each)
    )


def _reason(sentences: tuple[SentenceFinding, ...], against: str, *, accepted: bool) -> str:
    source = {"reference": "the reference", "contexts": "the contexts", "samples": "most of the other samples"}[against]
    faults = [found for found in sentences if found.mark < 0]
    count = len(sentences)
    if not faults:
        what = "The only sentence is" if count == 1 else f"All {count} sentences are"
        return f"{what} consistent with {source}."
    verb = "is" if len(faults) == 1 else "are"
    note = ", which the threshold allows" if accepted else ""
    worst = min(faults, key=lambda found: 0.0 if found.support is None else found.support)
    return (
        f"{len(faults)} of {count} sentences {verb} not consistent with {source}{note}: "
        f"“{on_a_line(worst.text, _SHOWN)}” {on_a_line(worst.reason, _SHOWN)}"
    )
