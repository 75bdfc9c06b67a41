"""The trust monitor: an agent that reads all outcomes and raises an alert when a subject gets worse."""

import time
from collections.abc import Iterator, Mapping
from typing import Final

import structlog

from agents.runtime import Agent, AgentFactory, Runtime
from agents.stateful import StatefulAgent
from agents.trust.alertmanager import RESEND_SECONDS, Alertmanager
from agents.trust.metrics import TrustMetrics, TrustRow
from agents.trust.outcomes import SeriesKey
from agents.trust.partition_state import PartitionState, TrustMessage
from agents.trust.settings import AlertmanagerSettings, TrustSettings
from schemas import SeriesAnew
from streams.messages import alert_message

NAME: Final = "trust-monitor"

_FLUSH_SECONDS: Final = 5.0
"""Between writes of the state, besides one at every alert: what was counted since is counted again after a crash, with
the same result. Each series with new verdicts writes about 5 kB a version."""

_MOST_SERIES: Final = 10_000
"""Series that are watched at most, divided evenly over the partitions: producers choose sources and models, so memory
needs a limit. Verdicts of others are only counted, in `assay_trust_unwatched_verdicts_total`."""

_FORGET_EVERY_SECONDS: Final = 3600.0

_REMEMBERED: Final = 16_384
"""Verdict ids remembered for each partition, to count a verdict once that is delivered twice: a worker that is killed
repeats at most its window of 4,096 records."""

_log = structlog.get_logger(__name__)


def trust_monitor(
    settings: TrustSettings,
    alertmanager: AlertmanagerSettings,
    *,
    flush_seconds: float = _FLUSH_SECONDS,
    resend_seconds: float = RESEND_SECONDS,
) -> AgentFactory:
    """The monitor as an agent of a worker."""

    def build(runtime: Runtime) -> Agent:
        metrics = TrustMetrics(runtime.metrics)
        poster = Alertmanager(alertmanager, metrics, resend_seconds=resend_seconds)
        return TrustMonitor(settings, poster, metrics, runtime, flush_seconds=flush_seconds)

    return build


class TrustMonitor(StatefulAgent[PartitionState]):
    """Counts each verdict once and loses no alert, even if workers are killed.

    State is written before alerts are published, and alerts before offsets are committed. State holds, for each
    series in one message, its statistics, the offset up to which its outcomes are in them, and the alerts raised and
    perhaps not published. The next owner publishes those again, under the same ids.
    """

    name = NAME

    def __init__(
        self,
        settings: TrustSettings,
        alertmanager: Alertmanager,
        metrics: TrustMetrics,
        runtime: Runtime,
        *,
        flush_seconds: float,
    ) -> None:
        topics = runtime.settings.topics
        super().__init__(
            runtime,
            reads=[topics.outcomes],
            writes=[topics.alerts],
            state_topic=topics.trust_state,
            flush_seconds=flush_seconds,
            remembered=_REMEMBERED,
        )
        self._settings = settings
        self._metrics = metrics
        self._metrics.watch(self._rows)
        self._alertmanager = alertmanager
        self._forgot_at = time.monotonic()

    async def start(self) -> None:
        await super().start()
        self._alertmanager.start()

    async def stop(self) -> None:
        await super().stop()
        await self._alertmanager.stop()

    async def _restored(self, partition: int, stored: Mapping[bytes, bytes], ends: Mapping[str, int]) -> PartitionState:
        most = max(1, _MOST_SERIES // self._partitions)
        state = PartitionState(partition, self._settings, self._metrics, most=most, remember=_REMEMBERED)
        (end,) = ends.values()
        state.restore(stored, end)
        return state

    def _taken_over(self, state: PartitionState) -> None:
        for watched in state.watched.values():
            if watched.series.alert is not None:
                self._alertmanager.dropped(watched.series.alert)

    def _given_up(self, state: PartitionState) -> None:
        self._alertmanager.forget(state.watched)

    async def _write(self) -> None:
        self._forget_old()
        await self._write_changes()
        if await self._publish_pending():
            await self._write_changes()

    async def _publish_pending(self) -> bool:
        pending = [(state, message) for state in self._states.values() for message in state.pending()]
        for state, message in pending:
            await self._runtime.publisher.publish(alert_message(message, self._runtime.settings.topics))
            state.published(message)
            self._metrics.alert(message.checker, message.kind)
            self._tell(message)
        return bool(pending)

    def _tell(self, message: TrustMessage) -> None:
        if isinstance(message, SeriesAnew):
            # Neither still down nor recovered: at Alertmanager it ends by itself.
            self._alertmanager.forget((SeriesKey(message.source, message.model, message.checker),))
        elif message.kind == "trust_drop":
            self._alertmanager.dropped(message)
        else:
            self._alertmanager.recovered(message)

    def _forget_old(self) -> None:
        now = time.monotonic()
        if now - self._forgot_at >= _FORGET_EVERY_SECONDS:
            self._forgot_at = now
            for state in self._states.values():
                self._alertmanager.forget(state.forget_old())

    def _rows(self) -> Iterator[TrustRow]:
        for state in self._states.values():
            for key, watched in state.watched.items():
                series = watched.series
                yield TrustRow(
                    checker=key.checker,
                    source=key.source,
                    model=key.model,
                    baseline=series.baseline,
                    dropped=series.dropped,
                    evidence_ratio=series.evidence_ratio,
                    dispersion=series.dispersion,
                    allowance=series.allowance,
                )
