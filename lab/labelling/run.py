"""The No-Data Algorithm over a file (paper, algorithm 1): datapoints run side by side, results come in order."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import JsonValue

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from checkers.checker import Models, Undecidable
from checkers.draws import seed_of
from checkers.labelling.checker import LabellingChecker, LabellingSettings
from checkers.labelling.evaluators import LLMEvaluator
from checkers.labelling.evidence import run_of, unknown_label
from checkers.labelling.protocol import Game, LabelEvaluator, Verifier, play_all
from checkers.lines import numbered_lines
from checkers.model_patience import ModelPatience
from lab.kept_answers import kept_run
from lab.labelling.results import DatapointResult, LabellingTally, is_flipped
from models.billing import Bill, billed
from models.concurrent import in_order
from models.protocol import ModelFailed
from schemas.evidence import Label

_PROBLEM = "corpus"
_WINDOW = 64
_MOST_POOL = 1000
"""Datapoints of the file itself to pick from, if no examples are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Datapoint:
    """One line of the file."""

    number: int
    """From 1, blank lines not counted."""
    x: JsonValue
    y: Label | None
    """Its label in the file; never shown to an evaluator."""
    model: str | None
    """The labeller, in a record."""
    prompt: str | None = None
    """The application's words to the labeller, in a record."""


def read_datapoints(path: Path, x: str = "x", y: str = "y") -> list[Datapoint]:
    """The datapoints of a file; `x` and `y` are field names."""
    found: list[Datapoint] = []
    faults: list[str] = []
    for place, line in numbered_lines(path, CannotRun):
        try:
            found.append(_datapoint(len(found) + 1, line, x, y))
        except orjson.JSONDecodeError as error:
            faults.append(f"{path}:{place}: not JSON: {error}")
        except ValueError as error:
            faults.append(f"{path}:{place}: {error}")
    if faults:
        raise CannotRun("\n".join(faults))
    if not found:
        raise CannotRun(f"{path}: holds no datapoint")
    return found


def _datapoint(number: int, line: bytes, x: str, y: str) -> Datapoint:
    document = orjson.loads(line)
    if not isinstance(document, dict):
        raise CannotRun(f"expected an object, got {type(document).__name__}")
    record = document.get("kind") == "labelling"
    if record:
        x, y = ("datapoint" if x == "x" else x), ("label" if y == "y" else y)
    if x not in document:
        names = ", ".join(repr(name) for name in list(document)[:8]) or "none"
        raise CannotRun(f"there is no field {x!r}; it has {names} (see --x)")
    label = document.get(y)
    if not isinstance(label, bool | int | str | None):
        raise CannotRun(f"{y!r} is {type(label).__name__}; a label is a whole number, a truth value or a text")
    model, prompt = (document.get(name) if record else None for name in ("model", "prompt"))
    return Datapoint(
        number=number,
        x=document[x],
        y=label,
        model=model if isinstance(model, str) else None,
        prompt=prompt if isinstance(prompt, str) else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """The options of the command line."""

    rubrics: tuple[str, ...]
    """Files, or names of the configuration."""
    evaluator: str = ""
    """A subject's name; without one the model that a record names, or the only subject."""
    phi: float = 0.0
    """The probability to flip the label of a lost game."""
    seed: int = 0


class CorpusRun:
    """Plays for one datapoint after the other, many at once."""

    def __init__(
        self, options: CorpusOptions, datapoints: Sequence[Datapoint], configured: Configuration, models: Models
    ) -> None:
        """Read rubrics and examples; nothing is asked."""
        self._options = options
        self._subjects = models.subjects
        try:
            settings = _settings(options, configured)
            self._checker = LabellingChecker(settings.model_copy(update={"strategy": "generate"}), models)
        except ValueError as error:
            # Rubrics, examples and templates say in full what is wrong with them.
            raise CannotRun(str(error)) from error
        self._strategy = settings.strategy
        self.problem = self._checker.problems[_PROBLEM]
        if self.problem.plain and configured.judge.backend == "local":
            raise CannotRun(
                "the rubric has criteria in plain language, which the local judge cannot answer; "
                "configure an endpoint: judge.backend = 'openai'"
            )
        self._evaluator = self._chosen(datapoints)
        self.rounds = self._checker.settings.rounds
        # More than the models take at once: while one datapoint waits for its judge, another is at the labeller.
        limits = [configured.judge.concurrency, *(one.concurrency for one in configured.subjects.values())]
        self._window = max(_WINDOW, 3 * max(limits) // 2)

    async def over(
        self, datapoints: Iterable[Datapoint], emit: Callable[[DatapointResult], None], patience: ModelPatience
    ) -> None:
        """Give `emit` the result of each, in order, as soon as it and all before it are done."""

        async def each() -> AsyncIterator[Datapoint]:
            for datapoint in datapoints:
                yield datapoint

        async def result(datapoint: Datapoint) -> DatapointResult:
            with billed() as bill:
                return await self._result(datapoint, bill, patience)

        await in_order(each(), result, emit, window=self._window)

    async def _result(self, datapoint: Datapoint, bill: Bill, patience: ModelPatience) -> DatapointResult:
        seed = seed_of(self._options.seed, datapoint.number)

        def result(**found: object) -> DatapointResult:
            given = {"number": datapoint.number, "x": datapoint.x, "y": datapoint.y, "seed": seed}
            return DatapointResult.model_validate({**given, **found, "usage": bill.usage})

        if datapoint.y is not None and not self.problem.knows(datapoint.y):
            rubric = ", ".join(one.name for one in self.problem.rubrics)
            return result(cause="unknown_label", detail=unknown_label(rubric, datapoint.y, self.problem))

        async def played() -> tuple[Game, ...]:
            verifiers = self._checker.verifiers(self.problem)
            evaluators = [self._evaluator(datapoint, verifier) for verifier in verifiers]
            return await play_all(datapoint.x, evaluators, verifiers, seed=seed, rounds=self.rounds)

        try:
            games = await patience.until_answered(played)
        except (Undecidable, ModelFailed) as error:
            return result(cause=error.cause, detail=error.detail)
        flipped = [is_flipped(game, self._options.phi) for game in games]
        return result(
            label=self.problem.label([game.bit ^ flip for game, flip in zip(games, flipped, strict=True)]),
            succeeded=all(game.succeeded for game in games),
            unfounded=any(game.unfounded for game in games),
            flipped=any(flipped),
            runs=tuple(run_of(rubric, game) for rubric, game in zip(self.problem.rubrics, games, strict=True)),
        )

    def _chosen(self, datapoints: Sequence[Datapoint]) -> Callable[[Datapoint, Verifier], LabelEvaluator]:
        """Who plays about a datapoint; raises Undecidable where its model is no subject."""
        target = self._options.evaluator
        subjects = self._subjects
        names = ", ".join(subjects) or "none"
        if target and target not in subjects:
            raise CannotRun(f"--evaluator {target}: there is no such subject; configured are: {names}")
        if not target and len(subjects) != 1 and any(one.model is None for one in datapoints):
            raise CannotRun(f"--evaluator is needed: the file names no model, and the subjects configured are: {names}")
        pool = [one.x for one in self.problem.examples]
        if self._strategy == "pick" and not pool:
            pool = [one.x for one in datapoints[:_MOST_POOL]]
        only = target or (next(iter(subjects)) if len(subjects) == 1 else "")

        def asked(datapoint: Datapoint, verifier: Verifier) -> LabelEvaluator:
            name = only if target or datapoint.model is None else datapoint.model
            if name not in subjects:
                raise Undecidable("no_subject", f"no subject {name!r} is configured in subjects")
            return LLMEvaluator(
                subjects[name],
                verifier,
                self._checker.prompts,
                strategy=self._strategy,
                examples=self.problem.examples,
                pool=pool,
                under=datapoint.prompt,
            )

        return asked


async def trust(
    configured: Configuration, options: CorpusOptions, datapoints: Sequence[Datapoint], out: Path | None
) -> LabellingTally:
    """The figures over all datapoints; with `out` a line a datapoint goes there, and the run is resumable."""
    async with models_of(configured) as models:
        with kept_run(out, models) as (kept, results), progress(len(datapoints)) as shown:
            run = CorpusRun(options, datapoints, configured, kept)

            def emit(result: DatapointResult) -> None:
                results.append(result)
                shown.at(len(results), f"{len(results)} datapoints")

            await run.over(datapoints, emit, ModelPatience(shown.say))
    return LabellingTally(results, run.problem.labels, rounds=run.rounds, phi=options.phi)


def _settings(options: CorpusOptions, configured: Configuration) -> LabellingSettings:
    """The settings of the configuration, overridden by the command line's."""
    section = configured.checkers.get("labelling")
    settings = section if isinstance(section, LabellingSettings) else LabellingSettings()
    paths: list[Path] = []
    for one in options.rubrics:
        known = settings.rubrics.get(one)
        if known is None and not Path(one).is_file():
            names = ", ".join(settings.rubrics) or "none"
            raise CannotRun(f"rubric {one!r}: no such file, nor a name in labelling.rubrics (there: {names})")
        paths.extend([Path(one)] if known is None else [known] if isinstance(known, Path) else known)
    examples = [file for name, file in settings.examples.items() if name in options.rubrics]
    shown = {_PROBLEM: examples[0]} if examples else {}
    return settings.model_copy(update={"rubrics": {_PROBLEM: paths}, "examples": shown})
