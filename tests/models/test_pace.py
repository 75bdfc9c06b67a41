"""How questions of different lengths share an endpoint, by the event loop's own clock: counts and times are exact."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import suppress

import pytest

from models.endpoint import Transient
from models.flow import Attempts, Flow
from models.protocol import ModelFailed, ModelUnavailable
from models.settings import EndpointSettings
from models.work import Work, in_order
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.streams.virtual_time import run_virtually
from tests.support.stub_endpoint import StubEndpoint

PLACES = 16
IN_FLIGHT = 32
TIMEOUT = 20.0
DEADLINE = 25.0

Takes = Callable[[int], float]
"""Seconds that the endpoint takes for a question of some size."""


class Endpoint:
    """An endpoint without a wire."""

    def __init__(self, takes: Takes, places: int) -> None:
        self._takes = takes
        self._places = asyncio.Semaphore(places)

    async def send(self, request: int, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds), self._places:
                await asyncio.sleep(self._takes(request))
        except TimeoutError:
            raise Transient(f"no answer within {seconds:g} seconds", kind="timed_out") from None

    async def probe(self, seconds: float) -> None:
        await self.send(0, seconds)


Ask = Callable[[int], Coroutine[None, None, None]]


def flow_to(takes: Takes, places: int = PLACES, at_once: int = 1_000) -> Ask:
    """Asks a question of some size."""
    endpoint = Endpoint(takes, at_once)
    flow = Flow(endpoint.probe, EndpointSettings(concurrency=places, timeout_seconds=TIMEOUT), "judge", None)

    async def exchange(size: int, run: Attempts) -> None:
        async with flow.slot(run) as seconds:
            await endpoint.send(size, seconds)

    async def ask(size: int) -> None:
        run = Attempts((0, size), DEADLINE)
        await run.retrying()(exchange, size, run)

    return ask


async def asked(
    sizes: Iterable[int], takes: Takes, places: int = PLACES, in_flight: int = IN_FLIGHT, at_once: int = 1_000
) -> Counter[str]:
    """Ask questions of these sizes, so many in flight as a worker has; how they ended."""
    asks = flow_to(takes, places, at_once)
    endings: Counter[str] = Counter()
    waiting = iter(sizes)

    async def ask(size: int) -> str:
        while True:
            try:
                await asks(size)
            except ModelFailed as failure:
                return failure.cause
            except ModelUnavailable as unavailable:
                endings["held"] += 1
                await asyncio.sleep(unavailable.retry_after)
            else:
                return "answered"

    async def worker() -> None:
        for size in waiting:
            endings[await ask(size)] += 1

    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return endings


def test_long_questions_without_an_answer_do_not_hold_up_shorter_ones_of_any_length():
    begun: list[float] = []

    def takes(size: int) -> float:
        if size in short:
            begun.append(asyncio.get_running_loop().time())
        return 0.2 if size <= 4_000 else 1e9

    # The first answer is to the shortest: all others are longer than what is known to be answered.
    rng = random.Random(7)
    short = sorted(rng.randint(1_000, 4_000) for _ in range(300))
    endings, _ = run_virtually(lambda: asked([*short[:1], *[9_000] * 10, *short[1:]], takes))

    assert endings == {"answered": 300, "judge_slow": 10}
    assert max(begun) - min(begun) < TIMEOUT / 2


@pytest.mark.parametrize(
    "seconds",
    [lambda rng: 14.0, lambda rng: rng.uniform(1, 19), lambda rng: rng.choice([0.2, 19])],
    ids=["all slow", "at random", "two speeds"],
)
def test_an_endpoint_that_answers_all_in_time_gets_all_however_slow(
    seconds: Callable[[random.Random], float],
):
    rng = random.Random(7)
    total = 0.0

    def takes(size: int) -> float:
        nonlocal total
        total += (taken := seconds(rng))
        return taken

    sizes = [int(rng.lognormvariate(8, 1)) for _ in range(800)]
    endings, taken = run_virtually(lambda: asked(sizes, takes))

    assert endings == {"answered": 800}
    assert taken <= 1.05 * total / PLACES + TIMEOUT


def test_an_endpoint_that_answers_at_once_soon_has_as_many_questions_as_it_may():
    endings, taken = run_virtually(lambda: asked([1_000] * 4_000, lambda _: 0.2, places=64, in_flight=128))

    assert endings == {"answered": 4_000}
    assert taken <= 0.2 * 4_000 / 64 / 0.95


def test_an_endpoint_that_answers_nothing_for_an_hour_costs_no_question_its_answer():
    def takes(size: int) -> float:
        return 1e9 if 100 < asyncio.get_running_loop().time() < 3_700 else 1.0

    endings, taken = run_virtually(lambda: asked([1_000] * 5_000, takes))

    assert endings["answered"] == 5_000
    assert endings["judge_slow"] == endings["judge_failed"] == 0
    assert taken <= 3_700 + 2 * 30 + 5_000 / PLACES


async def short_ones_end(sizes: list[int], takes: Takes, places: int, window: int) -> float:
    """The time at which the last short question of a file is answered, as `assay check` asks them."""
    asks = flow_to(takes, places)
    last = 0.0

    async def ask(size: int) -> None:
        nonlocal last
        with suppress(ModelFailed):
            await asks(size)
            last = asyncio.get_running_loop().time()

    async def listed() -> AsyncIterator[int]:
        for size in sizes:
            yield size

    await in_order(listed(), ask, lambda _: None, window=window, ahead=16 * window)
    return last


@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("places", [8, 16, 64])
@pytest.mark.parametrize("seconds", [0.5, 1, 3, 4])
def test_short_questions_of_a_file_keep_three_quarters_of_their_pace(seconds: float, places: int, share: float):
    count = max(250, 6 * places)
    rng = random.Random(7)
    mixed = [1_000] * count + [5_000] * int(count * share / (1 - share))
    rng.shuffle(mixed)

    def takes(size: int) -> float:
        return seconds if size <= 1_000 else 1e9

    window = max(64, 2 * places)
    alone, _ = run_virtually(lambda: short_ones_end([1_000] * count, takes, places, window))
    among, _ = run_virtually(lambda: short_ones_end(mixed, takes, places, window))

    assert among <= alone / 0.75


async def test_no_more_than_the_configured_number_are_under_way(model_of: MakeModel, stub: StubEndpoint):
    stub.delay = 0.05
    model = model_of(concurrency=4)

    await asyncio.gather(*(model.ask(question(f"Sentence {number}.")) for number in range(24)))

    assert stub.most_at_once == 4


async def test_work_that_began_first_is_finished_first(model_of: MakeModel, stub: StubEndpoint):
    model = model_of(concurrency=1)
    ended: list[str] = []

    async def work(name: str) -> None:
        with Work():
            for number in range(3):
                await model.ask(question(f"Sentence {number} of {name}."))
        ended.append(name)
        # While one prepares its next question, the next one asks.
        assert len(stub.requests) <= 3 * (len(ended) + 1)

    await asyncio.gather(*map(work, "ABCDE"))

    assert ended == list("ABCDE")
