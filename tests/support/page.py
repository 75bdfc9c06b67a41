"""A store filled with verdicts as checkers gave them, and the page over it."""

import contextlib
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import event

from schemas import Calibration, DeadLetter, Generation, Improvement, Origin, RejectedRecord, ReviewRequest, read_record
from schemas.alerts import Change
from schemas.verdicts import ImprovementRound, SentenceChange
from store.opening import open_for_reading
from store.reading import Reader
from store.writing import Message
from tests.support.labels import CALIBRATION, REQUEST
from tests.support.rejections import alert, improvement
from tests.support.stored import Stored
from web.app import create_app

SAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "web" / "samples.jsonl").read_text("utf-8").splitlines()
]
"""A verdict of each kind of evidence, as a checker gave it, with its record."""


ALERT = alert(
    1,
    source="support-bot",
    model="acme-chat-4",
    raised_at=datetime.now(UTC) - timedelta(hours=2),
    baseline=0.82,
    baseline_from="learned",
    observed=0.31,
    observed_low=0.22,
    observed_high=0.41,
    verdicts=88,
    changed=(Change(name="metadata.prompt", before="v3", after="v4"),),
    judge="strict-judge",
    rejected=(RejectedRecord(verdict_id="ver-1", record_id="r1", reason="a wrong date", checked_at=datetime.now(UTC)),),
)
"""A drop that was raised two hours ago."""


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


class PageStore(Stored):
    """A store that can be filled, and is read as the page does."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        if self.engine.dialect.name == "sqlite":
            # What it holds is not needed tomorrow.
            event.listen(self.engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
            self.engine.dispose()
        self.reader = Reader(open_for_reading(url))

    def close(self) -> None:
        self.reader.close()
        super().close()

    def keep_samples(self) -> None:
        """A verdict of each kind, and its record."""
        self.keep(one["verdict"] for one in SAMPLES)
        records = [json.dumps(one["record"]).encode() for one in SAMPLES]
        self.keep_message(*(read_record(one, max_bytes=len(one)) for one in records))

    def keep_record(self, **fields: Any) -> None:
        self.keep_message(Generation.model_validate({"kind": "generation", "model": "acme-chat-4", **fields}))

    def keep_message(self, *messages: Message) -> None:
        self.keep(messages)


def asked(of: dict[str, Any], number: int, **more: Any) -> ReviewRequest:
    """A request about a verdict; those with a lower number come first."""
    names = ("record_id", "source", "model", "checker", "config_digest", "outcome")
    given = {"id": f"req-{number}", "verdict_id": of["id"]} | {name: of[name] for name in names}
    now = datetime.now(UTC)
    times = {"asked_at": now + timedelta(seconds=number), "expires_at": now + timedelta(days=14)}
    return REQUEST.model_copy(update=given | times | more)


def dead_letter(checker: str, offset: int = 0) -> DeadLetter:
    """A message that a checker failed on."""
    origin = Origin(topic="t", partition=0, offset=offset)
    return DeadLetter.of(b"{", reason="not_json", detail="", origin=origin, checker=checker, keep_bytes=9)


@contextlib.asynccontextmanager
async def opened(store: PageStore, **options: Any) -> AsyncIterator[TestClient]:
    """A client of the page, which is served on loopback unless `host` says otherwise."""
    app = create_app(store.reader, **{"host": "127.0.0.1", "token": None, **options})
    async with TestClient(TestServer(app)) as client:
        yield client


def improved(verdict_id: str) -> Improvement:
    """A rejected response that was rewritten and then accepted."""
    after = "You can return the lamp within 30 days of delivery."
    before = after.replace("30", "45")
    change = SentenceChange(before=before, after=after, start=0, end=len(before), reason="The passage says 30 days.")
    last = ImprovementRound(response=after, changes=(change,), outcome="accept", score=1.0, consistent_share=1.0)
    subject = {"record_id": "sup-02", "source": "support-bot", "model": "acme-chat-4"}
    return improvement(1, "t", verdict_id=verdict_id, before=before, after=after, rounds=(last,), **subject)


ROWS = re.compile(r'<a href="/verdicts/(ver-[\w-]+)"')
"""Finds the ids in the rows of a list."""


async def text_of(client: TestClient, path: str, status: int = 200) -> str:
    answer = await client.get(path, headers={"Accept": "text/html"})
    assert answer.status == status, path
    return await answer.text()


async def shown_on(client: TestClient, path: str) -> str:
    html = re.sub(r"</(td|th|li|p|d[td]|h\d)>", " ", await text_of(client, path))
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def calibration(number: int = 1, **more: Any) -> Calibration:
    """What people's labels say of the judge of most samples, as of now."""
    of = {name: sample("sup-02")[name] for name in ("source", "model", "checker", "config_digest")}
    return CALIBRATION.model_copy(update=of | {"id": f"cal-{number}", "updated_at": datetime.now(UTC)} | more)
