"""A store filled with verdicts as checkers gave them, and the page over it."""

import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import Engine, create_engine, event, insert, text

from schemas import Alert, Improvement, ImprovementRound, SentenceChange, SeriesAnew, Usage, to_json
from store.reading import Listed, Reader
from store.tables import ALERTS, COUNTS, EVIDENCE, IMPROVEMENTS, METADATA, RECORDS, VERDICTS
from web.app import create_app

SAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "web" / "samples.jsonl").read_text("utf-8").splitlines()
]
"""A verdict of each kind of evidence, as a checker gave it, with its record."""

_HOUR = 3_600_000


def sample(of: str, /, **changed: Any) -> dict[str, Any]:
    """The verdict on this record, with other fields."""
    return next(one["verdict"] for one in SAMPLES if one["verdict"]["record_id"] == of) | changed


def numbered(count: int, **changed: Any) -> list[dict[str, Any]]:
    """Verdicts a second apart, the last of them given now."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = [f"{now - timedelta(seconds=count - n)}" for n in range(count)]
    return [
        sample("sup-02", id=f"ver-{n}", record_id=f"rec-{n}", checked_at=at, **changed) for n, at in enumerate(times)
    ]


class PageStore:
    """A store in a file."""

    def __init__(self, file: Path) -> None:
        self.engine: Engine = create_engine(f"sqlite:///{file}")
        # What it holds is not needed tomorrow.
        event.listen(self.engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        METADATA.create_all(self.engine)
        with self.engine.begin() as connection:
            connection.execute(text("CREATE VIRTUAL TABLE verdict_words USING fts5(reason, record_id, source, model)"))
        self.reader = Reader(self.engine)

    def keep(self, verdicts: Iterable[dict[str, Any]]) -> None:
        with self.engine.begin() as connection:
            for one in verdicts:
                at = int(datetime.fromisoformat(one["checked_at"]).timestamp() * 1000)
                fields = {name: one[name] for name in Listed._fields if name in one}
                row = insert(VERDICTS).values(**{**fields, "checked_at": at})
                (seq,) = connection.execute(row).inserted_primary_key
                connection.execute(insert(EVIDENCE).values(seq=seq, body=zlib.compress(json.dumps(one).encode())))
                words = "INSERT INTO verdict_words (rowid, reason, record_id) VALUES (:seq, :reason, :record_id)"
                connection.execute(text(words), {"seq": seq, "reason": one["reason"], "record_id": one["record_id"]})
                self.count(one, at, connection=connection)

    def keep_record(self, record: dict[str, Any]) -> None:
        body = zlib.compress(json.dumps(record).encode())
        with self.engine.begin() as connection:
            connection.execute(insert(RECORDS).values(source=record["source"], id=record["id"], kept_at=0, body=body))

    def keep_message(self, message: Alert | SeriesAnew | Improvement) -> None:
        body = zlib.compress(to_json(message))
        with self.engine.begin() as connection:
            if isinstance(message, Improvement):
                row = {"id": message.id, "verdict_id": message.verdict_id, "kept_at": 0}
                connection.execute(insert(IMPROVEMENTS).values(**row, body=body))
                return
            row = {name: getattr(message, name) for name in ("id", "kind", "source", "model", "checker")}
            raised_at = int(message.raised_at.timestamp() * 1000)
            connection.execute(insert(ALERTS).values(**row, raised_at=raised_at, body=body))

    def count(self, series: dict[str, Any], at: int, *, connection: Any) -> None:
        key = {name: series[name] for name in ("source", "model", "checker", "outcome")} | {"hour": at - at % _HOUR}
        statement = text(
            "INSERT INTO count_hour (hour, source, model, checker, outcome, verdicts) "
            "VALUES (:hour, :source, :model, :checker, :outcome, 1) ON CONFLICT DO UPDATE SET verdicts = verdicts + 1"
        )
        connection.execute(statement, key)

    def count_dead_letter(self, checker: str) -> None:
        now = int(datetime.now(UTC).timestamp() * 1000)
        with self.engine.begin() as connection:
            row = {"source": "", "model": "", "checker": checker, "outcome": "dead_letter", "verdicts": 1}
            connection.execute(insert(COUNTS).values(**row, hour=now - now % _HOUR))


@contextlib.asynccontextmanager
async def opened(store: PageStore, **options: Any) -> AsyncIterator[TestClient]:
    """A client of the page, which is served on loopback unless `host` says otherwise."""
    app = create_app(store.reader, **{"host": "127.0.0.1", "token": None, **options})
    async with TestClient(TestServer(app)) as client:
        yield client


def improvement(verdict_id: str) -> Improvement:
    """A rejected response that was rewritten and then accepted."""
    after = "You can return the lamp within 30 days of delivery."
    before = after.replace("30", "45")
    change = SentenceChange(before=before, after=after, start=0, end=len(before), reason="The passage says 30 days.")
    last = ImprovementRound(response=after, changes=(change,), outcome="accept", score=1.0, consistent_share=1.0)
    return Improvement(
        id="imp-1",
        verdict_id=verdict_id,
        record_id="sup-02",
        checker="consistency",
        improver="improver",
        improver_version="1",
        config_digest="0",
        status="improved",
        before=before,
        after=after,
        score_before=0.3,
        score_after=1.0,
        rounds=(last,),
        reason="All sentences are consistent after one round.",
        usage=Usage(),
        source="support-bot",
        model="acme-chat-4",
        writer="writer",
        judge="judge",
    )
