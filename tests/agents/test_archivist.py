"""The archivist's promises: every verdict is in the store once, whatever is killed or away."""

import asyncio
import random
import re
import resource
import time
from collections import Counter
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest

from agents.archivist import Archivist
from schemas import Alert, Calibration, Label, ReviewRequest, Verdict, to_json
from schemas.evidence import PluginEvidence
from store import tables
from store.redaction import Redaction
from store.settings import StoreSettings
from store.writing import StoreWriter, TableEntry
from tests.support.labels import CALIBRATION, LABEL, REQUEST
from tests.support.page import dead_letter
from tests.support.postgres import running_postgres
from tests.support.rejections import alert, improvement
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put, record
from tests.support.trust_verdicts import put_verdicts, verdict
from tests.support.waiting import until, wait_until
from tests.support.workers import WorkerHere, agents_here


class ArchivistPromises:
    """To be inherited with a fixture `stored`."""

    kills = 3

    def archiving(self, place: Place, stored: Stored, **settings: Any) -> AbstractAsyncContextManager[WorkerHere]:
        return agents_here([partial(Archivist, StoreSettings(url=stored.url, **settings))], place.settings())

    async def test_what_is_on_the_topics_is_in_the_store(self, prepared: Place, stored: Stored):
        topics = prepared.checked().topics
        request = REQUEST.model_copy(update={"asked_at": datetime.now(UTC)})
        verdicts = [verdict(number, number % 3 > 0) for number in range(30)]
        await put_verdicts(prepared.servers, topics, verdicts)
        await put(prepared.servers, topics.alerts, [to_json(alert(1))])
        await put(prepared.servers, topics.improved, [to_json(improvement(1, topics.outputs))])
        await put(prepared.servers, topics.dead_letter, [to_json(dead_letter("fair"))])
        await put(prepared.servers, topics.outputs, [record(1)])
        await put(prepared.servers, topics.review_requests, [to_json(request)])
        await put(prepared.servers, topics.labels, [to_json(LABEL)])
        await put(prepared.servers, topics.calibration, [to_json(CALIBRATION)])
        async with self.archiving(prepared, stored) as worker:
            await _archived(worker, verdict=30, alert=1, improvement=1, dead_letter=1)
            await _archived(worker, review_request=1, label=1, calibration=1)
        assert sorted(row["id"] for row in stored.rows(tables.VERDICTS)) == sorted(each.id for each in verdicts)
        found = {body["id"]: Verdict.model_validate(body) for body in stored.bodies(tables.EVIDENCE)}
        assert found == {each.id: each for each in verdicts}
        assert [Alert.model_validate(body) for body in stored.bodies(tables.ALERTS)] == [alert(1)]
        assert len(stored.bodies(tables.IMPROVEMENTS)) == 1
        assert [ReviewRequest.model_validate(body) for body in stored.bodies(tables.REVIEW_REQUESTS)] == [request]
        assert [Label.model_validate(body) for body in stored.bodies(tables.LABELS)] == [LABEL]
        assert [Calibration.model_validate(body) for body in stored.bodies(tables.CALIBRATIONS)] == [CALIBRATION]
        assert stored.counts() == stored.recounted() + Counter({("", "", "fair", "dead_letter"): 1})
        assert stored.number(tables.RECORDS) == 0

    def test_kills_lose_and_double_nothing(self, place: Place, stored: Stored):
        """kill -9 at random moments of reading, writing and between, and a restart each time."""
        rng = random.Random(7)
        raw = place.settings(partitions=2, instance_id="only")
        settings = place.prepare(raw)
        agents = [{"type": "archivist", "url": stored.url}]
        sent = [
            verdict(number, rng.random() < 0.9, source=f"app-{number % 5}", model=f"model-{number % 3}")
            for number in range(1998)
        ]
        for part in (sent[cycle :: self.kills] for cycle in range(self.kills)):
            asyncio.run(put_verdicts(place.servers, settings.topics, part))
            about = [LABEL.model_copy(update={"verdict_id": each.id, "source": each.source}) for each in part[::9]]
            asyncio.run(put(place.servers, settings.topics.labels, list(map(to_json, [*about, *about]))))
            with place.worker(agents, raw) as worker:
                worker.wait_ready()
                time.sleep(rng.uniform(0, 0.5))
        labelled = Counter(each.id for cycle in range(self.kills) for each in sent[cycle :: self.kills][::9])
        with place.worker(agents, raw) as worker:
            worker.wait_ready()
            wait_until(lambda: stored.number(tables.VERDICTS) >= len(sent))
            wait_until(lambda: stored.number(tables.LABELS) >= len(labelled))
            assert worker.terminate() == 0
        assert Counter(row["id"] for row in stored.rows(tables.VERDICTS)) == Counter(each.id for each in sent)
        assert Counter(row["verdict_id"] for row in stored.rows(tables.LABELS)) == labelled
        assert stored.counts() == stored.counts(tables.DAY_COUNTS) == stored.recounted()

    async def test_it_goes_on_from_where_another_one_has_written_to_meanwhile(self, prepared: Place, stored: Stored):
        topics = prepared.checked().topics
        here = (topics.accepted, 0)
        sent = [verdict(number, True) for number in range(30)]
        async with self.archiving(prepared, stored) as worker:
            await put_verdicts(prepared.servers, topics, sent[:10])
            await _archived(worker, verdict=10)
            cluster = stored.rows(tables.PROGRESS)[0]["cluster"]
            # As one does that was thought dead.
            other = StoreWriter(stored.engine, Redaction(()), cluster=cluster)
            between = [TableEntry(here, offset, to_json(sent[offset]), sent[offset]) for offset in range(10, 20)]
            other.write(between, {here: 10})
            await put_verdicts(prepared.servers, topics, sent[10:])
            await _archived(worker, verdict=20)
        assert stored.number(tables.VERDICTS) == stored.counts().total() == 30

    async def test_what_cannot_be_read_is_counted_and_holds_nothing_up(self, prepared: Place, stored: Stored):
        topics = prepared.checked().topics
        # Evidence of a later version is none of it.
        later = to_json(verdict(1, False)).replace(b'"type":"plugin"', b'"type":"later"')
        await put(
            prepared.servers, topics.rejected, [b"{", b'{"id": "secret"}', b"[]", to_json(verdict(0, False)), later]
        )
        async with self.archiving(prepared, stored) as worker:
            await _archived(worker, verdict=2)
            assert worker.metric("assay_archive_passed_over_total") == 3
        assert [body["evidence"]["type"] for body in stored.bodies(tables.EVIDENCE)] == ["plugin", "later"]


class TestArchivistOnSqlite(ArchivistPromises):
    @pytest.fixture
    def stored(self, sqlite_store: Stored) -> Stored:
        return sqlite_store

    async def test_records_are_kept_if_they_are_asked_for(self, prepared: Place, stored: Stored):
        topics = prepared.checked().topics
        await put(prepared.servers, topics.outputs, [record(1), b"{", record(1), record(2, prompt="to ann@x.org")])
        async with self.archiving(prepared, stored, records=True, redact=(r"\w+@[\w.]+",)) as worker:
            await _archived(worker, record=3)
        assert [body["prompt"] for body in stored.bodies(tables.RECORDS)][1] == "to █████████"
        assert stored.number(tables.RECORDS) == 2

    def test_a_full_disk_stops_it_alone_until_there_is_room(self, prepared: Place, stored: Stored):
        topics = prepared.checked().topics
        agents = [{"type": "archivist", "url": stored.url}, {"type": "accept"}]
        with prepared.worker(agents, prepared.settings()) as worker:
            worker.wait_ready()
            before = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            asyncio.run(put_verdicts(prepared.servers, topics, _large(200)))
            wait_until(lambda: re.search("database or disk is full|disk I/O", worker.get("/readyz").text))
            # Checks go on.
            asyncio.run(put(prepared.servers, topics.outputs, map(record, range(20))))
            worker.wait_for("assay_verdicts_total", 20)
            worker.wait_for('assay_intake_paused{agent="archivist"}', 1)
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, before)
            worker.wait_for('assay_archived_total{kind="verdict"}', 220)
            worker.wait_ready()
        assert stored.number(tables.VERDICTS) == stored.counts().total() == 220


class TestArchivistOnPostgresql(ArchivistPromises):
    kills = 1

    @pytest.fixture
    def stored(self, postgresql_store: Stored) -> Stored:
        return postgresql_store

    async def test_two_share_the_partitions_and_one_takes_over(self, place: Place, stored: Stored):
        raw = place.settings(partitions=4)
        topics = (await asyncio.to_thread(place.prepare, raw)).topics
        settings = StoreSettings(url=stored.url)
        sent = [verdict(n, True, source=f"app-{n % 20}") for n in range(600)]
        async with agents_here([partial(Archivist, settings)], raw) as second:
            async with agents_here([partial(Archivist, settings)], raw) as first:
                await until(lambda: _ready(first, second))
                await put_verdicts(place.servers, topics, sent[:300])
                await until(lambda: stored.number(tables.VERDICTS) == 300)
                await until(
                    lambda: all(each.metric("assay_archived_total", kind="verdict") for each in (first, second))
                )
                await put_verdicts(place.servers, topics, sent[300:])
            await until(lambda: stored.number(tables.VERDICTS) == 600)
        assert stored.counts().total() == 600

    async def test_a_database_that_is_gone_is_waited_for(self, prepared: Place):
        topics = prepared.checked().topics
        with running_postgres() as server, server.database("store", pgvector=False) as url:
            stored = Stored(url)
            server.stop()
            await put_verdicts(prepared.servers, topics, [verdict(0, True)])
            async with agents_here([partial(Archivist, StoreSettings(url=url))], prepared.settings()) as worker:
                assert "archivist" in await until(lambda: _fault(worker))
                server.start()
                await _archived(worker, verdict=1)
                server.stop()
                await put_verdicts(prepared.servers, topics, [verdict(1, True)])
                assert "cannot write to the store" in await until(lambda: _fault(worker))
                server.start()
                await _archived(worker, verdict=2)
                await until(lambda: _ready(worker))
            assert stored.number(tables.VERDICTS) == stored.counts().total() == 2
            stored.close()


def _large(number: int) -> list[Verdict]:
    """Verdicts that take some 5 kB each."""
    return [
        verdict(
            n, True, evidence=PluginEvidence(checker="fair", findings={"x": random.Random(n).randbytes(4000).hex()})
        )
        for n in range(number)
    ]


async def _archived(worker: WorkerHere, **kinds: int) -> None:
    for kind, number in kinds.items():
        await worker.wait_for("assay_archived_total", number, kind=kind)


async def _ready(*workers: WorkerHere) -> bool:
    return not any([await _fault(each) for each in workers])


async def _fault(worker: WorkerHere) -> str | None:
    """What it says where it is not ready."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{worker.http.port}/readyz")
    return None if answer.is_success else answer.text
