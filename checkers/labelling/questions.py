"""The questions that are put to a model as labeller and generator (the paper's prompts 1 to 3)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from checkers.labelling.examples import Exemplar
from checkers.labelling.rubric import Rubric
from checkers.labelling.values import same_label, shown
from checkers.oracle.prompts import Placeholders, Template, Templates, as_list
from checkers.oracle.protocol import Question
from schemas.evidence import Label

_PACKAGE = "checkers.labelling.prompts"

CRITERION = "criterion"

_PLACEHOLDERS = {
    "label": Placeholders(
        ("examples", "datapoint"), ("rubric", "aggregator", "labels", "count"), ("examples", "count")
    ),
    "pick": Placeholders(("datapoint", "candidates"), ("rubric", "count"), ("count",)),
    "generate": Placeholders(("examples", "earlier", "datapoint"), ("rubric", "label", "form"), ("examples", "form")),
    CRITERION: Placeholders(("datapoint",), ("criterion",)),
}


class CriterionReason(BaseModel):
    """What the labeller says about one criterion."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: int
    """Its number in the rubric, from 1."""
    reason: str
    holds: bool


class LabelReply(BaseModel):
    """A label with reasons."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasons: list[CriterionReason]
    label: str


class PickReply(BaseModel):
    """The datapoint that matches, out of those shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    choice: int
    """Its number, from 1."""


class GenerateReply(BaseModel):
    """A datapoint of the labeller's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    datapoint: str
    """The text, or the JSON of a datapoint that is none."""


class LabellingPrompts:
    """Renders questions; `own` replaces built-in templates by name.

    `under` is the prompt of the application that the labeller works for.

    Raises:
        ValueError: a name in `own` that no template has, or (as TemplateError) an unusable template.
    """

    def __init__(self, own: Mapping[str, Path] | None = None) -> None:
        self._templates = Templates(_PACKAGE, _PLACEHOLDERS, own)

    @property
    def criterion(self) -> Template:
        """What a judge is asked about a criterion in plain language."""
        return self._templates[CRITERION]

    @property
    def versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return self._templates.versions

    def label(
        self, rubric: Rubric, x: JsonValue, examples: Sequence[Exemplar], *, under: str | None = None
    ) -> Question[LabelReply]:
        """What label `x` has, and why; the one question that shows the aggregator."""
        template = self._templates["label"]
        count = len(rubric.criteria)
        labelled = [_reasoned(one) | {"label": one.label} for one in examples if one.label is not None]

        def complaint(reply: LabelReply) -> str | None:
            if [one.criterion for one in reply.reasons] != list(range(1, count + 1)):
                return f"'reasons' must have one entry for each of the {count} criteria, numbered 1 to {count} in order"
            if not any(same_label(reply.label, label) for label in rubric.labels):
                return f"'label' must be one of {as_list([str(label) for label in rubric.labels])}"
            return None

        zero, one = rubric.labels
        return Question(
            task="labelling.label",
            prompt_version=template.version,
            messages=template.render(
                {"examples": as_list(labelled), "datapoint": shown(x)},
                {
                    "rubric": described(rubric),
                    "aggregator": rubric.aggregator.description,
                    "labels": f"1 stands for the label {_quoted(one)}, 0 for the label {_quoted(zero)}.",
                    "count": str(count),
                },
                under=under,
            ),
            reply=LabelReply,
            complaint=complaint,
        )

    def pick(
        self, rubric: Rubric, x: JsonValue, candidates: Sequence[JsonValue], *, under: str | None = None
    ) -> Question[PickReply]:
        """Which of `candidates` is like `x`."""
        template = self._templates["pick"]
        count = len(candidates)

        def complaint(reply: PickReply) -> str | None:
            return None if 1 <= reply.choice <= count else f"'choice' must be a number from 1 to {count}"

        return Question(
            task="labelling.pick",
            prompt_version=template.version,
            messages=template.render(
                {"datapoint": shown(x), "candidates": as_list(candidates)},
                {"rubric": described(rubric), "count": str(count)},
                under=under,
            ),
            reply=PickReply,
            complaint=complaint,
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
        """A datapoint like `x`, none of `earlier`."""
        template = self._templates["generate"]

        def complaint(reply: GenerateReply) -> str | None:
            try:
                datapoint_of(reply, x)
            except ValueError as error:
                return f"'datapoint' must be a string that holds JSON, as the datapoint is no text: {error}"
            return None

        return Question(
            task="labelling.generate",
            prompt_version=template.version,
            messages=template.render(
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
            ),
            reply=GenerateReply,
            complaint=complaint,
        )


def datapoint_of(reply: GenerateReply, x: JsonValue) -> JsonValue:
    """The generated datapoint: the text itself where `x` is a text, else the JSON in it.

    Raises:
        ValueError: it is no JSON, or nested too deeply.
    """
    if isinstance(x, str):
        return reply.datapoint
    try:
        datapoint: JsonValue = json.loads(reply.datapoint, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return datapoint


def described(rubric: Rubric) -> str:
    """What the datapoints are, and the criteria as a numbered list; without the aggregator."""
    criteria = [
        f"{number}. {criterion.name}: {criterion.description}"
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


def _no_constant(literal: str) -> None:
    raise ValueError(f"{literal} is not a JSON number")


def _quoted(label: Label) -> str:
    return json.dumps(str(label), ensure_ascii=False)
