"""Whether an agent keeps up: how many records a second come, how many it finishes, and what share of them it could."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import structlog
from aiokafka import TopicPartition
from faust.types import TP

from streams.clients import reader
from streams.faust_app import PartitionProgress
from streams.metrics import StreamMetrics
from streams.settings import StreamSettings
from streams.topics import partitions_of

_WINDOW_SECONDS = 60.0  # A queue that is never drained is reported after so long.
_KEEPS_UP = 0.9  # Share of what comes from which on an agent keeps up: rates of a minute vary by some percent.
_BACKLOG_SECONDS = 30.0  # A backlog of less work is a burst.
_BEFORE_START = timedelta(minutes=10)

_log = structlog.get_logger(__name__)


class Pace:
    """The rates of one agent in this worker, over a minute with the same partitions."""

    def __init__(
        self, agent: str, metrics: StreamMetrics, *, samples: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`samples`: fewer of its records may be checked, if a rule says so."""
        self._agent, self._metrics, self._samples, self._clock = agent, metrics, samples, clock
        self._partitions: frozenset[TP] = frozenset()
        # When it was, the offset behind the last record, and the one that is finished, of all partitions together.
        self._looks: deque[tuple[float, int, int]] = deque()
        self._reported = False

    def look(self, progress: Mapping[TP, PartitionProgress]) -> None:
        """Note how far the agent has come."""
        if progress.keys() != self._partitions:
            self._partitions = frozenset(progress)
            self._looks.clear()
        now = self._clock()
        end, finished = sum(each.end for each in progress.values()), sum(each.finished for each in progress.values())
        self._looks.append((now, end, finished))
        while len(self._looks) > 2 and self._looks[1][0] <= now - _WINDOW_SECONDS:
            self._looks.popleft()
        moment, first_end, first_finished = self._looks[0]
        if (seconds := now - moment) < _WINDOW_SECONDS:
            return
        arriving, finishing = (end - first_end) / seconds, (finished - first_finished) / seconds
        self._metrics.arriving.labels(self._agent).set(arriving)
        self._metrics.finished.labels(self._agent).set(finishing)
        share = finishing / arriving if arriving > finishing else 1.0
        too_slow = share < _KEEPS_UP and end - finished > _BACKLOG_SECONDS * finishing
        if too_slow and not self._reported:
            rates = {"arriving": round(arriving, 2), "finished": round(finishing, 2), "waiting": end - finished}
            rule = _rule(share) if self._samples else {}
            _log.warning("more records come than are finished", agent=self._agent, **rates, **rule)
        self._reported = too_slow


def _rule(share: float) -> dict[str, object]:
    """What to set, the share being one that can be kept, with two digits."""
    return {"share": int(share * 100) / 100, "rule": "[[routing.rules]] share"}


async def report_pace(settings: StreamSettings, judge: str, records_a_second: float) -> None:
    """Log how many records a second the judge takes, and how many came in ten minutes; raises as reading a topic."""
    kafka, topic = settings.kafka, settings.topics.outputs
    places = [TopicPartition(topic, number) for number in await partitions_of(kafka, topic)]
    since = datetime.now(UTC) - _BEFORE_START
    async with reader(kafka) as consumer:
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        first = await consumer.offsets_for_times(dict.fromkeys(places, int(since.timestamp() * 1000)))
    come = sum(ends[place] - at.offset for place, at in first.items() if at is not None)
    arriving = come / _BEFORE_START.total_seconds()
    enough = arriving * _KEEPS_UP <= records_a_second
    log = _log.info if enough else _log.warning
    note = {} if enough else _rule(records_a_second / arriving)
    log("the judge's pace", judge=judge, takes=round(records_a_second, 2), arriving=round(arriving, 2), **note)
