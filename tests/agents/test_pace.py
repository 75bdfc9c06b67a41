"""Whether a worker keeps up is told in a minute, with the share that it could check."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from agents import pace, worker
from agents.pace import Pace, report_pace
from streams.faust_app import PartitionProgress
from streams.metrics import StreamMetrics
from tests.support.checkers import Sleep
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.workers import worker_here


class Series:
    """A pace that is looked at every five seconds."""

    def __init__(self, *, samples: bool = True) -> None:
        self.registry = CollectorRegistry()
        self.now = 0.0
        metrics = StreamMetrics(self.registry, max_subjects=1).agent("consistency")
        self.pace = Pace("consistency", metrics, samples=samples, clock=lambda: self.now)
        self.end = self.finished = 0.0

    def run(self, seconds: int, arriving: float, finished: float, partitions: int = 1) -> Iterator[dict[str, object]]:
        """What is logged meanwhile."""
        for _ in range(seconds // 5):
            self.now += 5
            self.end += 5 * arriving
            self.finished = min(self.end, self.finished + 5 * finished)
            with capture_logs() as logs:
                none, whole = PartitionProgress(0, 0), PartitionProgress(int(self.end), int(self.finished))
                self.pace.look({number: none if number else whole for number in range(partitions)})
            yield from logs

    def rate(self, which: str) -> float | None:
        return self.registry.get_sample_value(f"assay_records_{which}_per_second", {"agent": "consistency"})


def test_a_queue_that_is_never_drained_is_told_in_a_minute_once_with_the_share_that_could_be_checked():
    series = Series()
    (told,) = series.run(65, arriving=10, finished=3.5)
    assert (told["event"], told["log_level"]) == ("more records come than are finished", "warning")
    assert (told["arriving"], told["finished"], told["share"]) == (10, 3.5, 0.35)
    assert (series.rate("arriving"), series.rate("finished")) == (10, 3.5)
    assert not [*series.run(600, arriving=10, finished=3.5)]
    # It is told again after it was over.
    assert not [*series.run(2400, arriving=1, finished=3.5)]
    assert [*series.run(300, arriving=10, finished=3.5)]


@given(arriving=st.floats(0.1, 500), finished=st.floats(0.1, 500), behind=st.integers(0, 5000))
def test_who_keeps_up_is_not_told_off(arriving: float, finished: float, behind: int):
    series = Series()
    series.end = behind
    told = [*series.run(300, arriving=arriving, finished=finished)]
    if finished >= arriving:
        assert not told
    for one in told:
        # With that share of what comes it would keep up.
        assert one["share"] * arriving <= finished * 1.05 + 0.5


async def test_a_slow_checker_is_told_what_share_it_could_check(prepared: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pace, "_WINDOW_SECONDS", 4.0)
    monkeypatch.setattr(pace, "_BACKLOG_SECONDS", 1.0)
    monkeypatch.setattr(worker, "_MEASURE_EVERY_SECONDS", 0.5)
    topic = prepared.checked().topics.outputs
    with capture_logs() as logs:
        async with worker_here([Sleep(0.5, spread=0)], prepared.settings(concurrency=5)) as running:
            # Ten a second of forty.
            for batch in range(32):
                await put(prepared.servers, topic, [record(batch * 10 + number) for number in range(10)])
                await asyncio.sleep(0.25)
            lag = running.metric("assay_consumer_lag_records", agent="sleep")
            finished = running.metric("assay_records_finished_per_second", agent="sleep")
    assert lag > 100
    assert 4 <= finished <= 14
    (told,) = [one for one in logs if one["event"] == "more records come than are finished"]
    assert 0.1 <= told["share"] <= 0.6


async def test_at_the_start_the_judges_pace_is_logged_with_what_comes(prepared: Place):
    await put(prepared.servers, prepared.checked().topics.outputs, map(record, range(600)))
    with capture_logs() as logs:
        await report_pace(prepared.checked(), "openai/judge", 0.5)
        await report_pace(prepared.checked(), "openai/judge", 50.0)
    slow, quick = logs
    assert (slow["log_level"], slow["takes"], slow["arriving"], slow["share"]) == ("warning", 0.5, 1.0, 0.5)
    assert (quick["log_level"], "share" in quick) == ("info", False)
