"""Sources make their records on a schedule: each number once, in order, whatever happens to the workers."""

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from aiokafka.errors import CommitFailedError

from agents.budgets import Budgets, BudgetSettings
from agents.scheduler import scheduler
from schemas import Generation
from streams.messages import Outgoing
from streams.publisher import Publisher
from streams.topics import create_topics
from tests.support.scenarios import Place
from tests.support.scheduled import Counting, made
from tests.support.traffic import record as foreign_record
from tests.support.waiting import until
from tests.support.workers import WorkerHere, agents_here


def numbers(records: list[Generation]) -> dict[str, list[int]]:
    """The numbers of each subject's records, in their order."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for record in records:
        model, number = record.response.split()
        found[model].append(int(number))
    return dict(found)


def whole(records: list[Generation]) -> bool:
    """True if no number of any subject is missing or comes twice."""
    return all(found == list(range(len(found))) for found in numbers(records).values())


async def is_ready(worker: WorkerHere) -> None:
    async def unready() -> bool:
        return not [why for agent in worker._agents if (why := await agent.ready())]

    await until(unready)


class SchedulerPromises:
    """To be inherited with a fixture `place`."""

    @pytest.fixture
    async def raw(self, place: Place) -> dict[str, Any]:
        raw = place.settings(partitions=4)
        await create_topics(place.checked(partitions=4))
        return raw

    async def test_every_subject_has_its_numbers_in_order(self, place: Place, raw: dict[str, Any]):
        source = Counting(("one", "other", "third"))
        async with agents_here([scheduler(source)], raw) as worker:
            for model in source.models:
                await worker.wait_for("assay_scheduled_records_total", 8, agent="counting", model=model)
        records = await made(place.checked(), 24)
        assert whole(records)
        assert set(numbers(records)) == set(source.models)
        assert len({record.id for record in records}) == len(records)

    async def test_a_restart_goes_on_where_it_stopped(self, place: Place, raw: dict[str, Any]):
        for _ in range(2):
            async with agents_here([scheduler(Counting(("one", "other")))], raw) as worker:
                for model in ("one", "other"):
                    await worker.wait_for("assay_scheduled_records_total", 3, agent="counting", model=model)
        records = await made(place.checked(), 12)
        assert whole(records)
        assert all(len(found) >= 6 for found in numbers(records).values())
        assert len({record.id.rpartition("-")[0] for record in records}) == 2, "one sequence a subject"

    async def test_a_record_that_was_published_is_not_made_again_if_its_commit_was_lost(
        self, place: Place, raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ):
        from agents import scheduler as module

        async with agents_here([scheduler(Counting())], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 2, agent="counting", model="m")
            # From now on whatever is committed is what was committed then.
            monkeypatch.setattr(module._Place, "mark", property(lambda place: place.start))
            await worker.wait_for("assay_scheduled_records_total", 6, agent="counting", model="m")
        monkeypatch.undo()
        async with agents_here([scheduler(Counting())], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 2, agent="counting", model="m")
        assert whole(await made(place.checked(), 8))

    async def test_whoever_lost_the_partition_while_it_asked_publishes_nothing(
        self, place: Place, raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ):
        async def refused(*_: object) -> None:
            raise CommitFailedError

        source = Counting()
        source.answers.clear()
        async with agents_here([scheduler(source)], raw) as worker:
            await until(lambda: source.asked)
            (agent,) = worker._agents
            monkeypatch.setattr(agent._consumer, "commit", refused)
            source.answers.set()
            await until(lambda: all(task.done() for task in agent._tasks.values()))
        assert await made(place.checked()) == []

    async def test_a_restart_does_not_hurry(self, place: Place, raw: dict[str, Any]):
        first, second = Counting(seconds_between=3600), Counting(seconds_between=3600)
        async with agents_here([scheduler(first)], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 1, agent="counting", model="m")
        async with agents_here([scheduler(second)], raw) as worker:
            await is_ready(worker)
            for _ in range(10):
                await asyncio.sleep(0.01)
        assert first.asked == [("m", 0)]
        assert second.asked == []

    async def test_a_subject_that_is_away_is_waited_for_and_no_number_is_lost(self, place: Place, raw: dict[str, Any]):
        source = Counting()
        source.away = 3
        async with agents_here([scheduler(source)], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 3, agent="counting", model="m")
        assert source.asked[:4] == [("m", 0)] * 4
        assert whole(await made(place.checked(), 3))

    async def test_a_budget_ends_the_asking_until_tomorrow(self, place: Place, raw: dict[str, Any]):
        budgets = Budgets({"counting": BudgetSettings(calls=5)})
        source = Counting()
        async with agents_here([scheduler(source, budgets=budgets)], raw) as worker:
            await worker.wait_for("assay_records_held", 1, agent="counting")
        assert len(source.asked) == 5
        assert len(await made(place.checked(), 5)) == 5


class TestOnKafka(SchedulerPromises):
    @pytest.mark.parametrize("value", [None, "Köln".encode("latin-1")])
    async def test_foreign_headers_of_any_form_are_passed_over(
        self, place: Place, raw: dict[str, Any], value: bytes | None
    ):
        async with agents_here([scheduler(Counting())], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 2, agent="counting", model="m")
        settings = place.checked()
        names = ("ce_source", "ce_subject", "assay-run", "assay-number")
        publisher = Publisher(settings)
        await publisher.start()
        for partition in range(4):
            headers: Any = [(name, value) for name in names]
            await publisher.publish(Outgoing(settings.topics.outputs, None, foreign_record(1), headers, partition))
        await publisher.stop()
        async with agents_here([scheduler(Counting())], raw) as worker:
            await worker.wait_for("assay_scheduled_records_total", 2, agent="counting", model="m")
        assert whole([each for each in await made(settings, 8) if each.source == "counting"])

    async def test_of_two_workers_one_asks_and_the_other_takes_over(self, place: Place, raw: dict[str, Any]):
        models = tuple(f"m{number}" for number in range(8))
        first, second = Counting(models), Counting(models)
        async with agents_here([scheduler(second)], raw) as staying:
            async with agents_here([scheduler(first)], raw) as leaving:
                await until(lambda: first.asked and second.asked)
                await is_ready(leaving)
                before = {model for model, _ in first.asked}
            for model in before:
                count = staying.metric("assay_scheduled_records_total", agent="counting", model=model)
                await staying.wait_for("assay_scheduled_records_total", count + 2, agent="counting", model=model)
        assert whole(await made(place.checked()))

    def test_kill_9_loses_and_repeats_nothing(self, place: Place):
        raw = place.settings(partitions=2, instance_id="only")
        settings = place.prepare(raw)
        agents = [{"type": "scheduler", "models": ["one", "other"]}]
        series = 'assay_scheduled_records_total{agent="counting",model="one"}'
        with place.worker(agents, raw) as killed:
            killed.wait_ready().wait_for(series, 3)
            killed.kill()
        with place.worker(agents, raw, "next") as following:
            following.wait_ready().wait_for(series, 3)
            assert following.terminate() == 0
        records = asyncio.run(made(settings))
        assert whole(records)
        assert len(numbers(records)["one"]) >= 6


class TestEmbedded(SchedulerPromises):
    @pytest.fixture
    def place(self, embedded_place: Place) -> Place:
        return embedded_place

    @pytest.fixture
    async def raw(self, place: Place) -> dict[str, Any]:
        return place.settings()
