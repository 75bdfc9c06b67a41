"""Posting drops to Alertmanager: every ongoing drop is posted again and again, so that a lost post does no harm."""

import asyncio
import contextlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog

from agents.trust.metrics import TrustMetrics
from agents.trust.outcomes import SeriesKey
from agents.trust.settings import AlertmanagerSettings
from schemas import Alert

if TYPE_CHECKING:
    import httpx

RESEND_SECONDS: Final = 60.0
_TIMEOUT_SECONDS: Final = 10.0

_HOLDS: Final = 4
"""A post is valid for this many resend intervals: three may be lost in a row, or the monitor be replaced."""

_BATCH: Final = 64
"""Alerts in a request, of up to 6 kB each."""

_REJECTED_CHARACTERS: Final = 4000
"""The most that mail and chat still show of an alert's rejected records."""

_FIRST_PAUSE_SECONDS: Final = 0.5
"""Before a request that failed is made again, doubled each time up to the resend."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _PostedAlert:
    """The state of one series' alert."""

    alert: Alert
    recovered_at: datetime | None = None
    given_up: float = 0.0
    """When a recovery need not be told any more."""
    sent: dict[str, float] = field(default_factory=dict)
    """When each Alertmanager took it last."""


class Alertmanager:
    """Posts to each Alertmanager independently: one that is down delays neither the others nor the monitor."""

    def __init__(
        self, settings: AlertmanagerSettings, metrics: TrustMetrics, *, resend_seconds: float = RESEND_SECONDS
    ) -> None:
        """`resend_seconds`: interval at which an alert that goes on is posted again."""
        self._settings = settings
        self._resend_seconds = resend_seconds
        self._metrics = metrics
        self._posted: dict[SeriesKey, _PostedAlert] = {}
        self._news = {url: asyncio.Event() for url in settings.urls}
        self._tasks: list[asyncio.Task[None]] = []
        self._client: httpx.AsyncClient | None = None

    def start(self) -> None:
        if not self._settings.urls:
            return
        import httpx

        authorization = self._settings.authorization
        self._client = httpx.AsyncClient(
            timeout=_TIMEOUT_SECONDS,
            headers={} if authorization is None else {"Authorization": authorization.get_secret_value()},
        )
        self._tasks = [asyncio.create_task(self._keep_telling(self._client, url)) for url in self._news]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._client is not None:
            await self._client.aclose()

    def dropped(self, drop: Alert) -> None:
        """Post the drop until it has recovered or is forgotten."""
        self._note(_PostedAlert(drop))

    def recovered(self, recovery: Alert) -> None:
        """Post that a drop is over, until every Alertmanager has taken it or lets the alert expire."""
        posted = self._posted.get(_key(recovery))
        if posted is None:
            return
        given_up = _now() + _HOLDS * self._resend_seconds
        self._note(_PostedAlert(posted.alert, recovery.raised_at, given_up))

    def forget(self, keys: Iterable[SeriesKey]) -> None:
        """Post nothing more of these series."""
        for key in keys:
            self._posted.pop(key, None)

    def _note(self, posted: _PostedAlert) -> None:
        if not self._news:
            return
        self._posted[_key(posted.alert)] = posted
        for news in self._news.values():
            news.set()

    async def _keep_telling(self, client: "httpx.AsyncClient", url: str) -> None:
        news = self._news[url]
        pause = _FIRST_PAUSE_SECONDS
        while True:
            news.clear()
            if await self._post_due(client, url):
                pause = _FIRST_PAUSE_SECONDS
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), self._until_next(url))
            else:
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._resend_seconds)

    async def _post_due(self, client: "httpx.AsyncClient", url: str) -> bool:
        due = self._due(url)
        for first in range(0, len(due), _BATCH):
            batch = due[first : first + _BATCH]
            if not await self._post(client, url, batch):
                return False
            now = _now()
            for posted in batch:
                posted.sent[url] = now
        return True

    def _due(self, url: str) -> list[_PostedAlert]:
        now = _now()
        for key, posted in list(self._posted.items()):
            over = posted.recovered_at is not None
            if over and (now >= posted.given_up or all(each in posted.sent for each in self._news)):
                del self._posted[key]
        return [posted for posted in self._posted.values() if self._wait(posted, url, now) <= 0]

    def _wait(self, posted: _PostedAlert, url: str, now: float) -> float:
        if url not in posted.sent:
            return 0
        if posted.recovered_at is not None:
            return self._resend_seconds
        return posted.sent[url] + self._resend_seconds - now

    def _until_next(self, url: str) -> float:
        now = _now()
        waits = [self._wait(posted, url, now) for posted in self._posted.values()]
        return max(0.0, min(waits, default=self._resend_seconds))

    async def _post(self, client: "httpx.AsyncClient", url: str, batch: Collection[_PostedAlert]) -> bool:
        import httpx

        body = [self._payload(posted) for posted in batch]
        try:
            response = await client.post(f"{url.rstrip('/')}/api/v2/alerts", json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._metrics.posted("failed")
            _log.warning("Alertmanager was not reached", url=url, error=type(error).__name__, alerts=len(body))
            return False
        if not response.is_success:
            self._metrics.posted("refused")
            _log.warning("Alertmanager refused", url=url, status=response.status_code, alerts=len(body))
            return False
        self._metrics.posted("accepted")
        return True

    def _payload(self, posted: _PostedAlert) -> dict[str, Any]:
        alert = posted.alert
        holds = timedelta(seconds=_HOLDS * self._resend_seconds)
        return {
            "labels": {
                "severity": "page",
                "alertname": "AssayTrustDrop",
                "checker": alert.checker,
                "source": alert.source,
                "model": alert.model,
            },
            "annotations": {
                "summary": alert.summary,
                "description": _description(alert),
                "rejected": _rejected(alert, reasons=self._settings.reasons),
                "alert_id": alert.id,
                "runbook_url": f"{self._settings.runbook_url}#assaytrustdrop",
            },
            "startsAt": alert.raised_at.isoformat(),
            "endsAt": (posted.recovered_at or datetime.now(UTC) + holds).isoformat(),
        }


def _key(alert: Alert) -> SeriesKey:
    return SeriesKey(alert.source, alert.model, alert.checker)


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
