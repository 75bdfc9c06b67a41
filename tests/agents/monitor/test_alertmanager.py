"""Alertmanager is told until it has heard, as long as it lasts, and that it is over."""

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from agents.monitor.alertmanager import Alertmanager
from agents.monitor.settings import AlertmanagerSettings
from agents.monitor.trust import TrustMetrics
from schemas import Alert, RejectedRecord
from streams.metrics import StreamMetrics
from tests.streams.virtual_time import run_virtually
from tests.support import rejections
from tests.support.scenarios import Place
from tests.support.trust_verdicts import FIXED, put_verdicts, stream, verdict
from tests.support.waiting import until
from tests.support.workers import monitor_here

URL = "http://alertmanager"


def alert(model: str = "m", kind: str = "trust_drop", reasons: tuple[str, ...] = ("Wrong year.",)) -> Alert:
    when = datetime.now(UTC)
    rejected = tuple(
        RejectedRecord(verdict_id=f"v{n}", record_id=f"r{n}", reason=reason, checked_at=when)
        for n, reason in enumerate(reasons)
    )
    return rejections.alert(1, model=model, kind=kind, raised_at=when, rejected=rejected)


class Doors:
    """Alertmanagers that answer within the process: by the event loop's own clock, which a test makes jump."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # The answer by address, 200 if there is none; None keeps a post waiting.
        self.status: dict[str, int | None] = {}
        # Address, time by the loop's clock, and alerts of all attempts.
        self.posts: list[tuple[str, float, list[dict[str, Any]]]] = []
        self.headers: list[httpx.Headers] = []
        transport = httpx.MockTransport(self._answer)
        monkeypatch.setattr(httpx, "AsyncClient", partial(httpx.AsyncClient, transport=transport))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url).removesuffix("/api/v2/alerts")
        self.headers.append(request.headers)
        self.posts.append((url, asyncio.get_running_loop().time(), json.loads(request.content)))
        if (status := self.status.get(url, 200)) is None:
            await asyncio.Event().wait()
        return httpx.Response(status or 500, stream=httpx.ByteStream(b""))


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> Doors:
    return Doors(monkeypatch)


def telling_for(
    steps: list[tuple[float, Callable[[Alertmanager], None]]], *urls: str, until: float, **given: Any
) -> Callable[[str], float]:
    """Tells a client each thing at its time, and stops it; returns what counts its posts by outcome."""
    registry = CollectorRegistry()
    posts = TrustMetrics(StreamMetrics(registry, max_subjects=10)).posts

    async def run() -> None:
        settings = AlertmanagerSettings(urls=urls or (URL,), **given)
        clients = [Alertmanager(url, settings, posts) for url in settings.urls]
        running = [asyncio.create_task(client.run()) for client in clients]
        for at, step in [*steps, (until, lambda _: None)]:
            await asyncio.sleep(at - asyncio.get_running_loop().time())
            for client in clients:
                step(client)
        for task in running:
            task.cancel()
        await asyncio.wait(running)

    run_virtually(run)
    return lambda outcome: registry.get_sample_value("assay_alertmanager_posts_total", {"outcome": outcome}) or 0.0


class TestWhatIsPosted:
    def test_labels_annotations_and_times(self, doors: Doors):
        drop = alert(reasons=("Says 1999.\nThe reference\x1b[31m says 1998.", "Wrong place."))
        given = {"runbook_url": "https://wiki.example/assay", "page_url": "https://assay.example/"}
        authorized = {"authorization": SecretStr("Bearer 77")}
        told = [(0, lambda client: client.take(drop))]
        telling_for(told, f"{URL}/", until=5, **given, **authorized)
        ((_, _, (posted,)),) = doors.posts
        assert doors.headers[0]["Authorization"] == "Bearer 77"
        subject = {"checker": "consistency", "source": "tests", "model": "m"}
        assert posted["labels"] == subject | {"alertname": "AssayTrustDrop", "severity": "page"}
        assert posted["annotations"]["summary"] == "Trust in m dropped."
        assert posted["annotations"]["alert_id"] == "alert-1"
        assert posted["annotations"]["runbook_url"] == "https://wiki.example/assay#assaytrustdrop"
        assert posted["annotations"]["page_url"] == "https://assay.example/alerts/alert-1"
        assert posted["annotations"]["rejected"] == "r0: Says 1999. The reference [31m says 1998.\nr1: Wrong place."
        for figure in ("70.0%", "100", "60.0%", "80.0%", "90.0%", "1.0%"):
            assert figure in posted["annotations"]["description"]
        assert datetime.fromisoformat(posted["startsAt"]) == drop.raised_at
        ends = datetime.fromisoformat(posted["endsAt"]) - datetime.now(UTC)
        assert timedelta(seconds=230) < ends <= timedelta(seconds=240)

    def test_reasons_can_be_kept_back_and_long_ones_are_cut(self, doors: Doors):
        drop = alert(reasons=tuple("x" * 480 for _ in range(20)))
        for reasons in (False, True):
            telling_for([(0, lambda client: client.take(drop))], until=5, reasons=reasons)
        kept_back, text = (alerts[0]["annotations"]["rejected"] for _, _, alerts in doors.posts)
        assert kept_back == "\n".join(f"r{n}" for n in range(20))
        assert text == "\n".join(f"r{n}: {'x' * 350}" for n in range(20))


class TestResending:
    def test_a_drop_is_told_again_and_again_and_each_time_holds_longer(self, doors: Doors):
        telling_for([(0, lambda client: client.take(alert()))], until=200)
        assert [at for _, at, _ in doors.posts] == pytest.approx([0, 60, 120, 180])
        ends = [alerts[0]["endsAt"] for _, _, alerts in doors.posts]
        assert ends == sorted(set(ends))

    def test_a_recovery_is_told_once_with_its_end(self, doors: Doors):
        recovery = alert(kind="trust_recovery")
        telling_for([(0, lambda it: it.take(alert())), (3, lambda it: it.take(recovery))], until=1000)
        (_, _, (drop,)), (_, at, (end,)) = doors.posts
        assert at == 3
        assert datetime.fromisoformat(end["endsAt"]) == recovery.raised_at
        assert end["labels"] == drop["labels"]


class TestFailures:
    def test_it_is_tried_again_until_it_is_heard(self, doors: Doors):
        doors.status[URL] = 503
        well_again = (5.0, lambda _: doors.status.clear())
        posts = telling_for([(0, lambda client: client.take(alert())), well_again], until=9)
        assert [at for _, at, _ in doors.posts] == pytest.approx([0, 0.5, 1.5, 3.5, 7.5])
        assert (posts("failed"), posts("accepted")) == (4, 1)

    def test_one_that_is_away_or_hangs_delays_no_other(self, doors: Doors):
        doors.status |= {"http://away": 500, "http://hangs": None}
        posts = telling_for([(0, lambda it: it.take(alert()))], "http://away", "http://hangs", URL, until=5)
        assert [url for url, *_ in doors.posts].count(URL) == 1
        assert posts("accepted") == 1

    def test_a_recovery_is_tried_until_it_is_heard_and_given_up_when_it_is_over_anyway(self, doors: Doors):
        def recovered(client: Alertmanager) -> None:
            doors.status[URL] = 500
            client.take(alert(kind="trust_recovery"))

        telling_for([(0, lambda client: client.take(alert())), (3, recovered)], until=1000)
        tried = [at for _, at, _ in doors.posts[1:]]
        assert len(tried) > 4
        assert tried[0] == 3
        assert tried[-1] <= 3 + 240


async def test_the_monitor_tells_of_a_drop_goes_on_after_a_restart_and_tells_of_the_recovery(
    place: Place, doors: Doors
):
    raw, settings = await place.ready()
    begin = int((time.time() - 3600) * 1000)
    sent = stream([(600, 0.9), (300, 0.4)])
    await put_verdicts(place.servers, settings.topics, sent, begin_ms=begin)
    alertmanager = AlertmanagerSettings(urls=(URL,))
    async with monitor_here(raw, alertmanager, **FIXED):
        await until(lambda: doors.posts)
    told = len(doors.posts)
    doors.status[URL] = 503
    async with monitor_here(raw, alertmanager, **FIXED) as monitor:
        await monitor.wait_for("assay_alertmanager_posts_total", 1, outcome="failed")
        doors.status.clear()
        await monitor.wait_for("assay_alertmanager_posts_total", 1, outcome="accepted")
        assert len(doors.posts) > told
        assert monitor.metric("assay_trust_dropped", checker="fair", source="shop", model="m") == 1
        better = [verdict(number, number % 20 > 0) for number in range(900, 1500)]
        await put_verdicts(place.servers, settings.topics, better)
        await until(lambda: datetime.fromisoformat(doors.posts[-1][2][0]["endsAt"]) <= datetime.now(UTC))
        assert monitor.metric("assay_trust_dropped", checker="fair", source="shop", model="m") == 0
