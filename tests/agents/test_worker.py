"""The worker's own doors: readiness, what ends it, and what its logs hold."""

import asyncio
import json
import re
import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import KafkaError, KafkaTimeoutError

from agents import worker as worker_module
from agents.checker_agent import CheckerAgent
from agents.judge import JudgeProbe
from agents.worker import COULD_NOT_FINISH
from models.settings import JudgeSettings
from streams import connection
from streams.errors import StreamError
from streams.topic_reader import read_topic
from tests.support.checkers import Accept, Sleep
from tests.support.kafka import KafkaBroker
from tests.support.scenarios import Place
from tests.support.traffic import collect, first_verdicts, put, record
from tests.support.waiting import until
from tests.support.workers import worker_here


async def test_it_is_ready_when_it_has_joined_and_the_judge_answers(place: Place):
    judge: list[str | None] = ["connection refused"]

    async def probe() -> str | None:
        return judge[0]

    raw, _ = await place.ready()
    async with (
        worker_here([Accept(), Sleep(1)], raw, judge_probe=probe) as worker,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{worker.http.port}") as client,
    ):

        async def joined() -> bool:
            return "has not joined" not in (await client.get("/readyz")).text

        await until(joined)
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        ready = dict.fromkeys(("agents", "kafka", "accept", "sleep"), "ok")
        assert answer.json()["parts"] == ready | {"judge": "connection refused"}
        assert (await client.get("/healthz")).status_code == 200
        judge[0] = None
        assert (await client.get("/readyz")).status_code == 200
        assert "assay_records_in_flight" in (await client.get("/metrics")).text


async def _refuse(self: AIOKafkaProducer, *message: object, **options: object) -> None:
    raise KafkaTimeoutError


async def _fail_later(self: AIOKafkaProducer, *message: object, **options: object) -> asyncio.Future[None]:
    answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.01, answer.set_exception, KafkaTimeoutError())
    return answer


@pytest.mark.parametrize("send", [_refuse, _fail_later])
async def test_a_verdict_that_the_broker_does_not_take_ends_it_and_the_record_comes_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, send: Any
):
    raw, settings = await place.ready()
    await put(place.servers, settings.topics.outputs, map(record, range(20)))
    with monkeypatch.context() as patched:
        patched.setattr(AIOKafkaProducer, "send", send)
        async with worker_here([Accept()], raw) as worker:
            assert await worker.ended == COULD_NOT_FINISH
    async with worker_here([Accept()], raw):
        seen = await collect(place.servers, settings.topics, records=20)
    assert len(seen.verdicts) == 20


async def test_a_port_that_is_taken_is_named(place: Place):
    raw, settings = await place.ready()
    from agents.worker import Worker

    async with worker_here([Accept()], raw) as first:
        taken = settings.model_copy(update={"http": settings.http.model_copy(update={"port": first.http.port})})
        second = Worker([partial(CheckerAgent, Accept())], taken)
        with pytest.raises(StreamError, match=rf"{first.http.port}.*http\.port"):
            await second.start()
        await second.stop()


def test_logs_hold_ids_and_places_but_no_text(place: Place):
    raw = place.settings()
    settings = place.prepare(raw)
    values = [record(1, response="confidential one"), b'{"kind":"generation","response":"confidential two"}']
    with place.worker([{"type": "accept", "answers": True}], raw) as worker:
        worker.wait_ready()
        asyncio.run(put(place.servers, settings.topics.outputs, values))
        asyncio.run(collect(place.servers, settings.topics, records=1, letters=1))
        worker.terminate()
    log = worker.log.read_text()
    assert "confidential" not in log
    assert f'"topic":"{settings.topics.outputs}"' in log
    assert '"reason":"invalid_record"' in log


async def test_a_broker_that_is_away_holds_up_neither_the_end_nor_an_error_at_the_start(
    own_kafka: KafkaBroker, tmp_path
):
    place = Place(own_kafka.bootstrap_servers, "away", tmp_path)
    raw, settings = await place.ready(drain_seconds=1)
    await put(place.servers, settings.topics.outputs, map(record, range(300)))
    with place.worker([{"type": "sleep", "seconds": 0.3}], raw) as worker:
        await asyncio.to_thread(worker.wait_ready)
        await asyncio.to_thread(own_kafka.stop)
        await asyncio.to_thread(worker.wait_for_log, "Unable connect to node")
        assert await asyncio.to_thread(worker.terminate) == 0
    assert all(json.loads(line)["event"] for line in worker.log.read_text().splitlines())
    with place.worker([{"type": "sleep", "seconds": 0.01}], raw) as worker:
        assert await asyncio.to_thread(worker.wait) != 0
    assert "no Kafka broker answered" in worker.log.read_text()
    await asyncio.to_thread(own_kafka.start)
    with place.worker([{"type": "sleep", "seconds": 0.01}], raw):
        seen = await collect(place.servers, settings.topics, records=300)
    assert len(seen.verdicts) == 300


async def test_a_broker_that_is_away_is_told_and_ends_a_worker_without_records_as_ever(
    own_kafka: KafkaBroker, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "_ASK_SECONDS", 0.3)
    monkeypatch.setattr(worker_module, "_MEASURE_EVERY_SECONDS", 0.2)
    place = Place(own_kafka.bootstrap_servers, "gone", tmp_path)
    raw, settings = await place.ready()
    told: list[str] = []

    async def follow() -> None:
        def tell(event: str, *, servers: str, since: str, why: str | None = None) -> None:
            assert servers == place.servers
            assert event == "Kafka answers again" or f"answered at {servers} (Connection refused)" in (why or "")
            told.append(event)

        async for _ in read_topic(settings.kafka, settings.topics.alerts, follow=True, report=tell):
            pass

    following = asyncio.create_task(follow())
    async with (
        worker_here([Accept()], raw) as worker,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{worker.http.port}") as client,
    ):

        def lag() -> float | None:
            return worker.registry.get_sample_value("assay_consumer_lag_records", {"agent": "accept"})

        async def ready() -> bool:
            return (await client.get("/readyz")).status_code == 200

        await until(ready)
        await until(lambda: lag() is not None)
        own_kafka.kill()
        killed = time.time()
        await until(lambda: told == ["Kafka does not answer"])
        await until(lambda: lag() is None)
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        assert re.fullmatch(rf"no answer from {place.servers} since \S+Z", answer.json()["parts"]["kafka"])
        # An answer may have been on its way.
        assert worker.metric("assay_kafka_last_answer_timestamp_seconds") <= killed + 1
        await asyncio.to_thread(own_kafka.start)
        await until(ready)
        await until(lambda: lag() is not None)
        await until(lambda: told == ["Kafka does not answer", "Kafka answers again"])
        assert worker.metric("assay_kafka_last_answer_timestamp_seconds") > killed
        own_kafka.kill()
        await until(lambda: len(told) == 3)
    assert not worker.stuck
    following.cancel()


async def test_a_verdict_says_when_its_output_was_made_and_of_which_version_of_the_application(place: Place):
    raw, settings = await place.ready(records={"version_metadata": ["prompt_version", "absent"]})
    told = {"occurred_at": "2026-11-21T10:00:00Z", "metadata": {"prompt_version": "7", "customer": "secret"}}
    await put(place.servers, settings.topics.outputs, [record(1, **told)])
    async with worker_here([Accept()], raw):
        (verdict,) = await first_verdicts(place.servers, settings.topics.accepted, 1)
    assert verdict.occurred_at == datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert verdict.metadata == {"prompt_version": "7"}


async def test_a_judge_that_takes_connections_and_says_nothing_stays_unready():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as endpoint:
        port = endpoint.sockets[0].getsockname()[1]
        probe = JudgeProbe(JudgeSettings(backend="openai", base_url=f"http://127.0.0.1:{port}/v1", model="m"))
        assert (await probe() or "").startswith("no answer from judge.base_url")


async def test_a_group_that_refuses_a_join_for_no_known_reason_is_joined_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    raw, settings = await place.ready(instance_id="static")
    join, refused = GroupCoordinator._do_rejoin_group, []

    async def refuse_once(coordinator: GroupCoordinator, subscription: Any) -> bool:
        if not refused:
            refused.append(subscription)
            raise KafkaError("UnknownError()")
        return await join(coordinator, subscription)

    monkeypatch.setattr(GroupCoordinator, "_do_rejoin_group", refuse_once)
    await put(place.servers, settings.topics.outputs, map(record, range(3)))
    async with worker_here([Accept()], raw):
        seen = await collect(place.servers, settings.topics, records=3)
    assert refused
    assert len(seen.verdicts) == 3
