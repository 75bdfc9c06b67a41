"""The result of each datapoint, as a line of the output, and the figures over all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from checkers.draws import uniform
from checkers.intervals import wilson
from checkers.labelling.protocol import Game, lie_bound, paper_lie_bound
from checkers.labelling.rubric import same_label, shown
from checkers.wording import plain
from lab.report import listing
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


_HALF = 0.5
"""Of the datapoints; a guesser that keeps most criteria by chance comes near it."""
_NOTHING = "nothing could be decided"
_NOT_FOLLOWED = ("subject_unusable", "subject_cut_off")
_FAULTS = {
    "echo": "copies of x",
    "other_encoding": "with other criteria than x",
    "unmatched_part": "with a part unlike any of x",
}


def is_flipped(game: Game, phi: float) -> bool:
    """True if the label is to be flipped: with probability `phi` if the game was lost (paper, algorithm 1).

    The values that the paper prints are probabilities to keep.
    """
    return not game.succeeded and uniform(game.seed, "flip") < phi


class LabellingTally:
    """Adds results up."""

    def __init__(self, results: Sequence[DatapointResult], labels: Sequence[Label], *, rounds: int, phi: float) -> None:
        """`labels` are all there are, F1 is of the first of two."""
        self._results = results
        self._labels = labels
        self._rounds = rounds
        self._phi = phi

    def summary(self) -> dict[str, Any]:
        """All figures; shares are 0 to 1, null if nothing was counted."""
        decided = [one for one in self._results if one.label is not None]
        successes, flips = sum(bool(one.succeeded) for one in decided), sum(one.flipped for one in decided)
        given = Counter(shown(one.label) for one in decided)
        compared = [(one.y, one.label) for one in decided if one.y is not None and one.label is not None]
        right = sum(same_label(y, label) for y, label in compared)
        first = self._labels[0]
        matches = Counter((same_label(y, first), same_label(label, first)) for y, label in compared)
        halves = 2 * matches[True, True] + matches[True, False] + matches[False, True]
        return {
            "datapoints": len(self._results),
            "decided": len(decided),
            "abstained": dict(Counter(one.cause for one in self._results if one.cause is not None)),
            "why": {one.cause: plain(one.detail or "") for one in self._results[::-1] if one.cause is not None},
            "successes": successes,
            "success_rate": _share(successes, len(decided)),
            "success_interval": list(wilson(successes, len(decided))) if decided else None,
            "unfounded": sum(one.unfounded for one in decided),
            "flips": flips,
            "flip_rate": _share(flips, len(decided)),
            "phi": self._phi,
            "rounds": self._rounds,
            "error_bound": lie_bound(self._rounds),
            "paper_error_bound": paper_lie_bound(self._rounds),
            "labels": {shown(label): given[shown(label)] for label in self._labels},
            "compared_with_y": len(compared),
            "accuracy": _share(right, len(compared)),
            "f1": _share(2 * matches[True, True], halves) if len(self._labels) == 2 else None,
            "verdict": self.verdict(),
            "usage": sum((one.usage for one in self._results), Usage()).model_dump(),
        }

    def lines(self) -> Iterator[str]:
        """The figures for a person, and what they come to."""
        summary = self.summary()
        yield from listing({name: value for name, value in summary.items() if name != "verdict"})
        yield str(summary["verdict"])

    def verdict(self) -> str:
        """Whether the labeller is to be trusted, in a sentence or two, by the interval of what passed for good reasons.

        That a labeller cannot follow the form of the questions says nothing of its trust.
        """
        decided = [one for one in self._results if one.label is not None]
        lost = [one for one in self._results if one.cause in _NOT_FOLLOWED]
        unread = f"; {len(lost)} of {len(self._results)} could not be tested, as its answers are not of the form"
        if not decided:
            return f"cannot follow the form, which says nothing of its trust{unread}" if lost else _NOTHING
        sound = sum(bool(one.succeeded) and not one.unfounded for one in decided)
        low, high = wilson(sound, len(decided))
        word = "trusted" if low > _HALF else "not trusted" if high < _HALF else "neither trusted nor distrusted yet"
        faults = Counter(run.rounds[-1].fault for one in decided for run in one.runs if not run.succeeded)
        told = [f"{count} {_FAULTS[fault]}" for fault, count in faults.most_common() if fault]
        if wrong := sum(one.unfounded for one in decided):
            told.append(f"{wrong} passed for wrong reasons")
        said = f"{word}: {sound} of {len(decided)}" + (f", {', '.join(told)}" if told else "")
        if any(run.holds is None for one in decided for run in one.runs):
            said += "; without reasons labels are not tested: x' alone decides, and a guesser may keep the criteria"
        return said + (unread if lost else "")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
