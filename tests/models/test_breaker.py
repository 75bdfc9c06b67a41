"""The breaker, alone on a clock of its own, and in front of an endpoint."""

import asyncio

import pytest

from models.breaker import Breaker, BreakerState
from models.protocol import EndpointDown, OracleFailed, OracleUnavailable
from models.settings import BreakerSettings
from tests.models.asking import question
from tests.models.conftest import MakeOracle
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def states() -> list[BreakerState]:
    return []


@pytest.fixture
def breaker(clock: Clock, states: list[BreakerState]) -> Breaker:
    settings = BreakerSettings(failures=3, cooldown_seconds=2, max_cooldown_seconds=5)
    return Breaker(settings, name="judge m", listener=states.append, clock=clock)


def open_it(breaker: Breaker) -> None:
    breaker.probing()
    breaker.silent("status 500")


def test_a_probe_that_is_not_answered_opens_it(breaker: Breaker) -> None:
    open_it(breaker)

    with pytest.raises(EndpointDown, match="judge m is down: status 500") as refusal:
        breaker.check()
    assert refusal.value.retry_after == 2
    assert breaker.state == "open"


def test_failures_in_a_row_ask_for_a_probe_and_an_answer_starts_the_count_anew(breaker: Breaker) -> None:
    assert [breaker.failed() for _ in range(2)] == [False, False]
    breaker.answered()

    assert [breaker.failed() for _ in range(4)] == [False, False, True, True]
    assert breaker.state == "closed"


def test_a_probe_is_due_after_the_cooldown_and_nothing_passes_meanwhile(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    assert not breaker.may_probe
    clock.now += 2
    assert breaker.may_probe

    breaker.probing()
    assert breaker.state == "half_open"
    with pytest.raises(EndpointDown):
        breaker.check()


def test_a_probe_that_is_answered_closes_it(breaker: Breaker, clock: Clock, states: list[BreakerState]) -> None:
    open_it(breaker)
    clock.now += 2
    breaker.probing()
    breaker.answered()

    breaker.check()
    assert states == ["open", "half_open", "closed"]


def test_probes_that_fail_double_the_cooldown_up_to_its_limit(breaker: Breaker, clock: Clock) -> None:
    waits = []
    for _ in range(4):
        open_it(breaker)
        with pytest.raises(EndpointDown) as refusal:
            breaker.check()
        waits.append(refusal.value.retry_after)
        clock.now += refusal.value.retry_after

    assert waits == [2, 4, 5, 5]


def test_after_a_probe_that_was_cancelled_the_next_is_due(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += 2
    breaker.probing()
    breaker.not_probed()

    assert breaker.may_probe


async def test_an_endpoint_that_fails_everyone_makes_questions_wait_not_fail(
    oracle_of: MakeOracle, stub: StubEndpoint
) -> None:
    stub.play(lambda _: stubs.status(500))
    states: list[BreakerState] = []
    oracle = oracle_of(hooks={"on_breaker": states.append}, breaker={"failures": 5, "cooldown_seconds": 60})

    asked = [oracle.ask(question(f"Sentence {number}.")) for number in range(20)]
    endings = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(ending, OracleUnavailable) for ending in endings)
    assert states == ["open"]
    sent = len(stub.requests)
    with pytest.raises(OracleUnavailable):
        await oracle.ask(question())
    assert len(stub.requests) == sent


async def test_it_closes_by_itself_when_the_endpoint_is_well_again(oracle_of: MakeOracle, stub: StubEndpoint) -> None:
    stub.down()
    oracle = oracle_of(breaker={"failures": 2, "cooldown_seconds": 0.1})
    with pytest.raises(OracleUnavailable):
        await oracle.ask(question())
    stub.up()

    async def until_answered(number: int) -> None:
        while True:
            try:
                await oracle.ask(question(f"Sentence {number}."))
            except OracleUnavailable as unavailable:
                await asyncio.sleep(unavailable.retry_after)
            else:
                return

    await asyncio.gather(*(until_answered(number) for number in range(10)))


async def test_one_question_that_always_fails_does_not_stop_the_others(
    oracle_of: MakeOracle, stub: StubEndpoint
) -> None:
    stub.play(lambda request: stubs.status(500) if "Poison." in request.sentences else stubs.good())
    oracle = oracle_of(breaker={"failures": 4})

    asked = [oracle.ask(question("Poison." if number == 7 else f"Sentence {number}.")) for number in range(20)]
    endings = await asyncio.gather(*asked, return_exceptions=True)

    failed = [ending for ending in endings if isinstance(ending, BaseException)]
    assert len(failed) == 1
    assert isinstance(failed[0], OracleFailed)
