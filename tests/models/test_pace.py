"""How questions of different lengths share an endpoint, by the event loop's own clock: counts and times are exact."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.breaker import Breaker
from models.faults import TimedOut
from models.limits import Limits, TimeLimit
from models.protocol import OracleFailed, OracleUnavailable
from models.retry import Retrying
from models.settings import BreakerSettings
from models.sizes import SizedQuestion, Sizes
from tests.support.virtual_time import run_virtually

PLACES = 16
IN_FLIGHT = 32
TIMEOUT = 20.0
DEADLINE = 25.0

Takes = Callable[[int], float]
"""Seconds that the endpoint takes for a question of some size."""


async def asked(sizes: Iterable[int], takes: Takes) -> Counter[str]:
    """Ask questions of these sizes, so many in flight as a worker has; how they ended."""
    loop = asyncio.get_running_loop()
    retrying = Retrying(
        limits=Limits(concurrency=PLACES, requests_per_second=None),
        breaker=Breaker(BreakerSettings(), name="judge", clock=loop.time),
        max_attempts=4,
        timeout_seconds=TIMEOUT,
    )
    endings: Counter[str] = Counter()
    waiting = iter(sizes)

    async def exchange(size: int, seconds: float) -> None:
        taken = takes(size)
        await asyncio.sleep(min(taken, seconds))
        if taken > seconds:
            raise TimedOut(f"no answer within {seconds:g} seconds")

    async def ask(size: int) -> str:
        while True:
            try:
                await retrying.run(
                    lambda seconds: exchange(size, seconds),
                    probe=lambda seconds: exchange(0, seconds),
                    task="t",
                    size=size,
                    limit=TimeLimit(DEADLINE),
                )
            except OracleFailed as failure:
                return failure.cause
            except OracleUnavailable as unavailable:
                endings["held"] += 1
                await asyncio.sleep(unavailable.retry_after)
            else:
                return "answered"

    async def worker() -> None:
        for size in waiting:
            endings[await ask(size)] += 1

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    await retrying.close()
    return endings


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_short_questions_keep_their_pace_among_long_ones_that_are_never_answered(share: float) -> None:
    short, long, count = 1_000, 5_000, 6_000

    def takes(size: int) -> float:
        return 1.0 if size <= short else 1e9

    rng = random.Random(7)
    mixed = [short] * count + [long] * int(count * share / (1 - share))
    rng.shuffle(mixed)
    _, alone = run_virtually(lambda: asked([short] * count, takes))
    endings, among = run_virtually(lambda: asked(mixed, takes))

    assert alone == pytest.approx(count / PLACES)
    assert endings == {"answered": count, "judge_slow": len(mixed) - count}
    assert among <= alone / 0.9


def test_long_questions_without_an_answer_do_not_hold_up_shorter_ones_of_any_length() -> None:
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
) -> None:
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


def test_an_endpoint_that_answers_nothing_for_an_hour_costs_no_question_its_answer() -> None:
    def takes(size: int) -> float:
        return 1e9 if 100 < asyncio.get_running_loop().time() < 3_700 else 1.0

    endings, taken = run_virtually(lambda: asked([1_000] * 5_000, takes))

    assert endings["answered"] == 5_000
    assert endings["judge_slow"] == endings["judge_failed"] == 0
    assert taken <= 3_700 + 2 * 30 + 5_000 / PLACES


def test_an_endpoint_that_has_become_quick_gets_long_questions_again() -> None:
    def takes(size: int) -> float:
        return 1.0 if size <= 1_000 or asyncio.get_running_loop().time() > 300 else 1e9

    rng = random.Random(7)
    endings, _ = run_virtually(lambda: asked([rng.choice([1_000, 5_000]) for _ in range(40_000)], takes))

    # In the first 300 s about as many as short ones were answered, and then until the next trial.
    assert endings["judge_slow"] < (300 + 10 * TIMEOUT) * PLACES


@given(st.lists(st.tuples(st.sampled_from(["answered", "timed out"]), st.integers(1, 50)), max_size=60), st.data())
def test_what_is_no_longer_than_the_last_answered_is_asked_at_once(
    events: list[tuple[str, int]], data: st.DataObject
) -> None:
    async def run() -> None:
        sizes = Sizes(concurrency=PLACES, seconds=TIMEOUT)
        last = 0
        for ending, size in events:
            turn = SizedQuestion(size)
            sizes.begin(turn)
            await asyncio.sleep(1)
            if ending == "answered":
                sizes.answered(turn)
                last = size
            else:
                sizes.timed_out(turn)
                # What is as long as one that timed out since may be too long as well.
                last = min(last, size - 1)
            sizes.leave(turn)
        if last:
            turn = await sizes.enter(data.draw(st.integers(1, last)))
            assert not turn.unproven

    run_virtually(run)


def test_a_length_is_no_reason_while_longer_questions_are_answered() -> None:
    async def run() -> None:
        sizes = Sizes(concurrency=PLACES, seconds=TIMEOUT)
        for _ in range(5):
            lost, longer = SizedQuestion(1_000), SizedQuestion(2_000)
            sizes.begin(lost)
            sizes.begin(longer)
            await asyncio.sleep(1)
            sizes.answered(longer)
            await asyncio.sleep(19)
            sizes.timed_out(lost)
        sizes.check(1_000)
        assert not (await sizes.enter(1_000)).unproven

    run_virtually(run)


def test_one_question_without_an_answer_is_no_proof_and_two_are() -> None:
    async def run() -> None:
        sizes = Sizes(concurrency=PLACES, seconds=TIMEOUT)
        for size in (2_000, 3_000):
            sizes.check(3_000)
            turn = SizedQuestion(size)
            sizes.begin(turn)
            await asyncio.sleep(20)
            sizes.timed_out(turn)
        sizes.check(2_399)
        with pytest.raises(OracleFailed, match=r"about 3,000 characters had no answer within 20 seconds"):
            sizes.check(2_400)
        await asyncio.sleep(9 * 20)
        sizes.check(3_000)
        trial = await sizes.enter(3_000)
        sizes.begin(trial)
        with pytest.raises(OracleFailed):
            sizes.check(3_000)
        sizes.answered(trial)
        sizes.check(3_000)

    run_virtually(run)
