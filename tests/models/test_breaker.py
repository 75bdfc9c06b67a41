"""The breaker in front of an endpoint: what is down, and what is only slow."""

import asyncio
from contextlib import suppress

import pytest

from models.flow import BreakerState
from models.protocol import ModelFailed, ModelUnavailable
from tests.models.asking import Reasons, question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_acts import Act
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest
from tests.support.waiting import until


def long(number: int = 0, sentences: int = 80) -> list[str]:
    return [f"Sentence {number}-{part} of a long response." for part in range(sentences)]


async def test_an_endpoint_that_fails_everyone_makes_questions_wait_not_fail(model_of: MakeModel, stub: StubEndpoint):
    stub.play(lambda _: stubs.status(500))
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append}, breaker={"failures": 5, "cooldown_seconds": 60})

    asked = [model.ask(question(f"Sentence {number}.")) for number in range(20)]
    endings = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(ending, ModelUnavailable) for ending in endings)
    assert states == ["open"]
    sent = len(stub.requests)
    with pytest.raises(ModelUnavailable):
        await model.ask(question())
    assert len(stub.requests) == sent


async def test_it_closes_by_itself_when_the_endpoint_is_well_again(model_of: MakeModel, stub: StubEndpoint):
    stub.down()
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append}, breaker={"failures": 2, "cooldown_seconds": 0.1})
    with pytest.raises(ModelUnavailable):
        await model.ask(question())
    stub.up()
    while states == ["open"]:
        await asyncio.sleep(0.05)
        with suppress(ModelUnavailable):
            await model.ask(question())
    assert states == ["open", "closed"]


async def test_it_stays_closed_for_one_question_without_an_answer_while_others_have_theirs(
    model_of: MakeModel, stub: StubEndpoint
):
    def rough(request: StubRequest) -> Act:
        # Whatever is asked to find out whether the endpoint is up meets a fault as well.
        if not request.sentences:
            return stubs.status(500)
        return stubs.hang() if "Lost." in request.sentences else stubs.good()

    stub.play(rough)
    stub.delay = 0.05
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append}, timeout_seconds=0.8, max_attempts=1, concurrency=8)
    lost = asyncio.create_task(model.ask(question("Lost.")))
    number = 0
    while not lost.done():
        number += 1
        await model.ask(question(f"Sentence {number}."))

    assert getattr(lost.exception(), "cause", None) == "judge_slow"
    assert number > 4
    assert states == []


async def test_a_question_that_is_refused_while_others_are_answered_opens_nothing(
    model_of: MakeModel, stub: StubEndpoint
):
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append})
    # Alone, as what the first question learns is waited for.
    await model.ask(question("Alone."))
    stub.play([stubs.good(delay=0.1), stubs.status(401, delay=0.3)])
    answered = asyncio.create_task(model.ask(question("First.")))
    await until(lambda: len(stub.requests) == 2)
    with pytest.raises(ModelUnavailable) as failure:
        await model.ask(question("Second."))
    await answered
    assert failure.value.suspect
    await model.ask(question("Third."))
    assert states == []


async def test_what_gets_no_answer_in_time_fails_alone_and_says_why(model_of: MakeModel, stub: StubEndpoint):
    stub.play(stubs.never_longer_than(1_000))
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append}, timeout_seconds=0.5, max_attempts=1)

    asked = [model.ask(question(*long(number))) for number in range(20)]
    endings = await asyncio.gather(*asked, return_exceptions=True)

    assert {type(ending) for ending in endings} == {ModelFailed}
    assert {ending.cause for ending in endings if isinstance(ending, ModelFailed)} == {"judge_slow"}
    assert "no answer within 0.5 seconds to a question of" in str(endings[0])
    assert "timeout_seconds" in str(endings[0])
    assert states == []
    assert (await model.ask(question("Short."))).reply == Reasons.model_validate_json(stub.answer(stub.requests[-1]))


async def test_an_endpoint_that_takes_connections_and_answers_nothing_is_down(model_of: MakeModel, stub: StubEndpoint):
    stub.play(lambda _: stubs.hang())
    states: list[BreakerState] = []
    model = model_of(hooks={"on_breaker": states.append}, timeout_seconds=0.3, breaker={"cooldown_seconds": 60})

    with pytest.raises(ModelUnavailable, match="no answer within"):
        await model.ask(question())
    sent = len(stub.requests)
    with pytest.raises(ModelUnavailable):
        await model.ask(question("Another."))

    assert states == ["open"]
    assert len(stub.requests) == sent


async def test_any_answer_to_the_probe_will_do(model_of: MakeModel, stub: StubEndpoint):
    stub.play(lambda request: stubs.hang() if request.sentences else stubs.status(400, "no such parameter"))

    with pytest.raises(ModelFailed) as failure:
        await model_of(timeout_seconds=0.3, max_attempts=1).ask(question())

    assert failure.value.cause == "judge_slow"
    assert failure.value.usage.calls == 2, "a question and the probe, which it is charged with"


async def test_long_ones_do_not_wait_forever_for_places_of_others_that_are_never_answered(
    model_of: MakeModel, stub: StubEndpoint
):
    stub.play(stubs.never_longer_than(1_000))
    model = model_of(timeout_seconds=0.2, concurrency=4)
    await model.ask(question("Short."))

    asked = [model.ask(question(*long(number))) for number in range(200)]
    async with asyncio.timeout(30):
        endings = await asyncio.gather(*asked, return_exceptions=True)

    assert {getattr(ending, "cause", None) for ending in endings} == {"judge_slow"}
    assert "no answer to any question as long as this one" in str(endings[-1])
    assert (await model.ask(question("Another."))).usage.calls == 1
