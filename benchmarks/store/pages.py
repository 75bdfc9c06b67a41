"""The time of each page over a large store, as a browser asks for it."""

import asyncio
import math
import statistics
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from aiohttp.test_utils import TestClient, TestServer

from benchmarks.store.filling import CHECKERS, DAYS, MODELS, SOURCES
from benchmarks.tables import table
from store.opening import open_for_reading
from store.reading import Reader, Wanted
from web.app import create_app
from web.lists import RANGES

_ROUNDS = 20
WITHIN = 200.0
"""Milliseconds that 95 of 100 answers may take."""


def measure_pages(url: str) -> bool:
    """Print the times of all pages; false if one takes too long."""
    reader = Reader(open_for_reading(url))
    pages = _pages(reader)
    taken = asyncio.run(_asked(reader, list(pages.values())))
    reader.close()
    rows = [[name, round(statistics.median(ms)), round(_p95(ms))] for name, ms in zip(pages, taken, strict=True)]
    print(table(["page", "ms, median", "ms, p95"], rows))
    slowest = max(map(_p95, taken))
    print(f"\nslowest p95: {slowest:.0f} ms of {WITHIN:.0f} allowed")
    return slowest <= WITHIN


def _pages(reader: Reader) -> dict[str, str]:
    """Names and addresses."""
    now = datetime.now(UTC)
    newest = reader.verdicts(Wanted(), limit=50)
    rejected = reader.verdicts(Wanted(outcomes=("reject",)), limit=1)[0]
    middle = reader.verdicts(Wanted(until=now - timedelta(days=DAYS / 2)), limit=1)[0].key
    series = {"source": SOURCES[0], "model": MODELS[0], "checker": CHECKERS[0]}
    words = newest[0].reason.split()

    def between(days: float, minutes: int) -> dict[str, str]:
        since = now - timedelta(days=days)
        return {"since": f"{since:%Y-%m-%dT%H:%M}", "until": f"{since + timedelta(minutes=minutes):%Y-%m-%dT%H:%M}"}

    def listed(**filters: object) -> str:
        return f"/verdicts?{urlencode(filters)}"

    free = {"50 minutes of today": between(0.1, 50), "a day and a half": between(1.6, 2160),
            "20 minutes, 10 days ago": between(10, 20), "12 days": between(20, 17_280)}  # fmt: skip
    return {
        **{f"overview, {words}": f"/?minutes={minutes}" for minutes, words in RANGES.items()},
        **{f"overview, {name}": f"/?{urlencode(period)}" for name, period in free.items()},
        "list": "/verdicts",
        **{f"list, {words}": listed(minutes=minutes) for minutes, words in RANGES.items()},
        **{f"list, {name}": listed(**period) for name, period in free.items()},
        "list, half way back": listed(before=f"{middle[0]}.{middle[1]}"),
        "list, an application": listed(source=SOURCES[0]),
        "list, an application, rejected": listed(source=SOURCES[0], outcome="reject"),
        "list, a checker, undecided": listed(checker=CHECKERS[0], outcome="abstain"),
        "list, a series": listed(**series),
        "list, a series, undecided, 90 days": listed(**series, outcome="abstain", minutes=129_600),
        "list, an application that is not there": listed(source="none"),
        "list, the same fault": listed(checker=rejected.checker, fault=rejected.fault or ""),
        "list, a word": listed(q=words[0]),
        "list, two words, rejected": listed(q=" ".join(words[:2]), outcome="reject"),
        "list as JSON": "/verdicts.json",
        "list as CSV, rejected": "/verdicts.csv?outcome=reject",
        **{f"failures, {words}": f"/failures?minutes={minutes}" for minutes, words in RANGES.items()},
        "failures of a series": f"/failures?{urlencode({**series, 'minutes': 129_600})}",
        "verdict": f"/verdicts/{rejected.id}",
        "record": f"/records/{newest[0].source}/{newest[0].record_id}",
        "alerts": "/alerts",
        "alert": f"/alerts/{reader.alerts(limit=1)[0][1].id}",
    }


async def _asked(reader: Reader, addresses: list[str]) -> list[list[float]]:
    """Milliseconds of each round. The pages take turns."""
    times: list[list[float]] = [[] for _ in addresses]
    async with TestClient(TestServer(create_app(reader, host="127.0.0.1", token=None))) as client:
        for _ in range(_ROUNDS):
            for elapsed, address in zip(times, addresses, strict=True):
                before = time.perf_counter()
                answer = await client.get(address)
                await answer.read()
                elapsed.append((time.perf_counter() - before) * 1000)
                if answer.status != 200:
                    raise RuntimeError(f"{address}: {answer.status}")
    return times


def _p95(times: list[float]) -> float:
    return sorted(times)[math.ceil(0.95 * len(times)) - 1]
