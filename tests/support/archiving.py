"""An archivist's life in production, in short: it is killed at random moments, and what is in its store is compared."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from schemas import Label, Verdict, to_json
from store.tables import DAY_COUNTS, LABELS, VERDICTS
from tests.support.scenarios import Place
from tests.support.stored import Stored
from tests.support.traffic import put
from tests.support.trust_verdicts import put_verdicts, verdict
from tests.support.waiting import wait_until


@dataclass
class Kept:
    """What is in the store after the kills."""

    sent: list[Verdict]
    ids: Counter[str]
    counts: Counter[tuple[str, str, str, str]]
    """By the hours' counts."""
    labelled: Counter[str]
    """Labels by verdict; of each tenth verdict one was sent twice."""
    before_each_kill: list[int]
    """Verdicts in the store."""
    seconds: float

    @property
    def lost(self) -> int:
        return len({each.id for each in self.sent} - self.ids.keys())

    @property
    def twice(self) -> int:
        return self.ids.total() - len(self.ids)

    @property
    def counted_wrongly(self) -> int:
        """By how much the counts are off."""
        expected = Counter[tuple[str, str, str, str]](
            (each.source, each.model, each.checker, each.outcome) for each in self.sent
        )
        return sum(abs(expected[key] - self.counts[key]) for key in expected.keys() | self.counts.keys())


def kill_archivist_often(place: Place, stored: Stored, *, verdicts: int, kills: int, seed: int = 7) -> Kept:
    """kill -9 at random moments of reading, writing and between, and a restart each time."""
    rng = random.Random(seed)
    begun = time.monotonic()
    raw = place.settings(partitions=2, instance_id="only")
    settings = place.prepare(raw)
    agents: list[dict[str, Any]] = [{"type": "archivist", "url": stored.url}]
    sent = [
        verdict(number, rng.random() < 0.9, source=f"app-{number % 5}", model=f"model-{number % 3}")
        for number in range(verdicts)
    ]
    before = []
    for cycle in range(kills):
        part = sent[cycle * verdicts // kills : (cycle + 1) * verdicts // kills]
        asyncio.run(put_verdicts(place.servers, settings.topics, part))
        labels = [to_json(_label(each)) for each in part if int(each.record_id[1:]) % 10 == 0]
        asyncio.run(put(place.servers, settings.topics.labels, [*labels, *labels]))
        with place.worker(agents, raw, "archivist") as worker:
            worker.wait_ready()
            time.sleep(rng.uniform(0, 0.5))
            worker.kill()
        before.append(stored.number(VERDICTS))
    with place.worker(agents, raw, "archivist") as worker:
        worker.wait_ready()
        wait_until(lambda: stored.number(VERDICTS) >= verdicts, lambda: f"{stored.number(VERDICTS)} of {verdicts}")
        wait_until(lambda: stored.number(LABELS) >= verdicts // 10, lambda: f"{stored.number(LABELS)} labels")
        assert worker.terminate() == 0
    ids = Counter(row["id"] for row in stored.rows(VERDICTS))
    assert stored.counts(DAY_COUNTS) == stored.counts()
    labelled = Counter(row["verdict_id"] for row in stored.rows(LABELS))
    return Kept(sent, ids, stored.counts(), labelled, before, time.monotonic() - begun)


def _label(of: Verdict) -> Label:
    return Label(verdict_id=of.id, source=of.source, model=of.model, annotator="ada", label="bad", note="a wrong day")
