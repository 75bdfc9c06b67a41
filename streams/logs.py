"""Logs: one JSON object a line on standard error, with ids and positions, never with a record's text."""

import logging
import sys
import time
from typing import Any

import orjson
import structlog

_EVERY_SECONDS = 5.0
"""While a broker is down, clients log the same line many times a second; once in five seconds shows that they still
try."""

# Their information is about themselves. Faust logs a service under the module of its class, ours included.
_CHATTY = ("faust", "mode", "aiokafka", "httpx", "streams.faust_app")


class RateLimit(logging.Filter):
    """Passes at most one record of the same logger and message template in `every` seconds."""

    def __init__(self, every: float = _EVERY_SECONDS) -> None:
        super().__init__()
        self._every = every
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        key = (record.name, record.msg if isinstance(record.msg, str) else type(record.msg).__name__)
        now = time.monotonic()
        if now - self._last.get(key, float("-inf")) < self._every:
            return False
        self._last[key] = now
        return True


def configure_logs(level: str = "INFO") -> None:
    """Send structlog's and the libraries' logs to standard error as JSON lines from `level` on.

    Records below the level are never built.
    """
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(serializer=_dumps)],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.BytesLoggerFactory(file=sys.stderr.buffer),
        # A cached logger would keep the settings of its first line after a later configuration; lines are few.
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RateLimit())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(serializer=lambda event, **kw: _dumps(event, **kw).decode()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(threshold)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))


def _dumps(event: Any, **_: Any) -> bytes:
    return orjson.dumps(event, default=repr)
