"""The algorithm over a file, in this process: pace, order, models that are away, what is added up."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from checkers.checker import Models
from checkers.draws import seed_of
from checkers.labelling.protocol import play
from checkers.labelling.questions import CriterionReason, GenerateReply, LabelReply
from checkers.model_patience import ModelLost, ModelPatience
from lab.labelling.results import DatapointResult, LabellingTally, is_flipped
from lab.labelling.run import CorpusOptions, CorpusRun, read_datapoints
from models.billing import book
from models.claims import Claims, Grades, Judgement
from models.protocol import Answer, ModelUnavailable, Question
from models.settings import JudgeSettings, SubjectSettings
from schemas import Usage
from tests.checkers.labelling.players import Scripted, honest, verifier
from tests.streams.virtual_time import run_virtually

SIX = (
    "rubric: six\ncriteria:\n"
    + "".join(f'  c{n}: {{ask: "Is it good in way {n}?"}}\n' for n in range(6))
    + "label: all\n"
)
SECONDS = 0.1
AT_ONCE = 64


class Agreeable:
    """A model and judge that takes `SECONDS` for an answer and so many at once, and finds everything met."""

    name = "agreeable"
    version = ""
    self_test = None

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)
        self.calls = 0
        self.down: Callable[[], bool] = lambda: False

    async def ask(self, question: Question) -> Answer:
        await self._asked()
        return Answer(self._reply(question), Usage(calls=1))

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        await self._asked()
        return Answer(tuple((Judgement(1.0, "", None),) for _ in claims), Usage(calls=1))

    async def _asked(self) -> None:
        async with self._slots:
            await asyncio.sleep(SECONDS)
        if self.down():
            raise ModelUnavailable("no route", retry_after=1.0, usage=Usage(calls=1))
        self.calls += 1
        book(Usage(calls=1))

    def _reply(self, question: Question):
        if issubclass(question.reply, LabelReply):
            reasons = [CriterionReason(criterion=number, reason="", holds=True) for number in range(1, 7)]
            return LabelReply(reasons=reasons, label="1")
        return GenerateReply(reason="", datapoint=f"another one, {self.calls}")

    async def close(self) -> None:
        pass


class Configured:
    """An endpoint of so many slots for judge and subject."""

    judge = JudgeSettings(backend="openai", base_url="http://localhost/v1", model="m", concurrency=AT_ONCE)
    subjects: Mapping[str, SubjectSettings] = {}
    checkers: Mapping[str, BaseModel] = {}


@pytest.fixture
def over(tmp_path):
    def run(count, *, patience=60.0, prepare=lambda subject, judge: None):
        """Results, seconds, calls of both models, and what was said."""
        (tmp_path / "six.yaml").write_text(SIX)
        file = tmp_path / "datapoints.jsonl"
        file.write_text("".join(f'{{"x": "text {n}", "y": {n % 2}}}\n' for n in range(1, count + 1)))
        said: list[str] = []
        results: list[DatapointResult] = []
        subject, judge = Agreeable(), Agreeable()
        prepare(subject, judge)
        datapoints = read_datapoints(file)
        options = CorpusOptions(rubrics=(str(tmp_path / "six.yaml"),), evaluator="s")

        async def play() -> None:
            trust = CorpusRun(options, datapoints, Configured(), Models(judge=judge, subjects={"s": subject}))
            await trust.over(datapoints, results.append, ModelPatience(said.append, patience))

        _, seconds = run_virtually(play)
        return results, seconds, subject.calls, judge.calls, said

    return run


def test_515_datapoints_in_plain_language_take_little_more_than_the_ideal(over):
    results, seconds, subject_calls, judge_calls, _ = over(515)
    assert len(results) == 515
    assert (subject_calls, judge_calls) == (515 * 4, 515 * 24)
    ideal = max(subject_calls, judge_calls) * SECONDS / AT_ONCE
    assert seconds <= 1.1 * ideal


def test_results_come_in_order_and_bear_their_own_costs(over):
    results, *_ = over(20)
    assert [result.number for result in results] == list(range(1, 21))
    assert all(result.succeeded and result.label == 1 for result in results)
    assert all(result.usage.calls == 28 for result in results)


def test_a_model_that_comes_back_costs_no_datapoint(over):
    def for_a_while(subject, judge):
        judge.down = lambda: asyncio.get_running_loop().time() < 20

    results, seconds, *_, said = over(10, patience=60, prepare=for_a_while)
    assert [result.succeeded for result in results] == [True] * 10
    assert seconds > 20
    assert said == ["a model cannot be reached (no route); trying for 60 s"]


def test_a_model_that_stays_away_ends_the_run(over):
    def for_good(subject, judge):
        subject.down = lambda: True

    with pytest.raises(ModelLost, match="for 30 s: no route"):
        over(3, patience=30, prepare=for_good)


def result(number: int, **fields) -> DatapointResult:
    given = {"number": number, "x": "t", "y": None, "seed": "s", "label": 1, "succeeded": True}
    return DatapointResult.model_validate({**given, **fields})


def test_the_figures():
    results = [
        result(1, y=1, unfounded=True),
        result(2, y=1, label=0, succeeded=False),
        result(3, y=0, label=1, succeeded=False, flipped=True),
        result(4, y="0", label=0),
        result(5, label=None, succeeded=None, cause="subject_unusable", detail="no"),
    ]
    tally = LabellingTally(results, (1, 0), rounds=3, phi=0.5)
    found = tally.summary()
    assert (found["datapoints"], found["decided"], found["successes"], found["flips"]) == (5, 4, 2, 1)
    assert found["abstained"] == {"subject_unusable": 1}
    assert found["success_rate"] == 0.5
    low, high = found["success_interval"]
    assert 0.14 < low < 0.16
    assert 0.84 < high < 0.86
    assert found["labels"] == {"1": 2, "0": 2}
    assert (found["accuracy"], found["f1"]) == (0.5, 0.5)
    assert (found["error_bound"], found["paper_error_bound"]) == (0.125, 0.015625)
    lines = {tuple(line.split()) for line in tally.lines()}
    assert {("successes", "2"), ("success_interval", "0.150", "to", "0.850"), ("unfounded", "1")} <= lines
    assert found["unfounded"] == 1


def test_only_lost_games_are_flipped_and_as_often_as_phi_says():
    lost = asyncio.run(play("0" * 12, Scripted(lambda x, _: x), verifier(), seed="1"))
    won = asyncio.run(play("0" * 12, honest(verifier()), verifier(), seed="1"))
    assert not is_flipped(won, 1)
    flipped = sum(is_flipped(replace(lost, seed=seed_of(number)), 0.3) for number in range(4000))
    assert abs(flipped - 1200) < 4 * math.sqrt(4000 * 0.3 * 0.7)


def of(*faults: str | None, holds: tuple[int, ...] | None = (1, 0, 1), **fields: Any) -> list[DatapointResult]:
    """A result for each fault with which its last round ended; None for a datapoint that passed."""
    made = []
    for number, fault in enumerate(faults, start=1):
        last = {"number": 1, "similar": "1", "label": 1, "commitment": "", "challenge": "isomorphism"}
        bits = {"encoding": (1,), "similar_encoding": (1,), "unmatched": None}
        ended = last | bits | {"passed": fault is None, "fault": fault}
        names = {"criteria": ("a",), "total_criteria": ("a",), "labels": (0, 1)}
        run = {"rubric": "r", "rubric_version": "v", "rounds": [ended], "succeeded": fault is None, "holds": holds}
        made.append(result(number, succeeded=fault is None, runs=[run | names], **fields))
    return made


UNTESTED = "without reasons labels are not tested: x' alone decides, and a guesser may keep the criteria"
UNTOLD = "could not be tested, as its answers are not of the form"
UNREAD = {"label": None, "succeeded": None, "cause": "subject_unusable", "detail": "no"}


@pytest.mark.parametrize(
    ("results", "said"),
    [
        (of(*["echo"] * 8, "other_encoding", *["unmatched_part"] * 3),
         "not trusted: 0 of 12, 8 copies of x, 3 with a part unlike any of x, 1 with other criteria than x"),
        (of(*[None] * 20), "trusted: 20 of 20"),
        (of(*[None] * 20, unfounded=True), "not trusted: 0 of 20, 20 passed for wrong reasons"),
        (of(None, "echo"), "neither trusted nor distrusted yet: 1 of 2, 1 copies of x"),
        (of(*[None] * 9, holds=None), f"trusted: 9 of 9; {UNTESTED}"),
        ([result(1, **UNREAD)], f"cannot follow the form, which says nothing of its trust; 1 of 1 {UNTOLD}"),
        ([*of(*[None] * 9), result(10, **UNREAD)], f"trusted: 9 of 9; 1 of 10 {UNTOLD}"),
    ],
)  # fmt: skip
def test_the_verdict_says_what_the_figures_come_to(results: list[DatapointResult], said: str) -> None:
    tally = LabellingTally(results, (1, 0), rounds=3, phi=0)
    assert tally.summary()["verdict"] == said
    assert list(tally.lines())[-1] == said
