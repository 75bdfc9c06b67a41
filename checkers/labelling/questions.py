"""The questions that are put to a model as labeller and generator (the paper's prompts 1 to 3), and their examples."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, create_model

from checkers.draws import canonical
from checkers.labelling.rubric import Rubric, same_label, shown
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
    """The examples of a file of JSON lines, `{"x": datapoint, "y": label, "reasons": [text, ...]}`.

    y and reasons are optional.

    Raises:
        ValueError: it cannot be read, holds anything else, or nothing; names the line.
    """
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
def _for_criteria(count: int) -> type[LabelReply]:
    """The form whose schema demands so many reasons."""
    reasons = Annotated[list[CriterionReason], Field(min_length=count, max_length=count)]
    return create_model("LabelReply", __base__=LabelReply, reasons=(reasons, ...))


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

        zero, one = rubric.labels
        return self._question(
            "label",
            "labelling.label",
            _for_criteria(count),
            {"examples": as_list(labelled), "datapoint": shown(x)},
            {
                "rubric": described(rubric),
                "aggregator": rubric.aggregator.description,
                "labels": f"1 stands for the label {_quoted(one)}, 0 for the label {_quoted(zero)}.",
                "count": str(count),
            },
            under=under,
            complaint=complaint,
            max_tokens=_WORDING_TOKENS * (count + 1),
        )

    def pick(
        self, rubric: Rubric, x: JsonValue, candidates: Sequence[JsonValue], *, under: str | None = None
    ) -> Question[PickReply]:
        """Ask which of `candidates` is like `x`."""
        count = len(candidates)

        def complaint(reply: PickReply) -> str | None:
            return None if 1 <= reply.choice <= count else f"'choice' must be a number from 1 to {count}"

        return self._question(
            "pick",
            "labelling.pick",
            PickReply,
            {"datapoint": shown(x), "candidates": as_list(candidates)},
            {"rubric": described(rubric), "count": str(count)},
            under=under,
            complaint=complaint,
            max_tokens=_WORDING_TOKENS * (len(rubric.criteria) + count),
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

        return self._question(
            "generate",
            "labelling.generate",
            GenerateReply,
            {
                "examples": as_list([_reasoned(one) if one.reasons else one.x for one in examples]),
                "earlier": as_list(earlier),
                "datapoint": shown(x),
            },
            {
                "rubric": described(rubric),
                "label": _quoted(rubric.labels[bit]),
                "form": "the text of yours" if isinstance(x, str) else "a string that holds yours as JSON",
            },
            under=under,
            complaint=complaint,
            # As many again as the datapoint has characters, for escapes and scripts with a token or more for each.
            max_tokens=_WORDING_TOKENS * (len(rubric.criteria) + 1) + 2 * len(shown(x)),
        )


class CriterionJudge:
    """Asks a judge whether criteria hold; about each pair of criterion and datapoint once."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: dict[tuple[str, str], bool] = {}

    async def __call__(self, criterion: str, x: JsonValue) -> bool:
        key = (criterion, canonical(x))
        if key not in self._known:
            claims = Claims(shown(x), (criterion,), ClaimKind.CRITERION)
            ((grade,),) = (await self._judge.grade("labelling.criterion", [claims])).reply
            self._known[key] = grade.supported
        return self._known[key]


def datapoint_of(reply: GenerateReply, x: JsonValue) -> JsonValue:
    """The generated datapoint: the text itself where `x` is a text, else the JSON in it, or a ValueError."""
    datapoint: JsonValue = reply.datapoint if isinstance(x, str) else orjson.loads(reply.datapoint)
    return datapoint


def described(rubric: Rubric) -> str:
    """The datapoints in words, and the criteria as a numbered list; without the aggregator."""
    criteria = [
        f"{number}. {criterion.name}: {rubric.described(criterion)}"
        for number, criterion in enumerate(rubric.criteria, start=1)
    ]
    about = [f"(The datapoints: {' '.join(rubric.about.split())})"] if rubric.about else []
    return "\n".join([*about, *criteria])


def _reasoned(example: Exemplar) -> dict[str, JsonValue]:
    """A datapoint with the reasons for its label, if they are known; they come before the label, as in an answer."""
    reasoned: dict[str, JsonValue] = {"datapoint": example.x}
    if example.reasons:
        reasoned["reasons"] = list(example.reasons)
    return reasoned


def _quoted(label: Label) -> str:
    return json.dumps(str(label), ensure_ascii=False)
