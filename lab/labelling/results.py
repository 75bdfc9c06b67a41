"""The result of each datapoint, as a line of the output, and the figures over all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from checkers.intervals import wilson
from checkers.labelling.protocol import lie_bound, paper_lie_bound
from checkers.labelling.values import same_label, shown
from checkers.wording import plain
from lab.kept_answers import usage_lines
from schemas import LabellingRun, Usage
from schemas.evidence import AbstentionCause, Label


class DatapointResult(BaseModel):
    """The result of one datapoint: a line of the output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    """Its place in the file, from 1."""
    x: JsonValue
    y: Label | None
    """Its label in the file."""
    label: Label | None = None
    """The last y', flipped if that was drawn; null if the protocol could not be run."""
    succeeded: bool | None = None
    unfounded: bool = False
    """True if the labeller's reasons are wrong, or do not make the label, though every challenge was passed."""
    flipped: bool = False
    seed: str
    runs: tuple[LabellingRun, ...] = ()
    cause: AbstentionCause | None = None
    """Why there is no label."""
    detail: str | None = None
    usage: Usage = Usage()


class LabellingTally:
    """Adds results up."""

    def __init__(self, labels: Sequence[Label], *, rounds: int, phi: float) -> None:
        """`labels` are all there are, F1 is of the first of two."""
        self._labels = labels
        self._rounds = rounds
        self._phi = phi
        self.datapoints = 0
        self.successes = self.unfounded = 0
        """Datapoints whose every challenge was passed; those of them whose reasons or label are not the rubric's."""
        self._flips = self._right = self._compared = 0
        self._given: Counter[str] = Counter()
        self._causes: Counter[str] = Counter()
        self._details: dict[str, str] = {}
        """The first of each cause."""
        self._matches: Counter[tuple[bool, bool]] = Counter()
        self._usage = Usage()

    @property
    def decided(self) -> int:
        """Datapoints with a label."""
        return self.datapoints - sum(self._causes.values())

    def add(self, result: DatapointResult) -> None:
        self.datapoints += 1
        self._usage += result.usage
        if result.cause is not None or result.label is None:
            cause = result.cause or "none"
            self._causes[cause] += 1
            self._details.setdefault(cause, result.detail or "")
            return
        self.successes += bool(result.succeeded)
        self.unfounded += result.unfounded
        self._flips += result.flipped
        self._given[shown(result.label)] += 1
        if result.y is not None:
            self._compared += 1
            self._right += same_label(result.y, result.label)
            first = self._labels[0]
            self._matches[same_label(result.y, first), same_label(result.label, first)] += 1

    def summary(self) -> dict[str, Any]:
        """All figures; shares are 0 to 1, null if nothing was counted."""
        low, high = wilson(self.successes, self.decided)
        true_positive = self._matches[True, True]
        misses = self._matches[True, False] + self._matches[False, True]
        f1 = 2 * true_positive / (2 * true_positive + misses) if true_positive + misses else None
        return {
            "datapoints": self.datapoints,
            "decided": self.decided,
            "abstained": dict(self._causes),
            "successes": self.successes,
            "success_rate": _share(self.successes, self.decided),
            "success_interval": [low, high] if self.decided else None,
            "unfounded": self.unfounded,
            "flips": self._flips,
            "flip_rate": _share(self._flips, self.decided),
            "phi": self._phi,
            "rounds": self._rounds,
            "error_bound": lie_bound(self._rounds),
            "paper_error_bound": paper_lie_bound(self._rounds),
            "labels": {shown(label): self._given[shown(label)] for label in self._labels},
            "compared_with_y": self._compared,
            "accuracy": _share(self._right, self._compared),
            "f1": f1 if len(self._labels) == 2 and self._compared else None,
            "usage": self._usage.model_dump(),
        }

    def lines(self) -> Iterator[str]:
        """The figures as a table for a person."""
        found = self.summary()
        yield f"datapoints  {found['datapoints']:>8}"
        for cause, count in sorted(self._causes.items()):
            yield f"  abstained {count:>8}   {cause}: {plain(self._details[cause])}"
        if not self.decided:
            yield "nothing could be decided"
            return
        low, high = found["success_interval"]
        yield f"successes   {self.successes:>8}   {found['success_rate']:7.1%}   95% interval {low:.1%} to {high:.1%}"
        if self.unfounded:
            share = self.unfounded / self.decided
            yield f"  unfounded {self.unfounded:>8}   {share:7.1%}   of these: reasons or label are not the rubric's"
        yield f"flips       {self._flips:>8}   {found['flip_rate']:7.1%}   phi {self._phi:g}"
        for label, count in found["labels"].items():
            yield f"label {label:<6.20}{count:>8}   {count / self.decided:7.1%}"
        if self._compared:
            f1 = "" if found["f1"] is None else f"   F1 {found['f1']:.1%}"
            yield f"right by y  {self._right:>8}   {found['accuracy']:7.1%}{f1}"
        bound, paper = found["error_bound"], found["paper_error_bound"]
        yield f"a lie stays undetected with probability {bound:.2%} at most (the paper: {paper:.2%})"
        yield from usage_lines(self._usage)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
