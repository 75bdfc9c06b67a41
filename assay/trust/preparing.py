"""From what the command line says to a run: everything that can be wrong is found before the first question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from assay.trust.datapoints import Datapoint, Datapoints, Fields, Survey
from assay.trust.evaluators import Players, Spec, called, models, tree
from assay.trust.run import Rules, Table
from checkers.checker import Models
from checkers.labelling.challenges import Mode, Verifier
from checkers.labelling.distance import DISTANCES
from checkers.labelling.evaluators.llm import Strategy
from checkers.labelling.evaluators.search import Lie
from checkers.labelling.examples import load_examples
from checkers.labelling.kary import Problem, load_problem
from checkers.labelling.protocol import Evaluator, EvaluatorFailed, Proposal, Turn
from checkers.labelling.questions import Example, Questions
from checkers.labelling.settings import LabellingSettings
from checkers.oracle.protocol import Oracle
from schemas import digest

if TYPE_CHECKING:
    from assay.config import Configuration

_WINDOW = 64
_MOST_CORPUS_POOL = 1000
"""Datapoints of the file itself to pick from, where no examples are given."""


PlayersOf = Callable[[Datapoint], tuple[Players, Oracle]]
"""The players for a datapoint, and the model that their questions go to."""


class CannotRun(ValueError):
    """What is asked for cannot be run: says what, and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line says."""

    file: Path
    rubrics: tuple[str, ...]
    evaluator: str | None = None
    x: str = "x"
    y: str = "y"
    rounds: int | None = None
    phi: float = 0.0
    strategy: str | None = None
    examples: Path | None = None
    seed: int = 0
    mode: str = "protocol"
    generates_by: str | None = None
    lie: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A run that can begin."""

    table: Table
    rules: Rules
    datapoints: Datapoints
    survey: Survey
    window: int
    identity: str
    """Digest of all that bears on the results."""


def prepare(options: Options, loaded: "Configuration", available: Models) -> Prepared:
    """Read rubrics, examples and the file.

    Raises:
        CannotRun: something is wrong with what the user gave.
    """
    try:
        return _Preparing(options, loaded, available).prepared()
    except CannotRun:
        raise
    except ValueError as error:
        # Rubrics, examples, templates, datapoints and evaluators all say what is wrong with them in full.
        raise CannotRun(str(error)) from error


class _Preparing:
    def __init__(self, options: Options, loaded: "Configuration", available: Models) -> None:
        self._options = options
        self._loaded = loaded
        self._models = available
        section = loaded.checkers.get("labelling")
        self._settings = section if isinstance(section, LabellingSettings) else LabellingSettings()

    def prepared(self) -> Prepared:
        options, settings = self._options, self._settings
        problem = self._problem(options.rubrics)
        questions = Questions(settings.prompts)
        spec = Spec.read(options.evaluator or "llm")
        self._check_combination(spec, problem)
        datapoints = Datapoints(
            options.file, Fields(x=options.x, y=options.y), max_bytes=self._loaded.streams.records.max_bytes
        )
        survey = datapoints.survey()
        rules = Rules(
            rounds=options.rounds or settings.rounds,
            phi=options.phi,
            seed=options.seed,
            mode=cast("Mode", options.mode),
            distance=None if settings.epsilon is None else DISTANCES[settings.distance],
            epsilon=settings.epsilon,
        )
        examples = load_examples(options.examples) if options.examples else ()
        players_of, known_by = (
            self._by_model(spec, questions, examples, datapoints, survey)
            if spec.kind == "llm"
            else self._by_rules(spec, problem)
        )
        table = Table(problem=problem, judge=self._models.judge, questions=questions, players_of=players_of)
        identity = digest(
            [
                [survey.digest, options.x, options.y],
                [*problem.versions],
                [options.evaluator or "llm", options.lie, self._strategy, questions.versions, known_by],
                [rules.rounds, rules.phi, rules.seed, rules.mode, rules.epsilon, settings.distance],
                self._models.judge.name if _plain(problem) else None,
                [[str(one.x), str(one.label)] for one in examples],
            ]
        )
        return Prepared(
            table=table,
            rules=rules,
            datapoints=datapoints,
            survey=survey,
            window=self._window(),
            identity=identity,
        )

    @property
    def _strategy(self) -> Strategy:
        return cast("Strategy", self._options.strategy or self._settings.strategy)

    def _window(self) -> int:
        # More than the models take at once: while one datapoint waits for its judge, another is at the labeller.
        limits = [one.concurrency for one in (self._loaded.judge, *self._loaded.subjects.values())]
        return max(_WINDOW, 3 * max(limits) // 2)

    def _problem(self, given: tuple[str, ...]) -> Problem:
        paths: list[Path] = []
        for one in given:
            configured = self._settings.rubrics.get(one)
            if configured is not None:
                paths.extend([configured] if isinstance(configured, Path) else configured)
            elif Path(one).is_file():
                paths.append(Path(one))
            else:
                names = ", ".join(self._settings.rubrics) or "none"
                raise CannotRun(f"rubric {one!r}: no such file, nor a name in labelling.rubrics (there: {names})")
        return load_problem(", ".join(given), paths)

    def _check_combination(self, spec: Spec, problem: Problem) -> None:
        options = self._options
        if spec.kind != "tree" and (options.lie or options.generates_by):
            raise CannotRun("--lie and --generates-by are for --evaluator tree:FILE")
        if spec.kind != "llm" and options.mode == "claims":
            raise CannotRun(
                "--mode claims compares what a model claims of each criterion; it needs --evaluator llm:SUBJECT"
            )
        if _plain(problem) and self._loaded.judge.backend == "local":
            raise CannotRun(
                "the rubric has criteria in plain language, which the local judge cannot answer; "
                "configure an endpoint: judge.backend = 'openai'"
            )

    def _by_rules(self, spec: Spec, problem: Problem) -> tuple[PlayersOf, list[str]]:
        if spec.kind == "tree":
            training = Path(spec.what)
            by = self._options.generates_by
            searched = (self._problem((by,)) if by else problem).rubrics[0]
            fixed = tree(training, problem, searched, cast("Lie | None", self._options.lie))
            known_by = [searched.version, digest([[str(one.x), str(one.label)] for one in load_examples(training)])]
        else:
            fixed, known_by = called(spec.what, problem), []
        return lambda _: (fixed, self._models.judge), known_by

    def _by_model(
        self, spec: Spec, questions: Questions, examples: tuple[Example, ...], datapoints: Datapoints, survey: Survey
    ) -> tuple[PlayersOf, list[str]]:
        subjects = self._models.subjects
        names = ", ".join(subjects) or "none"
        if spec.what and spec.what not in subjects:
            raise CannotRun(f"--evaluator llm:{spec.what}: there is no such subject; configured are: {names}")
        if not spec.what and survey.unnamed and len(subjects) != 1:
            raise CannotRun(f"--evaluator is needed: the file names no model, and the subjects configured are: {names}")
        pool: list[JsonValue] = [one.x for one in examples]
        if self._strategy == "pick" and not pool:
            pool = [one.x for one in datapoints.first(_MOST_CORPUS_POOL)]
        players = {name: models(oracle, questions, self._strategy, examples, pool) for name, oracle in subjects.items()}
        only = spec.what or (next(iter(subjects)) if len(subjects) == 1 else "")

        def players_of(datapoint: Datapoint) -> tuple[Players, Oracle]:
            name = only if spec.what or datapoint.model is None else datapoint.model
            if name in players:
                return players[name], subjects[name]
            return _nobody(name), self._models.judge

        return players_of, [f"{name} {oracle.name}" for name, oracle in subjects.items()]


@dataclass(frozen=True, slots=True)
class _Nobody:
    name: str

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        raise EvaluatorFailed("no_subject", f"no subject {self.name!r} is configured in subjects")


def _nobody(name: str) -> Players:
    def players(verifiers: Sequence[Verifier]) -> list[Evaluator]:
        return [_Nobody(name) for _ in verifiers]

    return players


def _plain(problem: Problem) -> bool:
    return any(rubric.plain for rubric in problem.rubrics)
