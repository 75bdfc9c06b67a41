"""Posting drops to Alertmanager: every ongoing drop is posted again and again, so that a lost post does no harm."""

import asyncio
import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
import structlog
from prometheus_client import Counter

from agents.monitor.counter import Key, Raised
from agents.monitor.settings import AlertmanagerSettings
from agents.webhooks import Target
from schemas import Alert, TrueRateAlert

_RESEND_SECONDS: Final = 60.0
_HOLDS_SECONDS: Final = 4 * _RESEND_SECONDS  # A post is valid: three may be lost in a row, or the monitor be replaced.
_FIRST_PAUSE_SECONDS: Final = 0.5  # Before a request that failed is made again, doubled each time up to the resend.
_BATCH: Final = 64  # Alerts in a request, of up to 6 kB each.
_REASON_CHARACTERS: Final = 350  # Of ten rejected records some 4,000, the most that mail and chat still show.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Posted:
    """The state of one series' alert."""

    alert: Alert
    due: float  # When it is posted next, by the loop's clock.
    recovered_at: datetime | None = None
    expires: float = float("inf")  # When a recovery need not be posted any more.


class Alertmanager:
    """One Alertmanager, and what is posted to it: one that is down delays neither the others nor the monitor."""

    def __init__(self, url: str, settings: AlertmanagerSettings, posts: Counter) -> None:
        """`posts` counts requests."""
        self._url, self._settings, self._posts = url, settings, posts
        secret = settings.authorization
        self._headers = {"authorization": secret.get_secret_value()} if secret is not None else {}
        self._headers["content-type"] = "application/json"
        self._target = Target(f"{url}/api/v2/alerts")
        self._news = asyncio.Event()
        self._posted: dict[Key, _Posted] = {}

    def take(self, message: Raised) -> None:
        """Post a drop until it recovers or is forgotten, and a recovery until it is taken or the alert has expired."""
        if isinstance(message, TrueRateAlert) or message.kind == "version_worse":
            return  # They have no end: Prometheus raises them by their counters.
        key, now = (message.source, message.model, message.checker), _now()
        posted = self._posted.pop(key, None)
        if isinstance(message, Alert) and message.kind == "trust_drop":
            self._posted[key] = _Posted(message, now)
        elif posted is not None and message.kind == "trust_recovery":
            self._posted[key] = _Posted(posted.alert, now, message.raised_at, now + _HOLDS_SECONDS)
        # A new series is neither still down nor recovered: at Alertmanager its drop ends by itself.
        self._news.set()

    def forget(self, key: Key) -> None:
        """Post nothing more of the series."""
        self._posted.pop(key, None)

    async def run(self) -> None:
        """Post what is due, until cancelled."""
        pause = _FIRST_PAUSE_SECONDS
        async with self._target.running():
            while True:
                self._news.clear()
                now = _now()
                self._posted = {key: each for key, each in self._posted.items() if now < each.expires}
                batch = [each for each in self._posted.values() if each.due <= now][:_BATCH]
                if not batch:
                    due = min((each.due for each in self._posted.values()), default=now + _RESEND_SECONDS)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), due - now)
                elif await self._post(batch):
                    pause = _FIRST_PAUSE_SECONDS
                else:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _RESEND_SECONDS)

    async def _post(self, batch: Sequence[_Posted]) -> bool:
        reply = await self._target.post(orjson.dumps([self._payload(each) for each in batch]), self._headers)
        taken = reply.outcome == "taken"
        self._posts.labels("accepted" if taken else reply.outcome).inc()
        for each in batch if taken else ():
            each.due = _now() + _RESEND_SECONDS
            each.expires = float("inf") if each.recovered_at is None else 0
        if not taken:
            _log.warning("Alertmanager did not take alerts", url=self._url, reply=reply.detail, alerts=len(batch))
        return taken

    def _payload(self, posted: _Posted) -> dict[str, Any]:
        alert = posted.alert
        ends = posted.recovered_at or datetime.now(UTC) + timedelta(seconds=_HOLDS_SECONDS)
        subject = {"checker": alert.checker, "source": alert.source, "model": alert.model}
        reasons = [f": {one.reason[:_REASON_CHARACTERS]}" if self._settings.reasons else "" for one in alert.rejected]
        rejected = [f"{one.record_id}{reason}" for one, reason in zip(alert.rejected, reasons, strict=True)]
        return {
            "labels": {"severity": "page", "alertname": "AssayTrustDrop", **subject},
            "annotations": {
                "summary": alert.summary,
                "description": (
                    f"{alert.observed:.1%} of the last {alert.verdicts} outputs were accepted "
                    f"(95% interval {alert.observed_low:.1%} to {alert.observed_high:.1%}); "
                    f"the {alert.baseline_from} baseline is {alert.baseline:.1%}. "
                    f"A subject that never fell below its baseline has such an alert with a probability of at most "
                    f"{alert.error_bound:.1%}, however long it is watched."
                ),
                "common": _lines(one.line for one in alert.common),
                "rejected": _lines(rejected),
                "alert_id": alert.id,
                "page_url": f"{self._settings.page_url}/alerts/{alert.id}",
                "runbook_url": f"{self._settings.runbook_url}#assaytrustdrop",
            },
            "startsAt": alert.raised_at.isoformat(),
            "endsAt": ends.isoformat(),
        }


def _lines(texts: Iterable[str]) -> str:
    """Each text in one line: reasons quote foreign text."""
    return "\n".join(_UNPRINTABLE.sub(" ", text).strip() for text in texts)


def _now() -> float:
    return asyncio.get_running_loop().time()
