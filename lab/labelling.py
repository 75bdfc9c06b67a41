"""The No-Data Algorithm over a file (paper, algorithm 1): trust in a labeller, without reference labels."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model

from assay.cli.common import CannotRun
from assay.config import Configuration
from checkers.checker import Models, Undecidable
from checkers.draws import seed_of, uniform
from checkers.intervals import wilson
from checkers.labelling import PLUGIN
from checkers.labelling.checker import LabellingChecker, LabellingSettings
from checkers.labelling.evaluators import LLMEvaluator
from checkers.labelling.protocol import Game, lie_bound, paper_lie_bound, play_all
from checkers.labelling.rubric import same_label, shown
from checkers.lines import read_forms
from checkers.model_patience import ModelPatience
from checkers.wording import plain
from lab.report import Report, listing
from lab.runs import Run, subject_name
from models.protocol import ModelFailed
from models.work import Work
from schemas import Usage
from schemas.evidence import AbstentionCause, Label, LabellingRun

_PROBLEM = "corpus"
_MOST_POOL = 1000  # datapoints of the file itself to pick from, if no examples are given


class _Line(BaseModel):
    x: JsonValue
    y: Label | None


class Datapoint(NamedTuple):
    """One line of the file: its number from 1, the datapoint and its label, which no evaluator is shown."""

    number: int
    x: JsonValue
    y: Label | None


def read_datapoints(path: Path, x: str = "x", y: str = "y") -> list[Datapoint]:
    """The datapoints of a file; `x` and `y` are field names."""
    given, label = Field(validation_alias=x), Field(None, validation_alias=y)
    form = create_model("Line", __base__=_Line, x=(JsonValue, given), y=(Label | None, label))
    lines = read_forms(form, path, "datapoint (see --x and --y)", fault=CannotRun)
    return [Datapoint(number, one.x, one.y) for number, one in enumerate(lines, start=1)]


class DatapointResult(BaseModel):
    """The result of one datapoint: a line of the output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    x: JsonValue
    y: Label | None
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


class CorpusRun(Run[Datapoint, DatapointResult]):
    """Plays for one datapoint after the other, many at once."""

    things, plugin = "datapoints", PLUGIN

    def __init__(
        self,
        datapoints: Sequence[Datapoint],
        configured: Configuration,
        models: Models,
        *,
        rubrics: Sequence[str],
        evaluator: str = "",
        phi: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Read rubrics, by file or by name, and examples; nothing is asked.

        `evaluator` is the name of a subject, or empty; `phi` the probability to flip the label of a lost game.
        """
        self.items = datapoints
        self._phi = phi
        self._seed = seed
        try:
            settings = _settings(rubrics, configured)
            self._checker = LabellingChecker(settings.model_copy(update={"strategy": "generate"}), models)
        except ValueError as error:
            # Rubrics, examples and templates say in full what is wrong with them.
            raise CannotRun(str(error)) from error
        self._problem = self._checker.problems[_PROBLEM]
        if any(one.plain for one in self._problem.rubrics) and configured.judge.backend == "local":
            raise CannotRun(
                "the rubric has criteria in plain language, which the local judge cannot answer; "
                "configure an endpoint: judge.backend = 'openai'"
            )
        self._subject = models.subjects[subject_name(configured, evaluator, "--evaluator")]
        self.asked = [self._subject]
        is_picked = settings.strategy == "pick"
        self._pool = [one.x for one in self._problem.examples or datapoints[:_MOST_POOL]] if is_picked else []

    async def result(self, item: Datapoint, patience: ModelPatience) -> DatapointResult:
        seed = seed_of(self._seed, item.number)
        found: dict[str, Any] = {}
        with Work() as bill:
            try:
                if item.y is not None:
                    self._problem.require(item.y, ", ".join(one.name for one in self._problem.rubrics))
                found = self._outcome(await patience.until_answered(lambda: self._games(item, seed)))
            except (Undecidable, ModelFailed) as error:
                found = {"cause": error.cause, "detail": error.detail}
            return DatapointResult(number=item.number, x=item.x, y=item.y, seed=seed, usage=bill.usage, **found)

    async def _games(self, item: Datapoint, seed: str) -> list[Game]:
        verifiers = self._problem.verifiers(self._checker.judge)
        examples, prompts = self._problem.examples, self._checker.prompts
        evaluators = [
            LLMEvaluator(self._subject, one, prompts, examples=examples, pool=self._pool).propose for one in verifiers
        ]
        return await play_all(item.x, evaluators, verifiers, seed=seed, rounds=self._checker.settings.rounds)

    def _outcome(self, games: Sequence[Game]) -> dict[str, Any]:
        flipped = [is_flipped(game, self._phi) for game in games]
        return {
            "label": self._problem.label([game.bit ^ flip for game, flip in zip(games, flipped, strict=True)]),
            "succeeded": all(game.succeeded for game in games),
            "unfounded": any(game.unfounded for game in games),
            "flipped": any(flipped),
            "runs": tuple(game.run for game in games),
        }

    def figures(self, results: Sequence[DatapointResult]) -> Report:
        return report(results, self._problem.labels, rounds=self._checker.settings.rounds, phi=self._phi)


def _settings(rubrics: Sequence[str], configured: Configuration) -> LabellingSettings:
    """The settings of the configuration, overridden by the command line's."""
    section = configured.checkers.get("labelling")
    settings = section if isinstance(section, LabellingSettings) else LabellingSettings()
    paths: list[Path] = []
    for one in rubrics:
        known = settings.rubrics.get(one)
        if known is None and not Path(one).is_file():
            names = ", ".join(settings.rubrics) or "none"
            raise CannotRun(f"rubric {one!r}: no such file, nor a name in labelling.rubrics (there: {names})")
        paths.extend([Path(one)] if known is None else [known] if isinstance(known, Path) else known)
    examples = [file for name, file in settings.examples.items() if name in rubrics]
    shown = {_PROBLEM: examples[0]} if examples else {}
    return settings.model_copy(update={"rubrics": {_PROBLEM: paths}, "examples": shown})


_HALF = 0.5  # of the datapoints; a guesser that keeps most criteria by chance comes near it
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


def report(results: Sequence[DatapointResult], labels: Sequence[Label], *, rounds: int, phi: float) -> Report:
    """All figures, and what they come to; shares are 0 to 1, null if nothing was counted.

    `labels` are all there are, F1 is of the first of two.
    """
    decided = [one for one in results if one.label is not None]
    successes, flips = sum(bool(one.succeeded) for one in decided), sum(one.flipped for one in decided)
    given = Counter(shown(one.label) for one in decided)
    compared = [(one.y, one.label) for one in decided if one.y is not None and one.label is not None]
    right = sum(same_label(y, label) for y, label in compared)
    matches = Counter((same_label(y, labels[0]), same_label(label, labels[0])) for y, label in compared)
    halves = 2 * matches[True, True] + matches[True, False] + matches[False, True]
    figures = {
        "datapoints": len(results),
        "decided": len(decided),
        "abstained": dict(Counter(one.cause for one in results if one.cause is not None)),
        "why": {one.cause: plain(one.detail or "") for one in results[::-1] if one.cause is not None},
        "successes": successes,
        "success_rate": _share(successes, len(decided)),
        "success_interval": list(wilson(successes, len(decided))) if decided else None,
        "unfounded": sum(one.unfounded for one in decided),
        "flips": flips,
        "flip_rate": _share(flips, len(decided)),
        "phi": phi,
        "rounds": rounds,
        "error_bound": lie_bound(rounds),
        "paper_error_bound": paper_lie_bound(rounds),
        "labels": {shown(label): given[shown(label)] for label in labels},
        "compared_with_y": len(compared),
        "accuracy": _share(right, len(compared)),
        "f1": _share(2 * matches[True, True], halves) if len(labels) == 2 else None,
        "usage": sum((one.usage for one in results), Usage()).model_dump(),
    }
    verdict = _verdict(results)
    return Report(figures | {"verdict": verdict}, [*listing(figures), verdict])


def _verdict(results: Sequence[DatapointResult]) -> str:
    """Whether the labeller is to be trusted, in a sentence or two, by the interval of what passed for good reasons.

    That a labeller cannot follow the form of the questions says nothing of its trust.
    """
    decided = [one for one in results if one.label is not None]
    lost = [one for one in results if one.cause in _NOT_FOLLOWED]
    unread = f"; {len(lost)} of {len(results)} could not be tested, as its answers are not of the form"
    if not decided:
        return (
            f"cannot follow the form, which says nothing of its trust{unread}" if lost else "nothing could be decided"
        )
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
