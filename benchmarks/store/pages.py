"""The time of a page in a large store, against a full scan in the same run."""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from benchmarks.store.filling import CHECKERS, DAYS, MODELS, SOURCES
from benchmarks.tables import table
from store.opening import open_store
from store.reading import Reader, Wanted

_PAGE = 50
_ROUNDS = 5

_SCAN = text("SELECT count(*) FROM verdict WHERE reason LIKE '%nowhere%'")

PAGES_WITHIN = 1 / 50
RATES_WITHIN = 1 / 10


def measure_pages(url: str) -> bool:
    """Print the times of what the page asks for; false if one takes too large a share of the scan's."""
    engine = open_store(url)
    reader = Reader(engine)
    since = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    newest = reader.verdicts(Wanted(), limit=_PAGE)
    middle = reader.verdicts(Wanted(until=since + timedelta(days=DAYS / 2)), limit=_PAGE)
    series = reader.series(since)
    all_four = Wanted(sources=SOURCES[:1], models=MODELS[:1], checkers=CHECKERS[:1], outcomes=("reject",))
    an_hour = Wanted(since=since, until=since + timedelta(hours=1))
    pages: dict[str, Callable[[], object]] = {
        "newest": lambda: reader.verdicts(Wanted(), limit=_PAGE),
        "half way back, by its key": lambda: reader.verdicts(Wanted(), before=middle[-1].key, limit=_PAGE),
        "a source": lambda: reader.verdicts(Wanted(sources=SOURCES[:1]), limit=_PAGE),
        "a model": lambda: reader.verdicts(Wanted(models=MODELS[:1]), limit=_PAGE),
        "a checker": lambda: reader.verdicts(Wanted(checkers=CHECKERS[:1]), limit=_PAGE),
        "rejected": lambda: reader.verdicts(Wanted(outcomes=("reject",)), limit=_PAGE),
        "all four": lambda: reader.verdicts(all_four, limit=_PAGE),
        "the names to choose from": lambda: [reader.names(one) for one in ("source", "model", "checker")],
        "a source that is not there": lambda: reader.verdicts(Wanted(sources=("none",)), limit=_PAGE),
        "an hour of the first day": lambda: reader.verdicts(an_hour, limit=_PAGE),
        "a word": lambda: reader.verdicts(Wanted(words=newest[0].reason.split()[0]), limit=_PAGE),
        "two words and rejected": lambda: reader.verdicts(
            Wanted(words=" ".join(newest[0].reason.split()[:2]), outcomes=("reject",)), limit=_PAGE
        ),
        "a verdict with its evidence": lambda: reader.verdict(newest[0].id),
        "the verdicts on a record": lambda: reader.of_record(newest[0].source, newest[0].record_id),
        "what came since": lambda: reader.after(newest[0].seq - 10, Wanted()),
    }
    rates: dict[str, Callable[[], object]] = {
        "accounts of 30 days": lambda: reader.accounts(since),
        "series of 30 days": lambda: reader.series(since),
        f"rates of {len(series)} series by the day": lambda: reader.counts(series, since, minutes=1440),
    }

    def scan() -> None:
        with engine.connect() as connection:
            connection.execute(_SCAN).all()

    whole = _milliseconds(scan)
    rows: list[list[object]] = [["full scan", round(whole, 1), 1.0, None]]
    within = True
    for asked, most in ((pages, PAGES_WITHIN), (rates, RATES_WITHIN)):
        for name, ask in asked.items():
            taken = _milliseconds(ask)
            rows.append([name, round(taken, 2), taken / whole, most])
            within &= taken <= most * whole
    engine.dispose()
    print(table(["page", "ms, median", "share of the scan", "at most"], rows))
    return within


def _milliseconds(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(_ROUNDS):
        before = time.perf_counter()
        ask()
        times.append((time.perf_counter() - before) * 1000)
    return statistics.median(times)
