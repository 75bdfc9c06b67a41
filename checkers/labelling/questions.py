"""What a model is asked as labeller and generator (the paper's prompts 1 to 3), and built-in cases of each question."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, create_model

from checkers.draws import canonical
from checkers.form_test import FormCase
from checkers.labelling.rubric import AskJudge, Rubric, parse_rubric, same_label, shown
from checkers.lines import read_forms
from models.prompts import PromptSet, as_list
from models.protocol import ClaimKind, Claims, Judge, Question, Reply
from schemas.evidence import Label


class Exemplar(BaseModel):
    """A datapoint of the same kind, with its label if that is known."""

    model_config = ConfigDict(frozen=True)

    x: JsonValue
    label: Label | None = Field(None, alias="y")
    reasons: tuple[Annotated[str, StringConstraints(pattern=r"\S")], ...] = ()
    """Why it has that label, criterion by criterion; none if they are not known."""


def load_examples(path: Path) -> tuple[Exemplar, ...]:
    """The examples of a file; raises ValueError as `read_forms` does."""
    expected = 'datapoint: {"x": datapoint, "y": label, "reasons": [text, ...]}, y and reasons optional'
    return tuple(read_forms(Exemplar, path, expected))


_WORDING_TOKENS = 100
"""Of the reason for one criterion."""


class CriterionReason(Reply):
    """A criterion's bit in the labeller's words."""

    criterion: int
    """Its number in the rubric, from 1."""
    reason: str
    holds: bool


class LabelReply(Reply):
    """A label with reasons."""

    reasons: list[CriterionReason]
    label: str


class PickReply(Reply):
    """The datapoint that matches, out of those shown."""

    reason: str
    choice: int
    """Its number, from 1."""


class GenerateReply(Reply):
    """A datapoint of the labeller's own."""

    reason: str
    datapoint: str
    """The text, or the JSON of a datapoint that is none."""


@cache
def _demanding(count: int, labels: tuple[str, ...]) -> type[LabelReply]:
    """The form whose schema demands so many reasons, and one of the labels, which may be written in other ways."""
    reasons = Annotated[list[CriterionReason], Field(min_length=count, max_length=count)]
    label = Annotated[str, Field(json_schema_extra={"enum": list(labels)})]
    return create_model("LabelReply", __base__=LabelReply, reasons=(reasons, ...), label=(label, ...))


class LabellingPrompts(PromptSet):
    """Questions to a labeller and generator; `under` is the prompt of the application that it works for."""

    package = "checkers.labelling.prompts"

    def label(
        self, rubric: Rubric, x: JsonValue, examples: Sequence[Exemplar], *, under: str | None = None
    ) -> Question[LabelReply]:
        """Ask what label `x` has, and why; the one question that shows the aggregator."""
        count = len(rubric.criteria)
        labelled = [_reasoned(one) | {"label": one.label} for one in examples if one.label is not None]

        def complaint(reply: LabelReply) -> str | None:
            if [one.criterion for one in reply.reasons] != list(range(1, count + 1)):
                return f"'reasons' must have one entry for each of the {count} criteria, numbered 1 to {count} in order"
            if not any(same_label(reply.label, label) for label in rubric.labels):
                return f"'label' must be one of {as_list([str(label) for label in rubric.labels])}"
            return None

        zero, one = map(_quoted, rubric.labels)
        texts = {"examples": as_list(labelled), "datapoint": shown(x)}
        words = {
            "rubric": rubric.described,
            "aggregator": rubric.aggregator.description,
            "labels": f"1 stands for the label {one}, 0 for the label {zero}.",
            "count": str(count),
        }
        form, most = _demanding(count, tuple(map(str, rubric.labels))), _WORDING_TOKENS * (count + 1)
        return self._question(
            "label", "labelling.label", form, texts, words, under=under, complaint=complaint, max_tokens=most
        )

    def pick(
        self, rubric: Rubric, x: JsonValue, candidates: Sequence[JsonValue], *, under: str | None = None
    ) -> Question[PickReply]:
        """Ask which of `candidates` is like `x`."""
        count = len(candidates)

        def complaint(reply: PickReply) -> str | None:
            return None if 1 <= reply.choice <= count else f"'choice' must be a number from 1 to {count}"

        texts = {"datapoint": shown(x), "candidates": as_list(candidates)}
        words = {"rubric": rubric.described, "count": str(count)}
        most = _WORDING_TOKENS * (len(rubric.criteria) + count)
        return self._question(
            "pick", "labelling.pick", PickReply, texts, words, under=under, complaint=complaint, max_tokens=most
        )

    def generate(
        self,
        rubric: Rubric,
        x: JsonValue,
        bit: int,
        examples: Sequence[Exemplar],
        earlier: Sequence[JsonValue],
        *,
        under: str | None = None,
    ) -> Question[GenerateReply]:
        """Ask for a datapoint like `x`, none of `earlier`."""

        def complaint(reply: GenerateReply) -> str | None:
            try:
                datapoint_of(reply, x)
            except ValueError as error:
                return f"'datapoint' must be a string that holds JSON, as the datapoint is not a text: {error}"
            return None

        texts = {
            "examples": as_list([_reasoned(one) if one.reasons else one.x for one in examples]),
            "earlier": as_list(earlier),
            "datapoint": shown(x),
        }
        asked = "the text of yours" if isinstance(x, str) else "a string that holds yours as JSON"
        words = {"rubric": rubric.described, "label": _quoted(rubric.labels[bit]), "form": asked}
        # As many again as the datapoint has characters, for escapes and scripts with a token or more for each.
        most = _WORDING_TOKENS * (len(rubric.criteria) + 1) + 2 * len(shown(x))
        name, form = "generate", GenerateReply
        return self._question(
            name, f"labelling.{name}", form, texts, words, under=under, complaint=complaint, max_tokens=most
        )


def asking(judge: Judge) -> AskJudge:
    """Asks a judge whether criteria hold; about each pair of criterion and datapoint once."""
    known: dict[tuple[str, str], bool] = {}

    async def holds(criterion: str, x: JsonValue) -> bool:
        key = (criterion, canonical(x))
        if key not in known:
            claims = Claims(shown(x), (criterion,), ClaimKind.CRITERION)
            ((grade,),) = (await judge.grade("labelling.criterion", [claims])).reply
            known[key] = grade.supported
        return known[key]

    return holds


def datapoint_of(reply: GenerateReply, x: JsonValue) -> JsonValue:
    """The generated datapoint: the text itself where `x` is a text, else the JSON in it, or a ValueError."""
    datapoint: JsonValue = reply.datapoint if isinstance(x, str) else orjson.loads(reply.datapoint)
    return datapoint


def _reasoned(example: Exemplar) -> dict[str, JsonValue]:
    """A datapoint with the reasons for its label, if they are known; they come before the label, as in an answer."""
    return {"datapoint": example.x} | ({"reasons": list(example.reasons)} if example.reasons else {})


def _quoted(label: Label) -> str:
    return json.dumps(str(label), ensure_ascii=False)


_SHELF_MARKS = """
rubric: shelf-marks
about: Shelf marks of a library.
criteria:
  begins-with-B: {if: 'x.startsWith("B")', says: it begins with the letter B}
  has-seven: {if: 'x.contains("7")', says: it contains the digit 7}
label: all
"""
_MARK, _OTHER_MARKS = "B-17", ("C-40", "B-72", "A-7")


def form_cases(method: str) -> Iterator[FormCase]:
    """Labels with reasons, and marks that are picked and made."""
    prompts, rubric = LabellingPrompts(), parse_rubric(_SHELF_MARKS, shown="built-in")
    yield FormCase(method, "subject", prompts.label(rubric, _MARK, ()), lambda reply: reply.label == "1")
    yield FormCase(method, "subject", prompts.label(rubric, _OTHER_MARKS[0], ()), lambda reply: reply.label == "0")
    picked = prompts.pick(rubric, _MARK, _OTHER_MARKS)
    yield FormCase(method, "subject", picked, lambda reply: _OTHER_MARKS[reply.choice - 1] == "B-72")
    made = prompts.generate(rubric, _MARK, 1, (), ())
    yield FormCase(method, "subject", made, lambda reply: re.match("(?!B-17$)B.*7", reply.datapoint) is not None)
