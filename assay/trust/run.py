"""The No-Data Algorithm over a file (paper, algorithm 1): datapoints run side by side, results come in order."""

import gc
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from assay.trust.datapoints import Datapoint
from assay.trust.evaluators import Players
from assay.trust.results import Result
from checkers.billing import Bill, billed
from checkers.concurrent import in_order
from checkers.draws import seed_of
from checkers.labelling.challenges import Encodings, Mode, Verifier
from checkers.labelling.distance import Distance
from checkers.labelling.flips import flip
from checkers.labelling.kary import Problem, play_all
from checkers.labelling.protocol import EvaluatorFailed
from checkers.labelling.questions import Questions
from checkers.labelling.reporting import run_of
from checkers.labelling.rubric import NoJudge, OracleJudge
from checkers.oracle.protocol import Oracle, OracleFailed, OracleUnavailable
from checkers.patience import ModelPatience
from schemas import Usage

_COLLECT_AFTER = (20_000, 20, 20)


def rest_collector() -> None:
    """Keep the garbage collector from the program itself, and from looking at short-lived objects again and again.

    Hundreds of questions are under way at once. Walking all their objects, and those of the imported packages, held up
    answers that were there already: a tenth of the time of a run against a fast endpoint.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class Lost(Exception):
    """A model was away for too long: what is done is kept, and the run can go on later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the algorithm is run."""

    rounds: int = 3
    phi: float = 0.0
    """The probability to flip the label of a lost game."""
    seed: int = 0
    mode: Mode = "protocol"
    distance: Distance | None = None
    epsilon: float | None = None

    @property
    def bounded(self) -> bool:
        """Whether a lie survives with a known probability at most."""
        return self.epsilon is None and self.mode != "claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Who plays: the same for every datapoint, or told by the model that labelled it."""

    problem: Problem
    judge: Oracle
    questions: Questions
    players_of: Callable[[Datapoint], tuple[Players, Oracle]]
    """The players for a datapoint, and the model that their questions go to."""


class Run:
    """Plays for one datapoint after the other, many at once."""

    def __init__(
        self,
        table: Table,
        rules: Rules,
        *,
        window: int,
        patience: ModelPatience,
    ) -> None:
        """At most `window` datapoints are under way."""
        self._table = table
        self._rules = rules
        self._window = window
        self._patience = patience
        # Rules need no judge and no bill: what they say is remembered across datapoints.
        self._shared = None if self._plain else [Encodings(rubric, NoJudge()) for rubric in table.problem.rubrics]

    @property
    def _plain(self) -> bool:
        return any(rubric.plain for rubric in self._table.problem.rubrics)

    async def over(self, datapoints: Iterable[Datapoint], emit: Callable[[Result], None]) -> None:
        """Tell `emit` what came of each, in order, as soon as it and all before it are done.

        Raises:
            Lost: a model was away for longer than the patience.
        """

        async def each() -> AsyncIterator[Datapoint]:
            for datapoint in datapoints:
                yield datapoint

        await in_order(each(), self._result, emit, window=self._window)

    async def _result(self, datapoint: Datapoint) -> Result:
        players, _ = self._table.players_of(datapoint)
        with billed() as bill:
            while True:
                try:
                    result = await self._played(datapoint, players, bill)
                except OracleUnavailable as error:
                    if not await self._patience.waited(error):
                        raise Lost(self._patience.told(error)) from None
                else:
                    self._patience.answered()
                    return result

    async def _played(self, datapoint: Datapoint, players: Players, bill: Bill) -> Result:
        rules, problem = self._rules, self._table.problem
        seed = seed_of(rules.seed, datapoint.number)
        started = time.perf_counter()
        verifiers = [
            Verifier(encodings, mode=rules.mode, distance=rules.distance, epsilon=rules.epsilon)
            for encodings in self._encodings()
        ]

        def usage() -> Usage:
            return bill.usage.model_copy(update={"seconds": round(time.perf_counter() - started, 6)})

        def undecided(cause: str, detail: str) -> Result:
            told = {"cause": cause, "detail": detail}
            return Result.model_validate({**_given(datapoint, seed), **told, "usage": usage()})

        try:
            games = await play_all(datapoint.x, players(verifiers), verifiers, seed=seed, rounds=rules.rounds)
        except EvaluatorFailed as error:
            return undecided(error.cause, error.detail)
        except OracleFailed as error:
            return undecided(error.cause, error.detail)
        drawn = [flip(one.bit, succeeded=one.succeeded, phi=rules.phi, seed=one.seed) for one in games]
        return Result(
            **_given(datapoint, seed),
            label=problem.label([one.bit for one in drawn]),
            succeeded=all(game.succeeded for game in games),
            flipped=any(one.flipped for one in drawn),
            runs=tuple(run_of(rubric, game) for rubric, game in zip(problem.rubrics, games, strict=True)),
            usage=usage(),
        )

    def _encodings(self) -> Sequence[Encodings]:
        if self._shared is not None:
            return self._shared
        judge = OracleJudge(self._table.judge, self._table.questions.criterion)
        return [Encodings(rubric, judge) for rubric in self._table.problem.rubrics]


def _given(datapoint: Datapoint, seed: str) -> dict[str, object]:
    return {"number": datapoint.number, "x": datapoint.x, "y": datapoint.y, "seed": seed}
