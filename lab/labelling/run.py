"""The No-Data Algorithm over a file (paper, algorithm 1): datapoints run side by side, results come in order."""

import gc
import importlib
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from assay.cli.front_door import CannotRun
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import seed_of
from checkers.labelling.challenges import Verifier
from checkers.labelling.checker import LabellingChecker
from checkers.labelling.evaluators import LLMEvaluator, Strategy
from checkers.labelling.evidence import run_of, unknown_label
from checkers.labelling.problem import play_all
from checkers.labelling.protocol import EvaluatorFailed, Game, LabelEvaluator, Proposal, Turn
from checkers.labelling.settings import LabellingSettings
from checkers.model_patience import ModelPatience
from lab.labelling.datapoints import Datapoint, Datapoints
from lab.labelling.functions import FunctionEvaluator
from lab.labelling.results import DatapointResult
from models.billing import Bill, billed
from models.concurrent import in_order
from models.protocol import Model, ModelFailed

EvaluatorOf = Callable[[Verifier], LabelEvaluator]
"""From the verifier of one game about one datapoint to who plays it."""

_PROBLEM = "corpus"
_WINDOW = 64
_MOST_CORPUS_POOL = 1000
"""Datapoints of the file itself to pick from, if no examples are given."""
_COLLECT_AFTER = (20_000, 20, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """The options of the command line."""

    rubrics: tuple[str, ...]
    """Files, or names of the configuration."""
    evaluator: str = "llm"
    rounds: int | None = None
    phi: float = 0.0
    """The probability to flip the label of a lost game."""
    strategy: Strategy | None = None
    examples: Path | None = None
    seed: int = 0


class CorpusRun:
    """Plays for one datapoint after the other, many at once."""

    def __init__(
        self, options: CorpusOptions, datapoints: Datapoints, configured: Configuration, models: Models
    ) -> None:
        """Read rubrics and examples; nothing is asked.

        Raises:
            CannotRun: something is wrong with them, or with the evaluator.
        """
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
        self._evaluators = self._chosen(datapoints)
        self.rounds = self._checker.settings.rounds
        # More than the models take at once: while one datapoint waits for its judge, another is at the labeller.
        limits = [configured.judge.concurrency, *(one.concurrency for one in configured.subjects.values())]
        self._window = max(_WINDOW, 3 * max(limits) // 2)

    async def over(
        self, datapoints: Iterable[Datapoint], emit: Callable[[DatapointResult], None], patience: ModelPatience
    ) -> None:
        """Give `emit` the result of each, in order, as soon as it and all before it are done.

        Raises:
            ModelLost: a model was away for longer than the patience.
        """

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
            evaluators = map(self._evaluators(datapoint), verifiers)
            return await play_all(datapoint.x, evaluators, verifiers, seed=seed, rounds=self.rounds)

        try:
            games = await patience.until_answered(played)
        except (EvaluatorFailed, ModelFailed) as error:
            return result(cause=error.cause, detail=error.detail)
        flipped = [game.is_flipped(self._options.phi) for game in games]
        return result(
            label=self.problem.label([game.bit ^ flip for game, flip in zip(games, flipped, strict=True)]),
            succeeded=all(game.succeeded for game in games),
            unfounded=any(game.unfounded for game in games),
            flipped=any(flipped),
            runs=tuple(run_of(rubric, game) for rubric, game in zip(self.problem.rubrics, games, strict=True)),
        )

    def _chosen(self, datapoints: Datapoints) -> Callable[[Datapoint], EvaluatorOf]:
        kind, _, target = self._options.evaluator.partition(":")
        if kind == "call" and ":" in target:
            if len(self.problem.rubrics) != 1:
                raise CannotRun(f"call:{target}: it tells two labels apart; give one rubric")
            evaluator = _called(target)
            return lambda _: lambda _: evaluator
        if kind != "llm":
            raise CannotRun(f"{self._options.evaluator!r} is no evaluator; allowed are llm:SUBJECT or call:MODULE:NAME")
        subjects = self._subjects
        names = ", ".join(subjects) or "none"
        if target and target not in subjects:
            raise CannotRun(f"--evaluator llm:{target}: there is no such subject; configured are: {names}")
        if not target and datapoints.unnamed and len(subjects) != 1:
            raise CannotRun(f"--evaluator is needed: the file names no model, and the subjects configured are: {names}")
        pool = [one.x for one in self.problem.examples]
        if self._strategy == "pick" and not pool:
            pool = [one.x for one in islice(datapoints, _MOST_CORPUS_POOL)]
        only = target or (next(iter(subjects)) if len(subjects) == 1 else "")

        def evaluators(datapoint: Datapoint) -> EvaluatorOf:
            name = only if target or datapoint.model is None else datapoint.model
            subject = subjects.get(name)
            return lambda verifier: (
                self._asked(subject, verifier, pool, datapoint.prompt) if subject else _NoSubject(name)
            )

        return evaluators

    def _asked(self, subject: Model, verifier: Verifier, pool: list[JsonValue], under: str | None) -> LabelEvaluator:
        shown, prompts = self.problem.examples, self._checker.prompts
        return LLMEvaluator(subject, verifier, prompts, strategy=self._strategy, examples=shown, pool=pool, under=under)


def _called(target: str) -> LabelEvaluator:
    """The evaluator `MODULE:NAME`: an object with `propose`, or a callable from x to x' and 0 or 1."""
    module, _, name = target.partition(":")
    # As `python -m` has it: a module beside the data is what people write.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except Exception as error:
        # A stranger's module may raise anything, and a name of none is a ValueError.
        raise CannotRun(f"call:{target}: {type(error).__name__}: {error}") from error
    if hasattr(found, "propose"):
        return cast("LabelEvaluator", found)
    if callable(found):
        return FunctionEvaluator(f"call:{target}", found)
    raise CannotRun(f"call:{target}: {type(found).__name__} is no evaluator and cannot be called")


def rest_collector() -> None:
    """Keep the garbage collector from the program itself, and from looking at short-lived objects again and again.

    Hundreds of questions are under way at once. Walking all their objects, and those of the imported packages, held up
    answers that were there already: a tenth of the time of a run against a fast endpoint.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


@dataclass(frozen=True, slots=True)
class _NoSubject:
    name: str

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        raise EvaluatorFailed("no_subject", f"no subject {self.name!r} is configured in subjects")


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
    return settings.model_copy(
        update={
            "rubrics": {_PROBLEM: paths},
            "examples": {_PROBLEM: options.examples} if options.examples else {},
            "strategy": options.strategy or settings.strategy,
            "rounds": options.rounds or settings.rounds,
        }
    )
