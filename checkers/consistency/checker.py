"""The consistency checker: divide, judge each sentence against the whole reference, convert, score."""

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.consistency.converter import Converter
from checkers.consistency.evaluator import TOKENS_AN_ENTRY, DivideConquerEvaluator, Evaluation
from checkers.consistency.findings import Findings, found_against, over_pieces, over_samples
from checkers.consistency.questions import CheckedResponse, ConsistencyQuestions
from checkers.consistency.replies import Entries
from checkers.consistency.scoring import consistent_share
from checkers.consistency.sentences import Sentence, split_sentences
from checkers.consistency.settings import ConsistencySettings
from checkers.consistency.sources import ResponseSource, source_of
from checkers.estimate import LONG, Estimate, Load, Range, asking, calls, long, total
from models.concurrent import gather_or_cancel
from models.protocol import Question, grader_of
from models.wording import on_a_line
from schemas import ConsistencyEvidence, Generation, SampleAgreement, SentenceFinding

_SHOWN = 240
_MISLED = (
    "the judge found a control sentence consistent, which nothing bears out: it goes by something other than the "
    "reference, such as a text in the record that tells it what to answer"
)


class ConsistencyChecker(Checker[ConsistencySettings]):
    """Decides whether a `generation` is consistent with its reference, its contexts, or its other samples."""

    name = "consistency"
    version = "2"

    def __init__(self, settings: ConsistencySettings, models: Models) -> None:
        """Raises ValueError if a template (TemplateError) or the thresholds cannot be used."""
        super().__init__(settings, models)
        settings.thresholds.require(self.judge.name)
        self._questions = ConsistencyQuestions(settings.prompts)
        self._evaluator = DivideConquerEvaluator(
            self.judge, self._questions, sentences_per_call=settings.sentences_per_call, language=settings.language
        )
        self._converter = Converter(
            self.judge,
            self._questions,
            always=settings.marks_from == "reasons",
            reasons_per_call=settings.sentences_per_call,
        )

    def fingerprint(self) -> JsonValue:
        """The prompts' versions."""
        return dict(self._questions.versions)

    async def decide(self, record: Generation) -> Decision:
        """A finding a sentence; undecidable without a reference or a sentence."""
        source, materials = self._materials(record)
        found = await gather_or_cancel(self._against(material) for material in materials)
        whole = found[0] if source.against != "samples" else over_samples(found)
        return self._decision(record, source, whole, found)

    def estimate(self, record: Generation) -> Estimate:
        """One entry a sentence and control sentence; at most, all reasons are read once more."""
        _, materials = self._materials(record)
        if grader_of(self.judge) is not None:
            return Estimate(judge=calls(len(materials)))
        questions = self.first_questions(record)
        sentences = sum(len(material.sentences) for material in materials)
        entries = Load(0, 0, (sentences + len(questions)) * TOKENS_AN_ENTRY / LONG)
        asked = total(asking(question, 0) for question in questions) + entries
        read = total(self._converter.reading(len(material.sentences)) for material in materials)
        again = read if self.settings.marks_from == "reasons" else Load()
        return Estimate(judge=Range(asked + again, long(asked + read)))

    def first_questions(self, record: Generation) -> list[Question[Entries]]:
        """What is asked about `record` if every answer is in time, complete, and agrees with itself.

        Raises:
            Undecidable: nothing is asked.
        """
        _, materials = self._materials(record)
        return [question for material in materials for question in self._evaluator.first_questions(material)]

    def _materials(self, record: Generation) -> tuple[ResponseSource, list[CheckedResponse]]:
        """What the response is held against, and with each of it the response's sentences."""
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
        task, response, prompt = record.effective_task, record.response, record.prompt
        return source, [CheckedResponse.of(task, text, response, prompt, sentences) for text in source.texts]

    async def _against(self, material: CheckedResponse) -> Findings:
        evaluations = await self._evaluator.evaluate(material)
        each = await gather_or_cancel(self._settled(material, evaluation) for evaluation in evaluations)
        return over_pieces([evaluation.piece for evaluation in evaluations], each)

    async def _settled(self, material: CheckedResponse, evaluation: Evaluation) -> Findings:
        opinions = [one for each in (*evaluation.opinions, evaluation.whole) for one in each]
        return found_against(material.sentences, evaluation, await self._converter.settled(opinions))

    def _decision(self, record: Generation, source: ResponseSource, whole: Findings, each: list[Findings]) -> Decision:
        marks = [finding.mark for finding in whole.sentences]
        share = consistent_share([*marks, *whole.whole_marks], alpha=whole.alpha, beta=whole.beta)
        if share is None:
            raise Undecidable("empty_response", "nothing that was judged is a sentence of the response")
        graded = whole.graded_score
        score = share if graded is None else graded
        thresholds = self.settings.thresholds
        accepted = thresholds.accepts(score) if thresholds.are_set else share >= self.settings.threshold
        if accepted and whole.misled:
            raise Undecidable("judge_misled", _MISLED)
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
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            samples=_agreements(each) if source.against == "samples" else (),
            prompt_versions=self._questions.version(record.effective_task),
            score_is="share" if graded is None else "graded",
            overruled=whole.overruled,
            asked_again=whole.asked_again,
            invented=whole.invented,
        )
        return Decision(
            accepted=accepted,
            score=score,
            reason=_reason(whole.sentences, source.against, score=score, accepted=accepted),
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


def _reason(sentences: tuple[SentenceFinding, ...], against: str, *, score: float, accepted: bool) -> str:
    source = "the other samples on average" if against == "samples" else f"the {against}"
    faults = [found for found in sentences if found.mark < 0]
    count = len(sentences)
    least = min(faults or sentences, key=lambda found: (found.mark + 1) / 2 if found.support is None else found.support)
    told = f"“{on_a_line(least.text, _SHOWN)}” {on_a_line(least.reason, _SHOWN)}"
    if not faults and not accepted:
        return f"The score {score:g} is too low, though no sentence is at fault alone. The least supported: {told}"
    if not faults:
        what = "The only sentence is" if count == 1 else f"All {count} sentences are"
        return f"{what} consistent with {source}."
    verb = "is" if len(faults) == 1 else "are"
    note = ", which the threshold allows" if accepted else ""
    return f"{len(faults)} of {count} sentences {verb} not consistent with {source}{note}: {told}"
