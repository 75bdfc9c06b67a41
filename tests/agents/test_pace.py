"""What a worker says of itself: whether it keeps up, and that what it took in is the sum of what became of it."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from agents.pace import Pace, report_pace
from agents.routing import RoutingSettings
from checkers.checker import Decision, Undecidable
from models.protocol import ModelUnavailable
from schemas import Envelope, Verdict
from streams.faust_app import PartitionProgress
from streams.metrics import StreamMetrics
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import put, record
from tests.support.waiting import until
from tests.support.workers import WorkerHere, agents_here, checking


class Series:
    """A pace that is looked at every five seconds."""

    def __init__(self, *, samples: bool = True) -> None:
        self.registry = CollectorRegistry()
        self.now = 0.0
        metrics = StreamMetrics(self.registry, max_subjects=1)
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


async def test_at_the_start_the_judges_pace_is_logged_with_what_comes(prepared: Place):
    await put(prepared.servers, prepared.checked().topics.outputs, map(record, range(600)))
    with capture_logs() as logs:
        await report_pace(prepared.checked(), "openai/judge", 0.5)
        await report_pace(prepared.checked(), "openai/judge", 50.0)
    slow, quick = logs
    assert (slow["log_level"], slow["takes"], slow["arriving"], slow["share"]) == ("warning", 0.5, 1.0, 0.5)
    assert (quick["log_level"], "share" in quick) == ("info", False)


RECORDS = 400


class Anything(Accept):
    """Does what a record's id begins with, after a moment."""

    away = 20

    async def decide(self, record: Envelope) -> Decision:
        await asyncio.sleep(random.Random(record.id).uniform(0, 0.1))
        match record.id.split("-")[0]:
            case "raise":
                raise ValueError
            case "undecidable":
                raise Undecidable("no_reference", "there is none")
            case "held" if self.away:
                self.away -= 1
                raise ModelUnavailable("away", retry_after=0.05)
        return Decision(accepted=record.id.startswith("accept"), reason="So it is.")

    async def check(self, record: Envelope) -> Verdict:
        verdict = await super().check(record)
        return verdict.model_copy(update={"reason": "x" * 9_000_000}) if record.id.startswith("large") else verdict


def messages() -> list[bytes | None]:
    """All that can come, mixed."""
    rng = random.Random(1)
    found: list[bytes | None] = []
    for number in range(RECORDS):
        does = rng.choice(("accept", "reject", "undecidable", "raise", "held", "large" if number < 20 else "accept"))
        found.append(record(number, id=f"{does}-{number}", source=rng.choice(("tests", "tests", "batch"))))
    kinds = [record(number, kind="extraction", text="x", entities=[]) for number in range(20)]
    return rng.sample([*found, *kinds, *[b"{", None] * 10], RECORDS + 40)


FATES = {
    "assay_checker_records_total": "taken in",
    "assay_verdicts_total": "verdicts",
    "assay_left_out_total": "left out",
    "assay_dead_letters_total": "dead letters",
    "assay_records_in_flight": "in flight",
    "assay_records_given_back_total": "given back",
}


def accounts(worker: WorkerHere) -> Counter[str]:
    """What the metrics of one scrape say."""
    found = Counter[str]()
    for sample in (sample for family in worker.registry.collect() for sample in family.samples):
        labels = sample.labels
        own = "anything" in (labels.get("checker"), labels.get("agent"))
        # Of what cannot be read nothing was taken in.
        if own and sample.name in FATES and labels.get("reason") not in ("not_json", "empty"):
            found[FATES[sample.name]] += int(sample.value)
    return found


async def test_what_is_taken_in_adds_up_at_every_scrape(place: Place):
    raw, settings = await place.ready(drain_seconds=0)
    rules = RoutingSettings.model_validate({"rules": [{"sources": ["batch"], "share": 0.4}]})
    await put(place.servers, settings.topics.outputs, messages(), spread=True)
    looks = []

    def look(worker: WorkerHere) -> Counter[str]:
        found = accounts(worker)
        taken_in = found.pop("taken in", 0)
        assert taken_in == found.total(), found
        looks.append(found)
        return found

    def agents() -> list[Any]:
        return [checking(Anything("anything"), rules)]

    async with agents_here(agents(), raw) as worker:
        await until(lambda: look(worker)["verdicts"] >= 50)
        await worker.stop()
        stopped = look(worker)
    assert stopped["given back"] > 0
    assert stopped["in flight"] == 0
    async with agents_here(agents(), raw) as worker:
        lag = "assay_consumer_lag_records", {"agent": "anything"}
        await until(lambda: look(worker)["verdicts"] > 0 and worker.registry.get_sample_value(*lag) == 0)
    last = looks[-1]
    assert all(last[name] > 0 for name in ("verdicts", "left out", "dead letters"))
    assert any(each["in flight"] > 0 for each in looks)
