"""Whether a model can follow the forms in which methods ask it, as subject and as writer: built-in cases, asked once.

A reply that is not of the form says nothing of a model's trust, so this is known before anything is said of that. Kept
in a file by model and cases.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, get_args

from pydantic import BaseModel

from checkers.consistency.rewriter import ImproverQuestions
from checkers.equivalence.questions import EquivalencePrompts, words_of
from checkers.extraction.questions import EntitiesReply, ExtractionPrompts, OthersReply
from checkers.labelling.questions import LabellingPrompts
from checkers.labelling.rubric import parse_rubric
from checkers.longtail.corpus import Statement
from checkers.longtail.questions import AnswerReply, Asker
from checkers.longtail.templates import TEMPLATES
from checkers.longtail.yes_or_no import Unparsable, is_right
from models.judges.self_test import ResultFile
from models.protocol import Model, ModelFailed, Question
from models.recording import request_digest
from models.wording import on_a_line
from schemas import Generation, SentenceFinding

Role = Literal["subject", "writer"]
_CHAT = ("openai/", "llama/")


@dataclass(frozen=True, slots=True)
class FormCase:
    """A question that a method asks, with a right reply that a person knows at once."""

    question: Question[Any]
    is_right: Callable[[Any], bool]


class MethodResult(BaseModel):
    """What became of the cases of a method in one role."""

    method: str
    role: Role
    cases: int
    followed: int
    """Replies of the form that is asked for."""
    right: int
    answered: str | None = None
    """What is wrong with the first reply that is not of the form, and the reply; None if all are."""

    @property
    def is_followed(self) -> bool:
        """True if more than half of the replies are of the form."""
        return self.followed > self.cases / 2

    @property
    def verdict(self) -> str:
        """What the method is worth with this model, in a word or two."""
        if not self.is_followed:
            return "cannot follow the form"
        seldom = ", and is right on half at most" if self.right <= self.followed / 2 else ""
        return f"follows the form{seldom}"


async def method_results(
    model: Model, roles: Iterable[Role] = get_args(Role), method: str | None = None
) -> list[MethodResult]:
    """The results of a method, or of all, on file or of questions that are asked now; none of what is no chat model.

    Raises:
        ModelUnavailable: the model's endpoint is down.
    """
    found: list[MethodResult] = []
    # Services read no prompts, and recordings know no further questions.
    for (name, role), cases in _cases().items() if model.name.startswith(_CHAT) else ():
        if role in roles and method in {None, name}:
            file = ResultFile([model.name, *(request_digest(one.question) for one in cases)], MethodResult)
            if not (results := kept(file)):
                results = [await _result(model, name, role, cases)]
                file.write(results)
            found += results
    return found


def kept(file: ResultFile[MethodResult]) -> list[MethodResult]:
    """The result on file, if there is one."""
    return file.read()


async def _result(model: Model, method: str, role: Role, cases: Sequence[FormCase]) -> MethodResult:
    faults, right = list[str](), 0
    for case in cases:
        try:
            right += case.is_right((await model.ask(case.question)).reply)
        except ModelFailed as error:
            faults.append(f"{on_a_line(error.detail)}; it said: {on_a_line(error.said) or 'nothing'}")
    followed, shown = len(cases) - len(faults), faults[0] if faults else None
    return MethodResult(method=method, role=role, cases=len(cases), followed=followed, right=right, answered=shown)


_DOOR = ("The keeper shut the north door at nine.", "At nine the north door was shut by the keeper.")
_LATER = "The keeper opened the north door at nine."
_ENTITIES = {
    "Milda Vasquez moved from Tarsk to Oberwald in 1987.": {"Milda Vasquez", "Tarsk", "Oberwald"},
    "The brig Corvina belongs to Haldane Shipping.": {"Corvina", "Haldane Shipping"},
}
_RUBRIC = """
rubric: shelf-marks
about: Shelf marks of a library.
criteria:
  begins-with-B: {if: 'x.startsWith("B")', says: it begins with the letter B}
  has-seven: {if: 'x.contains("7")', says: it contains the digit 7}
label: all
"""
_MARK, _OTHER_MARKS = "B-17", ("C-40", "B-72", "A-7")
_BIRD = Statement(
    rule="built-in",
    domain="built-in",
    distribution="head",
    premise="Animal X is a penguin",
    conclusion="Animal X cannot fly",
    negation="Animal X can fly",
    question="can Animal X fly",
    answer="no",
)
_PASSAGE = "The ferry to Sarn leaves at 8 and at 17. A ticket costs 6 crowns. Dogs travel free."
_WRONG = "A ticket costs 9 crowns."


@cache
def _cases() -> dict[tuple[str, Role], list[FormCase]]:
    """By method and role."""
    return {
        ("equivalence", "subject"): list(_of_equivalence()),
        ("extraction", "subject"): list(_of_lists()),
        ("extraction", "writer"): list(_of_replacements()),
        ("labelling", "subject"): list(_of_labelling()),
        ("longtail", "subject"): list(_of_probes()),
        ("improver", "writer"): [_of_the_improver()],
    }


def _of_equivalence() -> Iterator[FormCase]:
    prompts = EquivalencePrompts()
    first, second = _DOOR
    yield FormCase(prompts.equivalent(first, second), lambda reply: reply.answer == "yes")
    yield FormCase(prompts.equivalent(first, _LATER), lambda reply: reply.answer == "no")
    yield FormCase(prompts.phrase("at noon", "at twelve o'clock"), lambda reply: reply.yes)
    yield FormCase(prompts.phrase("the left bank", "the right bank"), lambda reply: not reply.yes)
    for manner in ("Begin with another word.", "Say it as simply as you can."):
        yield FormCase(prompts.paraphrase(first, manner), lambda reply: {"north", "door"} <= _words(reply.paraphrase))


def _of_lists() -> Iterator[FormCase]:
    prompts = ExtractionPrompts()
    for text, names in _ENTITIES.items():
        yield FormCase(prompts.entities(text), partial(_has_all, names))


def _has_all(names: set[str], reply: EntitiesReply) -> bool:
    return names <= {one.entity for one in reply.entities}


def _of_replacements() -> Iterator[FormCase]:
    prompts, text = ExtractionPrompts(), next(iter(_ENTITIES))
    for name, kind in (("Milda Vasquez", "person"), ("Tarsk", "town")):
        yield FormCase(prompts.others(text, name, kind, named=True), partial(_are_others, name))


def _are_others(name: str, reply: OthersReply) -> bool:
    return len({one for one in reply.others if name not in one}) > 1


def _of_labelling() -> Iterator[FormCase]:
    prompts, rubric = LabellingPrompts(), parse_rubric(_RUBRIC, shown="built-in")
    yield FormCase(prompts.label(rubric, _MARK, ()), lambda reply: reply.label == "1")
    yield FormCase(prompts.label(rubric, _OTHER_MARKS[0], ()), lambda reply: reply.label == "0")
    yield FormCase(prompts.pick(rubric, _MARK, _OTHER_MARKS), lambda reply: _OTHER_MARKS[reply.choice - 1] == "B-72")
    yield FormCase(prompts.generate(rubric, _MARK, 1, (), ()), lambda reply: _is_alike(reply.datapoint))


def _is_alike(mark: str) -> bool:
    return mark != _MARK and mark.startswith("B") and "7" in mark


def _of_probes() -> Iterator[FormCase]:
    asker = Asker("zero-shot")
    for number in (2, 9):
        template = TEMPLATES[number]
        yield FormCase(asker.question(_BIRD, template), partial(_says, template.answer(_BIRD)))


def _says(expected: str, reply: AnswerReply) -> bool:
    with suppress(Unparsable):
        return is_right(reply.answer, expected)
    return False


def _of_the_improver() -> FormCase:
    response = f"The ferry leaves at 8. {_WRONG}"
    fields = {"id": "1", "kind": "generation", "source": "built-in", "model": "built-in", "task": "answer"}
    record = Generation.model_validate({**fields, "response": response, "contexts": [_PASSAGE]})
    place = {"start": response.index(_WRONG), "end": len(response), "text": _WRONG}
    fault = SentenceFinding.model_validate({**place, "mark": -1, "support": 0.1, "reason": "the passages say 6 crowns"})
    question = ImproverQuestions().about(record, _PASSAGE, fault)
    return FormCase(question, lambda reply: "6" in reply.improved and "9" not in reply.improved)


def _words(text: str) -> set[str]:
    return set(words_of(text).split())
