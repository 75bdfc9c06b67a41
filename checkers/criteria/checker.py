"""The checker of a criterion: one question in a user's own words about each response."""

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.criteria.control import CONTROLS, control_questions
from checkers.criteria.examples import LabelledAnswer, load_examples, passages_of, shown_of, worked
from checkers.criteria.questions import CriterionQuestions, quoted
from checkers.criteria.settings import CriterionSettings
from checkers.draws import seed_of
from models.claims import SUPPORTED, ClaimKind, Claims, WorkedExample
from models.wording import on_a_line
from schemas import CriterionEvidence, Generation

_SHOWN = 240
_MISLED = (
    "the judge gave the accepting answer to control questions, too, where it is wrong: it may be too weak a judge "
    "(`assay criteria check` measures it), or do as a text in the record tells it"
)


class CriterionChecker(Checker[CriterionSettings]):
    """Decides whether a `generation` keeps a criterion. Each criterion is a subclass with its name."""

    name = "criterion"
    answers_questions = True

    def __init__(self, settings: CriterionSettings, models: Models) -> None:
        """Raises ValueError if the thresholds or the file of examples cannot be used."""
        super().__init__(settings, models)
        settings.thresholds.require(self.judge.name)
        self.examples = load_examples(settings.examples) if settings.examples else ()
        self.shown = shown_of(self.examples)
        """The examples that the judge is shown."""
        self._questions = CriterionQuestions()

    def fingerprint(self) -> JsonValue:
        """The examples that are shown, and the prompts."""
        texts = [(one.record.prompt, one.record.response, passages_of(one.record)) for one in self.shown]
        labels = [(one.accept, one.words) for one in self.shown]
        return [seed_of(texts, labels), self._questions["quote"].version]

    async def decide(self, record: Generation) -> Decision:
        """The judge's answer, and of a rejected response the words at fault."""
        return await self.decide_after(self.shown, record)

    async def decide_after(self, shown: Sequence[LabelledAnswer], record: Generation) -> Decision:
        """As `decide`, with these as the worked examples."""
        if not record.response.strip():
            raise Undecidable("empty_response", "the response is empty")
        settings, thresholds = self.settings, self.settings.thresholds
        score = await self.score(record, shown)
        accepted = thresholds.accepts(score) if thresholds.are_set else score >= SUPPORTED
        if accepted and await self._is_misled(record):
            raise Undecidable("judge_misled", _MISLED, score=score)
        reply: Literal["yes", "no"] = settings.reject_if if not accepted else other(settings.reject_if)
        quote = None
        if not accepted:
            question = self._questions.quote(settings.ask, reply, record, [one for one in shown if not one.accept])
            quote = await quoted(self.models.writer, question, record.response)
        evidence = CriterionEvidence(
            ask=settings.ask,
            reject_if=settings.reject_if,
            probability=round(score if settings.reject_if == "no" else 1 - score, 6),
            quote=quote,
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            examples=len(shown),
            judge_version=self.judge.version,
        )
        # The fault first: lists cut what comes late.
        fault = f"“{on_a_line(quote.text, _SHOWN)}” " if quote else ""
        reason = f"{fault}{on_a_line(settings.ask, _SHOWN)} {reply.capitalize()}."
        return Decision(accepted=accepted, score=score, reason=reason, evidence=evidence)

    async def score(self, record: Generation, shown: Sequence[LabelledAnswer]) -> float:
        """The judge's probability of the answer that accepts; raises as `decide`."""
        accepting_yes = self.settings.reject_if == "no"
        examples = tuple(worked(one, yes=one.accept is accepting_yes) for one in shown)
        probability = await self._answer(self.settings.ask, record, examples)
        return round(probability if accepting_yes else 1 - probability, 6)

    def claims(self, record: Generation, question: str, examples: tuple[WorkedExample, ...]) -> Claims:
        """What the judge is shown of a record, and asked about it."""
        return Claims(
            passages_of(record), (question,), ClaimKind.QUESTION, record.prompt, text=record.response, examples=examples
        )

    async def _answer(self, question: str, record: Generation, examples: tuple[WorkedExample, ...] = ()) -> float:
        claims = self.claims(record, question, examples)
        ((grade,),) = (await self.judge.grade(f"criteria.{self.name}", [claims])).reply
        return grade.support

    async def _is_misled(self, record: Generation) -> bool:
        """True if all control questions are answered by the accepting word, which is wrong."""
        accepting_yes = self.settings.reject_if == "no"
        everything = f"{record.prompt or ''} {passages_of(record)} {record.response}"
        questions = [*control_questions(record.response, everything, right=not accepting_yes)][:CONTROLS]
        for question in questions:
            if (await self._answer(question, record) >= SUPPORTED) is not accepting_yes:
                return False
        return True


def criterion_named(name: str, settings: CriterionSettings) -> type[CriterionChecker]:
    """The class of one criterion, as each checker has its own."""
    own = {"name": name, "sources": settings.sources, "unit": settings.unit, "__doc__": settings.ask}
    return type(name, (CriterionChecker,), own)


def other(reply: Literal["yes", "no"]) -> Literal["yes", "no"]:
    """The other reply."""
    return "no" if reply == "yes" else "yes"
