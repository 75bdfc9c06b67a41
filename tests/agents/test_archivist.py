"""The archivist's promises: every verdict is in the store once, whatever is killed or away."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.archivist import archivist
from schemas import Alert, DeadLetter, Origin, Verdict, to_json
from store.settings import StoreSettings
from store.tables import ALERTS, EVIDENCE, IMPROVEMENTS, RECORDS, VERDICTS
from tests.support.postgres import Postgres
from tests.support.rejections import alert, improvement
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put, record
from tests.support.trust_verdicts import put_verdicts, verdict
from tests.support.workers import WorkerHere, agents_here


class ArchivistPromises:
    """To be inherited with a fixture `stored`."""

    async def test_what_is_on_the_topics_is_in_the_store(self, prepared: Place, stored: Stored):
        raw, settings = prepared.settings(), prepared.checked()
        topics = settings.topics
        verdicts = [verdict(number, number % 3 > 0) for number in range(30)]
        await put_verdicts(prepared.servers, topics, verdicts)
        letter = DeadLetter.of(
            b"{",
            reason="not_json",
            detail="",
            origin=Origin(topic=topics.outputs, partition=0, offset=9),
            checker="fair",
            keep_bytes=9,
        )
        await put(prepared.servers, topics.alerts, [to_json(alert(1))])
        await put(prepared.servers, topics.improved, [to_json(improvement(1, topics.outputs))])
        await put(prepared.servers, topics.dead_letter, [to_json(letter)])
        await put(prepared.servers, topics.outputs, [record(1)])
        async with agents_here([archivist(StoreSettings(url=stored.url))], raw) as worker:
            await _archived(worker, verdict=30, alert=1, improvement=1, dead_letter=1)
        assert sorted(row["id"] for row in stored.rows(VERDICTS)) == sorted(each.id for each in verdicts)
        found = {body["id"]: Verdict.model_validate(body) for body in stored.bodies(EVIDENCE)}
        assert found == {each.id: each for each in verdicts}
        assert [Alert.model_validate(body) for body in stored.bodies(ALERTS)] == [alert(1)]
        assert len(stored.bodies(IMPROVEMENTS)) == 1
        assert stored.counts() == stored.recounted() + Counter({("", "", "fair", "dead_letter"): 1})
        assert stored.number(RECORDS) == 0


async def _archived(worker: WorkerHere, **kinds: int) -> None:
    for kind, number in kinds.items():
        await worker.wait_for("assay_archived_total", number, kind=kind)


class TestArchivistOnSqlite(ArchivistPromises):
    @pytest.fixture
    def stored(self, tmp_path: Path) -> Iterator[Stored]:
        stored = Stored(f"sqlite:///{tmp_path}/verdicts.db")
        yield stored
        stored.close()


class TestArchivistOnPostgresql(ArchivistPromises):
    @pytest.fixture
    def stored(self, postgres: Postgres, prepared: Place) -> Iterator[Stored]:
        with postgres.database(prepared.prefix, pgvector=False) as url:
            stored = Stored(url)
            yield stored
            stored.close()
