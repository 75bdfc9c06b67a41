"""Posting drops to Alertmanager: every ongoing drop is posted again and again, so that a lost post does no harm."""

import asyncio
import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog

from agents.monitor.counter import Key
from agents.monitor.metrics import TrustMetrics
from agents.monitor.settings import AlertmanagerSettings
from schemas import Alert, SeriesAnew

if TYPE_CHECKING:
    import httpx

RESEND_SECONDS: Final = 60.0
_TIMEOUT_SECONDS: Final = 10.0
_FIRST_PAUSE_SECONDS: Final = 0.5  # Before a request that failed is made again, doubled each time up to the resend.
_HOLDS: Final = 4  # Resend intervals that a post is valid: three may be lost in a row, or the monitor be replaced.
_BATCH: Final = 64  # Alerts in a request, of up to 6 kB each.
_REJECTED_CHARACTERS: Final = 4000  # The most that mail and chat still show of an alert's rejected records.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_log = structlog.get_logger(__name__)


class Alertmanager:
    """Posts to each Alertmanager independently: one that is down delays neither the others nor the monitor."""

    def __init__(
        self, settings: AlertmanagerSettings, metrics: TrustMetrics, *, resend_seconds: float = RESEND_SECONDS
    ) -> None:
        """`resend_seconds`: interval at which an alert that goes on is posted again."""
        self._authorization = settings.authorization
        self._targets = [_AlertmanagerTarget(url, settings, metrics, resend_seconds) for url in settings.urls]
        self._tasks: list[asyncio.Task[None]] = []
        self._client: httpx.AsyncClient | None = None

    def start(self) -> None:
        if not self._targets:
            return
        import httpx

        secret = self._authorization
        headers = {} if secret is None else {"Authorization": secret.get_secret_value()}
        self._client = httpx.AsyncClient(timeout=_TIMEOUT_SECONDS, headers=headers)
        self._tasks = [asyncio.create_task(target.run(self._client)) for target in self._targets]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    def take(self, message: Alert | SeriesAnew) -> None:
        """Post a drop until it recovers or is forgotten, and a recovery until it is taken or the alert has expired."""
        for target in self._targets:
            target.take(message)

    def forget(self, keys: Iterable[Key]) -> None:
        """Post nothing more of these series."""
        for key in keys:
            for target in self._targets:
                target.posted.pop(key, None)


@dataclass(slots=True)
class _Posted:
    """The state of one series' alert."""

    alert: Alert
    due: float  # When it is posted next, by the loop's clock.
    recovered_at: datetime | None = None
    expires: float = float("inf")  # When a recovery need not be posted any more.


class _AlertmanagerTarget:
    """One Alertmanager, and what is posted to it."""

    def __init__(self, url: str, settings: AlertmanagerSettings, metrics: TrustMetrics, resend_seconds: float) -> None:
        self._url, self._settings, self._metrics = url, settings, metrics
        self._resend_seconds, self._holds = resend_seconds, _HOLDS * resend_seconds
        self._news = asyncio.Event()
        self.posted: dict[Key, _Posted] = {}

    def take(self, message: Alert | SeriesAnew) -> None:
        key, now = (message.source, message.model, message.checker), _now()
        posted = self.posted.pop(key, None)
        if isinstance(message, SeriesAnew):
            # Neither still down nor recovered: at Alertmanager it ends by itself.
            return
        if message.kind == "trust_drop":
            self.posted[key] = _Posted(message, now)
        elif posted is not None:
            self.posted[key] = _Posted(posted.alert, now, message.raised_at, now + self._holds)
        self._news.set()

    async def run(self, client: "httpx.AsyncClient") -> None:
        """Post what is due, until cancelled."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            self._news.clear()
            now = _now()
            self.posted = {key: each for key, each in self.posted.items() if now < each.expires}
            batch = [each for each in self.posted.values() if each.due <= now][:_BATCH]
            if not batch:
                due = min((each.due for each in self.posted.values()), default=now + self._resend_seconds)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), due - now)
            elif await self._post(client, batch):
                pause = _FIRST_PAUSE_SECONDS
                for each in batch:
                    each.due = _now() + self._resend_seconds
                    each.expires = float("inf") if each.recovered_at is None else 0
            else:
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._resend_seconds)

    async def _post(self, client: "httpx.AsyncClient", batch: Sequence[_Posted]) -> bool:
        import httpx

        outcome, body = "accepted", [self._payload(posted) for posted in batch]
        try:
            response = await client.post(f"{self._url.rstrip('/')}/api/v2/alerts", json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            outcome = "failed"
            _log.warning("Alertmanager was not reached", url=self._url, error=type(error).__name__, alerts=len(body))
        else:
            if not response.is_success:
                outcome = "refused"
                _log.warning("Alertmanager refused", url=self._url, status=response.status_code, alerts=len(body))
        self._metrics.posts.labels(outcome).inc()
        return outcome == "accepted"

    def _payload(self, posted: _Posted) -> dict[str, Any]:
        alert = posted.alert
        ends = posted.recovered_at or datetime.now(UTC) + timedelta(seconds=self._holds)
        subject = {"checker": alert.checker, "source": alert.source, "model": alert.model}
        return {
            "labels": {"severity": "page", "alertname": "AssayTrustDrop", **subject},
            "annotations": {
                "summary": alert.summary,
                "description": _description(alert),
                "common": "\n".join(_UNPRINTABLE.sub(" ", one.line) for one in alert.common),
                "rejected": _rejected(alert, reasons=self._settings.reasons),
                "alert_id": alert.id,
                "page_url": f"{self._settings.page_url}/alerts/{alert.id}",
                "runbook_url": f"{self._settings.runbook_url}#assaytrustdrop",
            },
            "startsAt": alert.raised_at.isoformat(),
            "endsAt": ends.isoformat(),
        }


def _description(alert: Alert) -> str:
    return (
        f"{alert.observed:.1%} of the last {alert.verdicts} outputs were accepted "
        f"(95% interval {alert.observed_low:.1%} to {alert.observed_high:.1%}); "
        f"the {alert.baseline_from} baseline is {alert.baseline:.1%}. "
        f"A subject that never fell below its baseline has such an alert with a probability of at most "
        f"{alert.error_bound:.1%}, however long it is watched."
    )


def _rejected(alert: Alert, *, reasons: bool) -> str:
    """The rejected records, one a line. Reasons quote foreign text, so line breaks in them are removed."""
    lines: list[str] = []
    room = _REJECTED_CHARACTERS
    for record in alert.rejected:
        line = f"{record.record_id}: {record.reason}" if reasons else record.record_id
        line = _UNPRINTABLE.sub(" ", line).strip()
        if len(line) > room:
            break
        lines.append(line)
        room -= len(line) + 1
    if left_out := len(alert.rejected) - len(lines):
        lines.append(f"(and {left_out} more)")
    return "\n".join(lines)


def _now() -> float:
    return asyncio.get_running_loop().time()
