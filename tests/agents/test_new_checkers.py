"""Where checkers begin: at a deployment's first start with all that is there, and when added with what comes."""

import asyncio
from contextlib import AbstractAsyncContextManager
from functools import partial

from streams.group_offsets import commit_starting_offsets
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, put, record
from tests.support.workers import WorkerHere, worker_here


def running(place: Place, *names: str, deployment: tuple[str, ...] = ()) -> AbstractAsyncContextManager[WorkerHere]:
    """A worker with these checkers, of a deployment that has others besides."""
    settings = place.checked(partitions=2)
    preparing = partial(commit_starting_offsets, settings, deployment or names, ["first", "second", "third"])
    return worker_here([Accept(name) for name in names], place.settings(partitions=2), preparing=preparing)


async def verdicts_by(worker: WorkerHere, checker: str) -> int:
    labels = {"checker": checker, "outcome": "accept", "source": "tests", "model": "m"}
    return int(worker.metric("assay_verdicts_total", **labels))


async def sent(place: Place, count: int, first: int = 0) -> None:
    topic = place.checked().topics.outputs
    await put(place.servers, topic, [record(number) for number in range(first, first + count)], spread=True)


async def test_the_first_start_checks_what_is_there_and_an_added_checker_what_comes(place: Place):
    await asyncio.to_thread(place.prepare, place.settings(partitions=2))
    await sent(place, 20)
    topics = place.checked().topics
    # Several workers start at once, each with another checker.
    async with (
        running(place, "first", deployment=("first", "second")) as one,
        running(place, "second", deployment=("first", "second")) as two,
    ):
        await collect(place.servers, topics, records=20)
        await one.wait_for("assay_verdicts_total", 20, checker="first", outcome="accept", source="tests", model="m")
        await two.wait_for("assay_verdicts_total", 20, checker="second", outcome="accept", source="tests", model="m")
    async with running(place, "first", "third") as both:
        await sent(place, 5, first=20)
        await both.wait_for("assay_verdicts_total", 5, checker="third", outcome="accept", source="tests", model="m")
        await both.wait_for("assay_verdicts_total", 5, checker="first", outcome="accept", source="tests", model="m")
        await asyncio.sleep(0.3)
        assert [await verdicts_by(both, name) for name in ("first", "third")] == [5, 5]
    async with running(place, "first", "third") as again:
        await sent(place, 1, first=25)
        await again.wait_for("assay_verdicts_total", 1, checker="third", outcome="accept", source="tests", model="m")


async def test_a_first_start_that_was_broken_off_is_still_the_first(place: Place):
    await asyncio.to_thread(place.prepare, place.settings(partitions=2))
    await sent(place, 10)
    # Killed after the first of its commits.
    await commit_starting_offsets(place.checked(partitions=2), ["first"], ["first", "second"])
    async with running(place, "first", "second") as worker:
        for name in ("first", "second"):
            await worker.wait_for("assay_verdicts_total", 10, checker=name, outcome="accept", source="tests", model="m")
