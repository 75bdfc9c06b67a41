"""Alertmanager is told until it has heard, as long as it lasts, and that it is over."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from agents.trust.alertmanager import Alertmanager
from agents.trust.metrics import TrustMetrics
from agents.trust.settings import AlertmanagerSettings
from agents.trust.verdict_reader import SeriesKey
from schemas import Alert, RejectedRecord
from streams.metrics import StreamMetrics
from tests.support.alertmanager_stand_in import StandIn, stand_in
from tests.support.monitored import FIXED, put_verdicts, stream, verdict
from tests.support.scenarios import Place
from tests.support.workers import monitor_here

QUICK: dict[str, Any] = {"resend_seconds": 0.2, "timeout_seconds": 0.5}


def alert(model: str = "m", kind: str = "trust_drop", reasons: tuple[str, ...] = ("Wrong year.",)) -> Alert:
    return Alert.model_validate(
        {
            "id": f"alert-{model}",
            "kind": kind,
            "checker": "fair",
            "source": "shop",
            "model": model,
            "raised_at": datetime.now(UTC),
            "baseline": 0.9,
            "baseline_from": "configured",
            "observed": 0.5,
            "observed_low": 0.4,
            "observed_high": 0.6,
            "verdicts": 100,
            "error_bound": 0.01,
            "summary": f"Trust in {model} dropped.",
            "rejected": [
                RejectedRecord(verdict_id=f"v{n}", record_id=f"r{n}", reason=reason, checked_at=datetime.now(UTC))
                for n, reason in enumerate(reasons)
            ],
        }
    )


class Told:
    """An Alertmanager client and what it counts."""

    def __init__(self, **given: Any) -> None:
        self.registry = CollectorRegistry()
        metrics = TrustMetrics(StreamMetrics(self.registry, max_subjects=10))
        self.client = Alertmanager(AlertmanagerSettings(**(QUICK | given)), metrics)

    def posts(self, outcome: str) -> float:
        return self.registry.get_sample_value("assay_alertmanager_posts_total", {"outcome": outcome}) or 0.0


@contextlib.asynccontextmanager
async def telling(*urls: str, **given: Any) -> AsyncIterator[Told]:
    told = Told(urls=urls, **given)
    told.client.start()
    try:
        yield told
    finally:
        await told.client.stop()


class TestWhatIsPosted:
    async def test_labels_annotations_and_times(self):
        drop = alert(reasons=("Says 1999.\nThe reference\x1b[31m says 1998.", "Wrong place."))
        async with stand_in() as door, telling(door.url, labels={"team": "search"}, resend_seconds=30) as told:
            told.client.dropped(drop)
            await door.until(lambda door: bool(door.posts))
        ((posted,),) = door.posts
        assert posted["labels"] == {
            "alertname": "AssayTrustDrop",
            "severity": "page",
            "team": "search",
            "checker": "fair",
            "source": "shop",
            "model": "m",
        }
        assert posted["annotations"]["summary"] == "Trust in m dropped."
        assert posted["annotations"]["alert_id"] == "alert-m"
        assert posted["annotations"]["rejected"] == "r0: Says 1999. The reference [31m says 1998.\nr1: Wrong place."
        for figure in ("50.0%", "100", "40.0%", "60.0%", "90.0%", "1.0%"):
            assert figure in posted["annotations"]["description"]
        assert datetime.fromisoformat(posted["startsAt"]) == drop.raised_at
        ends = datetime.fromisoformat(posted["endsAt"]) - datetime.now(UTC)
        assert timedelta(seconds=110) < ends <= timedelta(seconds=120)

    async def test_reasons_can_be_kept_back_and_long_ones_are_cut(self):
        long = tuple("x" * 480 for _ in range(20))
        async with stand_in() as door:
            async with telling(door.url, reasons=False) as told:
                told.client.dropped(alert(reasons=long))
                await door.until(lambda door: bool(door.posts))
            assert door.alerts[0]["annotations"]["rejected"] == "\n".join(f"r{n}" for n in range(20))
            door.posts.clear()
            async with telling(door.url) as told:
                told.client.dropped(alert(reasons=long))
                await door.until(lambda door: bool(door.posts))
        text = door.alerts[0]["annotations"]["rejected"]
        assert len(text) < 4100
        assert text.endswith("\n(and 12 more)")

    async def test_the_authorization_is_sent(self):
        async with stand_in() as door, telling(door.url + "/", authorization=SecretStr("Bearer 77")) as told:
            told.client.dropped(alert())
            await door.until(lambda door: bool(door.posts))
        assert door.headers[0]["Authorization"] == "Bearer 77"

    async def test_many_alerts_go_in_several_requests(self):
        async with stand_in() as door, telling(door.url, resend_seconds=30) as told:
            for number in range(150):
                told.client.dropped(alert(f"m{number}"))
            await door.until(lambda door: len(door.alerts) >= 150)
            assert max(map(len, door.posts)) <= 64
            assert len({each["labels"]["model"] for each in door.alerts}) == 150


class TestResending:
    async def test_a_drop_is_told_again_and_again_and_each_time_holds_longer(self):
        async with stand_in() as door, telling(door.url) as told:
            told.client.dropped(alert())
            await door.until(lambda door: len(door.posts) >= 4)
        gaps = [later - earlier for earlier, later in zip(door.times, door.times[1:], strict=False)]
        assert all(0.1 < gap < 0.6 for gap in gaps), gaps
        ends = [each["endsAt"] for each in door.alerts]
        assert ends == sorted(set(ends))

    async def test_news_is_told_at_once_and_what_was_told_is_not(self):
        async with stand_in() as door, telling(door.url, resend_seconds=30) as told:
            told.client.dropped(alert("a"))
            await door.until(lambda door: len(door.posts) == 1)
            begun = time.monotonic()
            told.client.dropped(alert("b"))
            await door.until(lambda door: len(door.posts) == 2)
            assert time.monotonic() - begun < 1
        assert [each["labels"]["model"] for each in door.alerts] == ["a", "b"]

    async def test_a_recovery_is_told_once_with_its_end(self):
        async with stand_in() as door, telling(door.url) as told:
            told.client.dropped(alert())
            await door.until(lambda door: bool(door.posts))
            recovery = alert(kind="trust_recovery")
            told.client.recovered(recovery)
            await door.until(lambda door: datetime.fromisoformat(door.alerts[-1]["endsAt"]) == recovery.raised_at)
            posts = len(door.posts)
            await asyncio.sleep(0.6)
            assert len(door.posts) == posts
        assert len(door.standing()) == 1

    async def test_what_is_forgotten_is_told_no_more_and_not_ended(self):
        async with stand_in() as door, telling(door.url) as told:
            told.client.dropped(alert())
            await door.until(lambda door: bool(door.posts))
            told.client.forget([SeriesKey("shop", "m", "fair")])
            posts = len(door.posts)
            await asyncio.sleep(0.6)
            assert len(door.posts) <= posts + 1
        assert all(ends > datetime.now(UTC) - timedelta(seconds=1) for ends in door.standing().values())

    async def test_a_recovery_of_what_was_never_told_is_nothing(self):
        async with stand_in() as door, telling(door.url) as told:
            told.client.recovered(alert(kind="trust_recovery"))
            await asyncio.sleep(0.3)
        assert door.times == []


class TestFailures:
    async def test_it_is_tried_again_until_it_is_heard(self):
        async with stand_in() as door, telling(door.url) as told:
            door.status = 503
            told.client.dropped(alert())
            await door.until(lambda door: len(door.times) >= 3)
            assert told.posts("refused") >= 2
            door.status = 200
            await door.until(lambda door: bool(door.posts))
            assert told.posts("accepted") >= 1

    async def test_one_that_is_away_or_hangs_delays_no_other(self):
        async with stand_in() as door, stand_in() as hangs:
            hangs.status = None
            async with telling("http://127.0.0.1:9", hangs.url, door.url, timeout_seconds=5) as told:
                begun = time.monotonic()
                told.client.dropped(alert())
                await door.until(lambda door: bool(door.posts))
                assert time.monotonic() - begun < 2
                await door.until(lambda _: told.posts("failed") >= 1)

    async def test_a_recovery_is_tried_until_it_is_heard_and_given_up_when_it_is_over_anyway(self):
        async with stand_in() as door, telling(door.url, resend_seconds=0.3) as told:
            told.client.dropped(alert())
            await door.until(lambda door: bool(door.posts))
            door.status = 500
            told.client.recovered(alert(kind="trust_recovery"))
            tried = len(door.times)
            await door.until(lambda door: len(door.times) >= tried + 2)
            await asyncio.sleep(2.0)
            tried = len(door.times)
            await asyncio.sleep(1.0)
            assert len(door.times) == tried

    async def test_without_an_alertmanager_nothing_is_kept(self):
        told = Told()
        told.client.start()
        told.client.dropped(alert())
        told.client.recovered(alert(kind="trust_recovery"))
        await told.client.stop()
        assert told.client._told == {}


async def test_the_monitor_tells_of_a_drop_goes_on_after_a_restart_and_tells_of_the_recovery(place: Place):
    raw = place.settings()
    settings = await asyncio.to_thread(place.prepare, raw)
    begin = int((time.time() - 3600) * 1000)
    sent = stream([(600, 0.9), (300, 0.4)])
    await put_verdicts(place.servers, settings.topics, sent, begin_ms=begin)
    async with stand_in() as door:
        alertmanager = AlertmanagerSettings(urls=(door.url,), **QUICK)
        async with monitor_here(raw, alertmanager, **FIXED):
            await door.until(lambda door: len(door.posts) >= 2, 30)
        told = len(door.posts)
        door.status = 503
        async with monitor_here(raw, alertmanager, **FIXED) as monitor:
            await monitor.wait_for("assay_alertmanager_posts_total", 1, outcome="refused")
            door.status = 200
            await door.until(lambda door: len(door.posts) > told)
            assert _labels(door) == {("fair", "shop", "m")}
            assert monitor.metric("assay_trust_dropped", checker="fair", source="shop", model="m") == 1
            better = [verdict(number, number % 20 > 0) for number in range(900, 1500)]
            await put_verdicts(place.servers, settings.topics, better)
            await door.until(_ended, 30)
            assert monitor.metric("assay_trust_dropped", checker="fair", source="shop", model="m") == 0
    assert len(door.standing()) == 1
    assert "r" in door.alerts[0]["annotations"]["rejected"]


def _labels(door: StandIn) -> set[tuple[str, str, str]]:
    return {(each["labels"]["checker"], each["labels"]["source"], each["labels"]["model"]) for each in door.alerts}


def _ended(door: StandIn) -> bool:
    return all(ends <= datetime.now(UTC) for ends in door.standing().values())
