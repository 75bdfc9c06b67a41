"""The OTLP receiver: each request is answered as the protocol demands, and yes means that Kafka has the records."""

import asyncio
import contextlib
import gzip
import random
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import psutil
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from agents.otlp.agents import otlp_agents
from schemas import read_record
from streams.otlp.settings import OtlpSettings
from streams.topics import create_topics
from tests.agents.otlp_attacks import hostile, raw_answer
from tests.support.kafka import KafkaBroker
from tests.support.otlp import START, TRACE, as_json, chat, logs, pairs, span, traces
from tests.support.ports import free_port
from tests.support.scenarios import Place
from tests.support.traffic import first_of
from tests.support.waiting import until
from tests.support.workers import WorkerHere, agents_here

TOKEN = "sesame-sesame-sesame"
PROTOBUF, JSON = "application/x-protobuf", "application/json"


@contextlib.asynccontextmanager
async def _receiving(place: Place, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, WorkerHere]]:
    checked = OtlpSettings.model_validate({"listen": f"127.0.0.1:{free_port()}"} | settings)
    async with (
        agents_here(otlp_agents(checked, ["otlp-receiver"]), place.settings()) as worker,
        httpx.AsyncClient(base_url=f"http://{checked.listen}", timeout=30) as client,
    ):
        yield client, worker


async def _post(
    client: httpx.AsyncClient, body: bytes, kind: str = PROTOBUF, path: str = "/v1/traces", **more: str
) -> Any:
    headers = {"content-type": kind} | {name.replace("_", "-"): value for name, value in more.items()}
    return await client.post(path, content=body, headers=headers)


async def test_spans_and_log_records_become_records_and_the_answer_is_of_the_same_type(prepared: Place):
    event = LogRecord(
        trace_id=bytes.fromhex(TRACE), span_id=(4).to_bytes(8, "big"), time_unix_nano=START, attributes=pairs(chat())
    )
    async with _receiving(prepared) as (client, worker):
        first = await _post(client, traces(span(1, chat())).SerializeToString())
        second = await _post(client, as_json(traces(span(2, chat()))), f"{JSON}; charset=utf-8")
        packed = gzip.compress(traces(span(3, chat())).SerializeToString())
        third = await _post(client, packed, content_encoding="gzip")
        fourth = await _post(client, logs(event).SerializeToString(), path="/v1/logs")
        records = await first_of(prepared.servers, prepared.checked().topics.outputs, 4)
        assert worker.metric("assay_otlp_records_total") == 4
        assert worker.metric("assay_otlp_requests_total", status="200") == 4
    assert [answer.status_code for answer in (first, second, third, fourth)] == [200] * 4
    assert ExportTraceServiceResponse.FromString(first.content) == ExportTraceServiceResponse()
    assert first.headers["content-type"] == PROTOBUF
    assert (second.json(), second.headers["content-type"].partition(";")[0]) == ({}, JSON)
    assert ExportLogsServiceResponse.FromString(fourth.content) == ExportLogsServiceResponse()
    expected = {f"{TRACE}-{number:016x}" for number in range(1, 5)}
    assert {read_record(record, max_bytes=10**6).id for record in records} == expected


async def test_what_is_not_whole_is_told_as_rejected_and_a_request_of_nothing_else_is_refused(prepared: Place):
    cut = span(1, chat(), dropped_attributes_count=1)
    plain = span(2, {"http.request.method": "GET"})
    async with _receiving(prepared) as (client, _):
        partly = await _post(client, traces(cut, plain, span(3, chat())).SerializeToString())
        as_text = await _post(client, as_json(traces(cut, plain)), JSON)
        wholly = await _post(client, traces(cut).SerializeToString())
        wholly_json = await _post(client, as_json(traces(cut)), JSON)
        nothing = await _post(client, b"")
    answer = ExportTraceServiceResponse.FromString(partly.content).partial_success
    assert (partly.status_code, answer.rejected_spans, answer.error_message) == (200, 1, "not whole: 1 truncated")
    expected = {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "not whole: 1 truncated"}}
    assert (as_text.status_code, as_text.json()) == (200, expected)
    assert (wholly.status_code, _message(wholly)) == (400, "not whole: 1 truncated")
    assert (wholly_json.status_code, wholly_json.json()) == (400, {"message": "not whole: 1 truncated"})
    assert nothing.status_code == 200


def _message(answer: httpx.Response) -> str:
    # google.rpc.Status, field 2.
    assert answer.content[0] == 0x12
    assert answer.content[1] == len(answer.content) - 2
    return answer.content[2:].decode()


async def test_a_request_without_the_token_is_not_read(prepared: Place):
    body = traces(span(1, chat())).SerializeToString()
    async with _receiving(prepared, token=TOKEN) as (client, worker):
        for wrong in (
            {},
            {"authorization": TOKEN},
            {"authorization": f"Bearer {TOKEN}x"},
            {"authorization": "Bearer ü"},
        ):
            answer = await client.post(
                "/v1/traces",
                content=body,
                headers={name: value.encode() for name, value in ({"content-type": PROTOBUF} | wrong).items()},
            )
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert worker.metric("assay_otlp_records_total") == 0
        assert (await _post(client, body, authorization=f"Bearer {TOKEN}")).status_code == 200


def test_other_machines_need_a_token():
    with pytest.raises(ValueError, match=r"other machines can reach 0\.0\.0\.0:4318: set token as well"):
        OtlpSettings.model_validate({"listen": "0.0.0.0:4318"})
    with pytest.raises(ValueError, match="at least 16"):
        OtlpSettings.model_validate({"listen": "0.0.0.0:4318", "token": "short"})
    assert OtlpSettings.model_validate({"listen": "[::1]:4318"}).token is None


GOOD = traces(span(1, chat())).SerializeToString()
BOMB = gzip.compress(bytes(200_000_000))


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (415, GOOD, {"content-type": "text/plain"}),
        (415, GOOD, {"content-type": ""}),
        (415, GOOD, {"content-encoding": "br"}),
        (400, GOOD, {"content-type": JSON}),
        (400, as_json(traces(span(1, chat()))), {}),
        (400, b"[]", {"content-type": JSON}),
        (400, GOOD, {"content-encoding": "gzip"}),
        (400, gzip.compress(GOOD)[:-3], {"content-encoding": "gzip"}),
        (400, gzip.compress(b"") * 100_000, {"content-encoding": "gzip"}),
        (400, zlib.compress(GOOD), {"content-encoding": "gzip"}),
        (413, BOMB, {"content-encoding": "gzip"}),
        (413, bytes(17_000_000), {}),
    ],
)
async def test_what_is_no_request_is_refused_and_not_asked_for_again(
    embedded_place: Place, status: int, body: bytes, headers: dict[str, str]
):
    async with _receiving(embedded_place) as (client, _):
        answer = await client.post("/v1/traces", content=body, headers={"content-type": PROTOBUF} | headers)
        assert answer.status_code == status
        assert "retry-after" not in answer.headers
        assert (await _post(client, GOOD)).status_code == 200


async def test_a_bomb_is_not_unpacked_further_than_a_request_may_be_long(embedded_place: Place):
    async with _receiving(embedded_place) as (client, _):
        tracemalloc.start()
        try:
            assert (await _post(client, BOMB, content_encoding="gzip")).status_code == 413
            assert tracemalloc.get_traced_memory()[1] < 60_000_000
        finally:
            tracemalloc.stop()


async def test_a_body_that_goes_on_for_ever_or_comes_too_slowly_is_refused(
    embedded_place: Place, monkeypatch: pytest.MonkeyPatch
):
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(100_000)

    async def slow() -> AsyncIterator[bytes]:
        while True:
            yield b"\n"
            await asyncio.sleep(0.05)

    async with _receiving(embedded_place) as (client, worker):
        for body, status, seconds in ((endless(), "413", 60), (slow(), "408", 0.3)):
            monkeypatch.setattr("agents.otlp.receiver._BODY_SECONDS", seconds)
            # A client that does not stop sending may be cut off before it reads the answer.
            with contextlib.suppress(httpx.WriteError, httpx.ReadError):
                await client.post("/v1/traces", content=body, headers={"content-type": PROTOBUF})
            await worker.wait_for("assay_otlp_requests_total", 1, status=status)
        assert (await _post(client, GOOD)).status_code == 200


async def test_too_many_at_once_are_asked_to_come_back(embedded_place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.otlp.receiver._AT_ONCE", 1)
    go_on = asyncio.Event()

    async def waiting() -> AsyncIterator[bytes]:
        yield GOOD[:10]
        await go_on.wait()
        yield GOOD[10:]

    async with _receiving(embedded_place) as (client, worker):
        first = asyncio.create_task(client.post("/v1/traces", content=waiting(), headers={"content-type": PROTOBUF}))
        await worker.wait_for("assay_records_in_flight", 1, agent="otlp-receiver")
        refused = await _post(client, GOOD)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        go_on.set()
        assert (await first).status_code == 200
        assert (await _post(client, GOOD)).status_code == 200


async def test_too_many_a_second_are_asked_to_come_back(embedded_place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.otlp.receiver._A_SECOND", 2)
    async with _receiving(embedded_place, token=TOKEN) as (client, _):
        token = {"authorization": f"Bearer {TOKEN}"}
        # Those without the token take nobody's place.
        assert [(await _post(client, GOOD)).status_code for _ in range(5)] == [401] * 5
        answers = await asyncio.gather(*(_post(client, GOOD, **token) for _ in range(5)))
        refused = [answer for answer in answers if answer.status_code != 200]
        assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(429, "1")}
        assert len(refused) >= 2
        await asyncio.sleep(0.6)
        assert (await _post(client, GOOD, **token)).status_code == 200


async def test_who_is_refused_waits_for_the_answer_and_nobody_else_does(
    embedded_place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agents.otlp.receiver._REFUSALS_A_SECOND", 2)
    async with _receiving(embedded_place, token=TOKEN) as (client, _):
        wrong = [_post(client, GOOD), _post(client, b"{", authorization=f"Bearer {TOKEN}"), client.get("/")]
        refused = [asyncio.ensure_future(each) for each in (*wrong, *(_post(client, GOOD) for _ in range(9)))]
        await asyncio.wait(refused, return_when=asyncio.FIRST_COMPLETED)
        assert (await _post(client, GOOD, authorization=f"Bearer {TOKEN}")).status_code == 200
        assert sum(each.done() for each in refused) < len(refused)
        answers = await asyncio.gather(*refused)
    assert [answer.status_code for answer in answers] == [401, 400, 404] + [401] * 9


async def test_connections_beyond_the_limit_are_closed(embedded_place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.otlp.receiver._CONNECTIONS", 2)
    async with _receiving(embedded_place) as (client, _):
        port = client.base_url.port
        _, first = await asyncio.open_connection("127.0.0.1", port)
        _, second = await asyncio.open_connection("127.0.0.1", port)
        with pytest.raises(httpx.TransportError):
            await _post(client, GOOD)
        first.close()
        second.close()

        async def taken() -> bool:
            with contextlib.suppress(httpx.TransportError):
                return bool((await _post(client, GOOD)).status_code == 200)
            return False

        await until(taken)


async def test_a_connection_without_a_whole_request_is_closed(embedded_place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.otlp.receiver._SILENT_SECONDS", 0.5)
    async with _receiving(embedded_place) as (client, _):
        for begun in (b"", b"POST /v1/traces HTTP/1.1\r\nHost: a\r\n"):
            assert await raw_answer(client.base_url.port or 0, begun) == b""
        assert (await _post(client, GOOD)).status_code == 200


async def test_too_many_bytes_at_once_are_asked_to_come_back(embedded_place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agents.otlp.receiver._LARGEST_TOGETHER", 100_000)
    async with _receiving(embedded_place) as (client, _):
        refused = await _post(client, bytes(200_000))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert (await _post(client, GOOD)).status_code == 200


async def test_while_kafka_does_not_acknowledge_the_answer_is_to_come_back(
    own_kafka: KafkaBroker, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agents.worker._FLUSH_SECONDS", 0.1)
    place = Place(own_kafka.bootstrap_servers, "away", tmp_path)
    await create_topics(place.checked())
    async with _receiving(place) as (client, _):
        assert (await _post(client, GOOD)).status_code == 200
        own_kafka.stop()
        monkeypatch.setattr("agents.otlp.receiver._ANSWER_SECONDS", 0.5)
        refused = await _post(client, traces(span(2, chat())).SerializeToString())
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


async def test_500_hostile_requests_are_answered_and_leave_the_worker_as_it_was(
    embedded_place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("agents.otlp.receiver._BODY_SECONDS", 0.2)
    monkeypatch.setattr("agents.otlp.receiver._A_SECOND", 10_000)
    monkeypatch.setattr("agents.otlp.receiver._REFUSALS_A_SECOND", 10_000)
    draw = random.Random(31)
    async with _receiving(embedded_place, token=TOKEN) as (client, worker):
        port = client.base_url.port
        assert port is not None
        assert (await _post(client, GOOD, authorization=f"Bearer {TOKEN}")).status_code == 200
        before = psutil.Process().memory_info().rss
        limit = asyncio.Semaphore(40)

        async def attack(request: bytes) -> bytes:
            async with limit:
                return await raw_answer(port, request)

        answers = await asyncio.gather(*(attack(hostile(draw, TOKEN)) for _ in range(500)))
        assert psutil.Process().memory_info().rss - before < 150_000_000
        assert (await _post(client, GOOD, authorization=f"Bearer {TOKEN}")).status_code == 200
        assert worker.metric("assay_otlp_records_total") == 2
    assert caplog.text == ""
    codes = {answer.split(b" ", 2)[1] for answer in answers if answer}
    assert codes >= {b"400", b"401", b"404", b"405", b"408", b"413", b"415"}
    assert codes <= {b"400", b"401", b"404", b"405", b"408", b"411", b"413", b"415", b"429"}
