"""Webhooks: each message reaches its target signed, however often that must be tried, or becomes a dead letter."""

import asyncio
import base64
import contextlib
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from agents.webhook_settings import WebhookSettings, keys_of
from agents.webhooks import signed_headers, webhook
from schemas import DeadLetter, to_json
from streams.replay import read_dead_letters, replay
from streams.settings import StreamSettings
from tests.support.ports import free_port
from tests.support.rejections import alert, improvement, rejection, series_anew
from tests.support.scenarios import Place
from tests.support.traffic import collect, committed, first_of, put, record
from tests.support.waiting import until
from tests.support.webhook_target import SECRET, Request, WebhookTarget, always, first, hangs, take
from tests.support.workers import WorkerHere, WorkerProcess, agents_here


class TestOnApacheKafka:
    async def test_a_rejected_verdict_comes_signed_with_its_record(self, place: Place):
        _, settings = await place.ready()
        outputs = settings.topics.outputs
        # What producers add is kept, down to how they write it.
        records = [b'{"n": 1.50, "id":"r0","kind":"generation","source":"tests","model":"m","response":"\\u00fcber"}']
        await put(place.servers, outputs, records)
        verdict = rejection(0, outputs)
        await put(place.servers, settings.topics.rejected, [to_json(verdict)])
        target = WebhookTarget()
        async with target.running(), _working(settings, tuning=_to(target, include_record=True)) as worker:
            await target.wait_for(1)
            await worker.wait_for("assay_webhook_deliveries_total", 1, webhook="tuning", outcome="delivered")
            assert worker.metric("assay_webhook_duration_seconds_count", webhook="tuning") == 1
        (request,) = target.requests
        assert request.id == verdict.id
        assert request.body == {
            "type": "assay.verdict.rejected.v1",
            "timestamp": "2026-11-16T08:00:00Z",
            "data": orjson.loads(to_json(verdict)),
            "record": json.loads(records[0]),
        }

    async def test_nothing_is_lost_while_the_target_is_down_and_intake_pauses(self, place: Place):
        _, settings = await place.ready(concurrency=16)
        await put(place.servers, settings.topics.rejected, _rejected(settings, 60))
        target = WebhookTarget(port=free_port())
        async with _working(settings, tuning=_to(target)) as worker:
            await worker.wait_for("assay_intake_paused", 1, agent="webhook-tuning")
            failed = worker.metric("assay_webhook_deliveries_total", webhook="tuning", outcome="failed")
            failures = {"webhook": "tuning", "outcome": "failed"}
            await worker.wait_for("assay_webhook_deliveries_total", failed + 2, **failures)
            assert worker.metric("assay_records_in_flight", agent="webhook-tuning") == 16
            async with target.running():
                await worker.wait_for("assay_webhook_deliveries_total", 60, webhook="tuning", outcome="delivered")
            assert worker.metric("assay_intake_paused", agent="webhook-tuning") == 0
            assert worker.metric("assay_records_held", agent="webhook-tuning") == 0
        assert len(target.ids) == len(target.requests) == 60
        assert target.most_under_way <= 4

    async def test_improvements_and_alerts_come_with_types_of_their_own(self, place: Place):
        _, settings = await place.ready()
        topics = settings.topics
        better = improvement(0, topics.outputs)
        await put(place.servers, topics.improved, [to_json(better)])
        await put(place.servers, topics.alerts, [to_json(alert(1)), to_json(series_anew(1))])
        target = WebhookTarget()
        async with target.running(), _working(settings, tuning=_to(target, topics=["improved", "alerts"])) as worker:
            await target.wait_for(3)
            await worker.wait_for("assay_webhook_deliveries_total", 3, webhook="tuning", outcome="delivered")
        bodies = {request.id: request.body for request in target.requests}
        assert bodies["imp-0"]["type"] == "assay.improvement.v1"
        assert bodies["imp-0"]["data"]["after"] == better.after
        assert bodies["alert-1"]["type"] == "assay.alert.v1"
        assert bodies["alert-1"]["data"]["rejected"][0]["record_id"] == "r1"
        assert bodies["alert-1"]["record"] is None
        assert bodies["anew-1"]["type"] == "assay.series-anew.v1"

    async def test_what_may_pass_is_tried_again_under_the_same_id_and_not_sooner_than_asked(self, place: Place):
        _, settings = await place.ready()
        (message,) = _rejected(settings, 1)
        await put(place.servers, settings.topics.rejected, [message])
        busy = {"Retry-After": "2"}
        target = WebhookTarget(answer=first(always(503), always(500), always(429, **busy), always(408), always(425)))
        async with target.running(), _working(settings, tuning=_to(target)) as worker:
            await worker.wait_for("assay_webhook_deliveries_total", 1, webhook="tuning", outcome="delivered")
            assert worker.metric("assay_webhook_deliveries_total", webhook="tuning", outcome="failed") == 5
        assert len(target.requests) == 6
        assert target.ids == {json.loads(message)["id"]}
        assert 2 <= target.requests[3].at - target.requests[2].at < 5

    @pytest.mark.parametrize("status", [410, 301])
    async def test_what_is_refused_becomes_a_dead_letter_and_can_be_replayed(self, place: Place, status: int):
        _, settings = await place.ready()
        messages = _rejected(settings, 3)
        await put(place.servers, settings.topics.rejected, messages)
        unwanted = json.loads(messages[1])["id"]
        elsewhere = WebhookTarget()

        async def answer(request: Request) -> web.StreamResponse:
            if request.id == unwanted:
                return await always(status, Location=elsewhere.url)(request)
            return await take(request)

        target = WebhookTarget(answer=answer)
        async with elsewhere.running(), target.running(), _working(settings, tuning=_to(target)) as worker:
            seen = await collect(place.servers, settings.topics, letters=1)
            await worker.wait_for("assay_webhook_deliveries_total", 2, webhook="tuning", outcome="delivered")
            (letter,) = seen.letters.values()
            assert (letter.reason, letter.checker) == ("undeliverable", "webhook-tuning")
            assert str(status) in letter.detail
            assert target.url not in letter.detail
            assert "confidential answer" not in letter.detail
            assert target.attempts(unwanted) == 1
            assert worker.metric("assay_webhook_deliveries_total", webhook="tuning", outcome="undeliverable") == 1
            assert not elsewhere.requests

            target.answer = take
            assert [done.status async for done in replay(settings)] == ["replayed"]
            await worker.wait_for("assay_webhook_deliveries_total", 3, webhook="tuning", outcome="delivered")
        assert target.attempts(unwanted) == 2
        assert target.requests[-1].body["data"] == json.loads(messages[1])

    async def test_a_message_that_the_target_cannot_take_is_given_up_while_it_takes_others(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("agents.webhooks.AT_ONCE", 1)
        monkeypatch.setattr("agents.webhooks._GIVE_UP_SECONDS", 0.5)
        _, settings = await place.ready()
        poison, *others = _rejected(settings, 200)
        unwelcome = json.loads(poison)["id"]

        async def answer(request: Request) -> web.StreamResponse:
            return await (always(500) if request.id == unwelcome else take)(request)

        target = WebhookTarget(answer=answer)
        async with target.running(), _working(settings, tuning=_to(target)) as worker:
            await put(place.servers, settings.topics.rejected, [poison])
            # With nothing to compare it with, the target may as well be down.
            await worker.wait_for("assay_intake_paused", 1, agent="webhook-tuning")
            assert not [letter async for letter in read_dead_letters(settings)]
            sent = 0
            while not worker.metric("assay_webhook_deliveries_total", webhook="tuning", outcome="undeliverable"):
                await put(place.servers, settings.topics.rejected, [others[sent]])
                sent += 1
                await asyncio.sleep(0.2)
            await worker.wait_for("assay_webhook_deliveries_total", sent, webhook="tuning", outcome="delivered")
            ((letter, _),) = [each async for each in read_dead_letters(settings)]
        assert letter.reason == "undeliverable"
        assert letter.payload == poison
        assert "status 500; it takes others" in letter.detail

    async def test_a_target_that_does_not_answer_holds_nobody_else_back(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("agents.webhooks._TIMEOUT_SECONDS", 0.5)
        _, settings = await place.ready()
        await put(place.servers, settings.topics.rejected, _rejected(settings, 40))
        quick, slow = WebhookTarget(), WebhookTarget(answer=hangs(60))
        async with quick.running(), slow.running(), _working(settings, quick=_to(quick), slow=_to(slow)) as worker:
            await worker.wait_for("assay_webhook_deliveries_total", 40, webhook="quick", outcome="delivered")
            await worker.wait_for("assay_webhook_deliveries_total", 3, webhook="slow", outcome="failed")
            slow.answer = take
            await worker.wait_for("assay_webhook_deliveries_total", 40, webhook="slow", outcome="delivered")

    async def test_an_answer_without_end_is_not_read_to_its_end(self, place: Place):
        _, settings = await place.ready()
        await put(place.servers, settings.topics.rejected, _rejected(settings, 1))
        sent = 0

        class Endless(web.StreamResponse):
            async def write_eof(self, data: bytes = b"") -> None:
                nonlocal sent
                with contextlib.suppress(ConnectionError):
                    while True:
                        await self.write(b"x" * 65536)
                        sent += 65536

        async def answer(_: Request) -> web.StreamResponse:
            return Endless(status=200)

        target = WebhookTarget(answer=answer)
        async with target.running(), _working(settings, tuning=_to(target)) as worker:
            await worker.wait_for("assay_webhook_deliveries_total", 1, webhook="tuning", outcome="delivered")
        assert len(target.requests) == 1
        assert sent < 50_000_000

    async def test_what_is_no_verdict_is_a_dead_letter(self, place: Place):
        _, settings = await place.ready()
        signed_by_id = to_json(rejection(0, settings.topics.outputs, id="two\u2009words. And a stop"))
        await put(place.servers, settings.topics.rejected, [b"{", None, b'{"id": "v1"}', signed_by_id])
        async with _working(settings, tuning=_to(WebhookTarget(port=free_port()))):
            letters = map(DeadLetter.model_validate_json, await first_of(place.servers, settings.topics.dead_letter, 4))
        reasons = {letter.origin.offset: letter.reason for letter in letters}
        assert reasons == {0: "not_json", 1: "empty", 2: "invalid_record", 3: "invalid_record"}

    async def test_a_record_that_is_gone_is_null_and_another_at_its_place_is_not_sent(self, place: Place):
        _, settings = await place.ready()
        outputs = settings.topics.outputs
        await put(place.servers, outputs, [record(7)])
        verdicts = [
            rejection(0, outputs),
            rejection(17, outputs),
            rejection(1, outputs, origin=None),
            rejection(2, outputs, origin={"topic": settings.topics.dead_letter, "partition": 0, "offset": 0}),
            rejection(7, outputs, origin={"topic": outputs, "partition": 0, "offset": 0}),
        ]
        await put(place.servers, settings.topics.rejected, map(to_json, verdicts))
        target = WebhookTarget()
        async with target.running(), _working(settings, tuning=_to(target, include_record=True)):
            await target.wait_for(5)
        found = {request.body["data"]["record_id"]: request.body["record"] for request in target.requests}
        assert found == {"r0": None, "r17": None, "r1": None, "r2": None, "r7": json.loads(record(7))}

    async def test_kill_9_loses_nothing_and_repeats_carry_the_same_id(self, place: Place):
        rng = random.Random(7)
        raw, settings = await place.ready(instance_id="only")
        messages = _rejected(settings, 400)
        await put(place.servers, settings.topics.rejected, messages)
        target = WebhookTarget(answer=hangs(0.05))
        async with target.running():
            webhooks = [{"type": "webhook", "name": "tuning", **_to(target)}]
            for kill in range(2):
                with WorkerProcess(webhooks, raw, place.folder / "killed.log") as killed:
                    before = len(target.requests)
                    await until(lambda before=before: len(target.requests) > before)
                    await asyncio.sleep(rng.uniform(0.1, 0.6))
                    assert len(target.ids) < 400, f"kill {kill} comes too late"
                    killed.kill()
            with WorkerProcess(webhooks, raw, place.folder / "last.log") as last:
                await target.wait_for(400)
                assert await asyncio.to_thread(last.terminate) == 0
        assert target.ids == {json.loads(message)["id"] for message in messages}
        by_id = {request.id: request.body for request in target.requests}
        assert all(request.body == by_id[request.id] for request in target.requests)
        group = f"{settings.topics.prefix}.webhook-tuning"
        assert await committed(place.servers, group, settings.topics.rejected) == 400

    async def test_logs_hold_ids_but_no_secret_no_address_and_no_text(self, place: Place):
        raw, settings = await place.ready()
        outputs = settings.topics.outputs
        await put(place.servers, outputs, [record(0, response="confidential response")])
        verdicts = [rejection(number, outputs, reason="confidential reason") for number in range(2)]
        await put(place.servers, settings.topics.rejected, map(to_json, verdicts))

        async def answer(request: Request) -> web.StreamResponse:
            return await (refuse if request.id == verdicts[1].id else fail)(request)

        refuse, fail = always(403), first(always(500), always(503), always(500))
        target = WebhookTarget(answer=answer)
        async with target.running():
            hook = _to(target, include_record=True) | {"url": f"{target.url}?token=confidential"}
            agents = [{"type": "webhook", "name": "tuning", **hook}]
            with WorkerProcess(agents, raw, place.folder / "worker.log", level="DEBUG") as worker:
                await asyncio.to_thread(worker.wait_for_log, "dead letter")
                await asyncio.to_thread(worker.wait_for_log, "webhook not delivered, it waits")
                await until(lambda: target.attempts(verdicts[0].id) == 4)
                assert await asyncio.to_thread(worker.terminate) == 0
        log = worker.log.read_text()
        assert verdicts[0].id in log
        assert "status 500" in log
        assert "whsec" not in log
        assert SECRET.removeprefix("whsec_") not in log
        assert "confidential" not in log
        assert "/hook" not in log


def _to(target: WebhookTarget, **more: Any) -> dict[str, Any]:
    return {"url": target.url, "secret": SECRET} | more


def _rejected(settings: StreamSettings, number: int) -> list[bytes]:
    return [to_json(rejection(each, settings.topics.outputs)) for each in range(number)]


@contextlib.asynccontextmanager
async def _working(settings: StreamSettings, **webhooks: dict[str, Any]) -> AsyncIterator[WorkerHere]:
    agents = [agent for name, each in webhooks.items() for agent in webhook(name, WebhookSettings.model_validate(each))]
    async with agents_here(agents, settings) as worker:
        yield worker


keys = st.binary(min_size=24, max_size=64)


@given(st.text(), st.from_regex(r"[A-Za-z0-9_:-]{1,256}", fullmatch=True), st.lists(keys, min_size=1, max_size=2))
def test_whatever_is_signed_is_verified_by_another_implementation(text: str, identifier: str, secrets: list[bytes]):
    body = text.encode()
    headers = signed_headers(identifier, body, secrets)
    for secret in secrets:
        Webhook(secret).verify(body, headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body + b" ", headers, json_parse=False)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify(body, headers | {"webhook-id": f"{identifier}0"}, json_parse=False)


@given(st.lists(keys, min_size=1, max_size=2), st.booleans())
def test_a_secret_is_the_base64_of_24_to_64_bytes_padded_or_not_and_there_may_be_two(found: list[bytes], padded: bool):
    encoded = [base64.b64encode(key).decode() for key in found]
    given = " ".join("whsec_" + (one if padded else one.rstrip("=")) for one in encoded)
    assert keys_of(SecretStr(given)) == tuple(found)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "ftp://hooks.example/x"}, "expected a URL such as"),
        ({"url": "https://user:confidential@hooks.example/"}, "without credentials"),
        ({"url": "https://hooks.example/#part"}, "without `#`"),
        ({"secret": "whsec_confidential!"}, "openssl rand -base64 32"),
        ({"secret": "whsec_" + base64.b64encode(b"c" * 23).decode()}, "24 to 64 random bytes"),
        ({"secret": f"{SECRET} whsec_confidential"}, "24 to 64 random bytes"),
        ({"topics": ["alerts", "alerts"]}, "named twice"),
        ({"topics": ["alerts"], "include_record": True}, "include_record is for rejected verdicts"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(wrong: dict[str, Any], said: str):
    with pytest.raises(ValidationError) as caught:
        WebhookSettings.model_validate({"url": "https://hooks.example/x", "secret": SECRET} | wrong)
    messages = [error["msg"] for error in caught.value.errors()]
    assert any(said in message for message in messages), messages
    assert not any("confidential" in message for message in messages)


def test_secrets_are_not_shown():
    settings = WebhookSettings(url="https://hooks.example/x", secret=SecretStr(SECRET))
    assert "AAEC" in SECRET
    assert "AAEC" not in repr(settings) + settings.model_dump_json() + str(settings.model_dump())
