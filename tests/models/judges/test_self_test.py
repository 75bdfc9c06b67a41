"""The self-test: how good a judge is, in which form it is asked, from where on; kept, and on nobody's bill."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from models.judges import self_test
from models.judges.self_test import KeptTest, pairs
from models.protocol import ModelUnavailable
from models.work import Work
from tests.conftest import READ
from tests.models.judges.conftest import GOOD, MakeJudge, graded
from tests.models.judges.self_tested import coin, perfect, truth
from tests.support.stub_answers import verdicts_of
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

OWN_CALLS = 2
"""Calls about a claim that is supported: it and a control."""


@pytest.fixture(autouse=True)
def _nothing_on_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(KeptTest, "read", READ)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def odds(supported: float, other: float) -> Callable[[StubRequest, int], float]:
    """A judge's P(yes) from its log-odds for supported and for other answers."""

    def probability(request: StubRequest, place: int) -> float:
        known = truth(request)
        told = 9.0 if request.kind == "informs" else -9.0 if known is None else supported if known else other
        return 1 / (1 + math.exp(-told))

    return probability


@pytest.mark.parametrize("masters", [True, False])
async def test_a_perfect_judge_is_asked_in_the_list_form_where_it_masters_that(
    judge_of: MakeJudge, stub: StubEndpoint, masters: bool
):
    def answer(request: StubRequest) -> str:
        if request.kind == "list" and not masters:
            return verdicts_of(dict.fromkeys(request.numbered, True))
        return perfect(request)

    stub.answer = answer
    judge = judge_of("auto", None)
    assert judge.version == ""
    assert (await graded(judge, GOOD))[0].supported
    form, figure = "list" if masters else "short", judge.self_test
    assert figure is not None
    assert (figure.form, figure.accuracy, figure.pairs) == (form, 1.0, len(pairs()))
    assert judge.version.startswith(form)


async def test_a_coin_is_refused_where_a_self_test_is_required(judge_of: MakeJudge, stub: StubEndpoint):
    stub.probability = coin
    with pytest.raises(ModelUnavailable, match=r"below 75%, and judge.require_self_test is set") as refused:
        await graded(judge_of("auto", None, require_self_test=True), GOOD)
    assert refused.value.misconfigured
    judge = judge_of("short", None)
    await graded(judge, GOOD)
    assert judge.self_test is not None
    assert judge.self_test.accuracy == pytest.approx(0.5, abs=0.2)


async def test_the_threshold_lies_between_what_is_supported_and_what_is_not(judge_of: MakeJudge, stub: StubEndpoint):
    stub.probability = odds(5, 1)
    judge = judge_of("short", None)
    await graded(judge, GOOD)
    assert judge.version.split()[-1] == "3"
    assert judge.self_test is not None
    assert judge.self_test.accuracy == 1.0


async def test_no_pair_has_a_say_in_the_threshold_that_it_is_measured_by(judge_of: MakeJudge, stub: StubEndpoint):
    short = [pair for pair in pairs() if pair.question and len(pair.answer) < 40 and "." not in pair.answer[:-1]]
    good, bad = ([pair for pair in short if pair.supported is side] for side in (True, False))
    told = {good[0].answer: 4.0, good[1].answer: 1.6, bad[0].answer: 0.0}
    stub.probability = lambda request, place: 1 / (1 + math.exp(-told[request.quotes["Answer"]]))
    asked = [good[0], good[1], bad[0]]
    judge = judge_of("short")
    (result,) = await self_test.run({"short": judge.forms["short"].odds}, asked)
    # By all three it would be 1.5, and the second right.
    assert result.threshold == 1.5
    assert result.outcomes[1].odds == pytest.approx(1.6 - 2.0)


async def test_it_is_run_once_for_a_model_and_kept_on_file(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = perfect
    first = judge_of("auto", None)
    await graded(first, GOOD)
    asked = len(stub.requests)
    again = judge_of("auto", None)
    await graded(again, GOOD)
    assert len(stub.requests) == asked + OWN_CALLS
    assert (again.version, again.self_test) == (first.version, first.self_test)
    await graded(judge_of("auto", None, model="another"), GOOD)
    assert len(stub.requests) > asked + 2 * OWN_CALLS


async def test_of_several_processes_that_start_together_one_runs_it(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = perfect
    await graded(judge_of("short", None, model="first"), GOOD)
    asked = len(stub.requests)
    together = [judge_of("short", None, model="second") for _ in range(3)]
    await asyncio.gather(*(graded(judge, GOOD) for judge in together))
    assert len(stub.requests) == 2 * asked + 2 * OWN_CALLS
    assert len({judge.version for judge in together}) == 1


async def test_its_cost_is_on_nobodys_bill(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = perfect
    judge = judge_of("auto", None)
    with Work() as bill:
        await graded(judge, GOOD)
    assert bill.usage.calls == OWN_CALLS < len(stub.requests)


async def test_while_the_endpoint_is_away_the_record_is_held_and_tested_later(judge_of: MakeJudge, stub: StubEndpoint):
    stub.answer = perfect
    judge = judge_of("short", None)
    stub.down()
    with pytest.raises(ModelUnavailable):
        await graded(judge, GOOD)
    stub.up()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.flow.loop_time", lambda: __import__("time").monotonic() + 60)
        assert (await graded(judge, GOOD))[0].supported
    assert judge.self_test is not None


async def test_with_form_and_threshold_given_none_is_run(judge_of: MakeJudge, stub: StubEndpoint):
    judge = judge_of("short", 0.0)
    await graded(judge, GOOD)
    assert (len(stub.requests), judge.self_test) == (OWN_CALLS, None)
