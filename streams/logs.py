"""Logs: one JSON object a line on standard error, with ids and positions, never with a record's text."""

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
import structlog

_EVERY_SECONDS = 60.0
"""While a broker is down, clients log the same lines many times a second."""

_FIRST_IS_NO_ERROR = "Group Coordinator Request failed: %s"
"""A message of aiokafka. A cluster's first consumer group gets it until the topic of all groups has been created."""

# Their information is about themselves. Faust logs a service under the module of its class, ours included.
_CHATTY = ("faust", "mode", "aiokafka", "httpx", "streams.faust_app")

_log = structlog.get_logger(__name__)


def _rate_limit() -> Callable[[logging.LogRecord], bool]:
    """A filter that passes one record of the same logger and message template a minute."""
    last: dict[tuple[str, str], float] = {}

    def passes(record: logging.LogRecord) -> bool:
        key = (record.name, record.msg if isinstance(record.msg, str) else type(record.msg).__name__)
        now = time.monotonic()
        never = now if record.msg == _FIRST_IS_NO_ERROR else float("-inf")
        if now - last.setdefault(key, never) < _EVERY_SECONDS:
            return False
        last[key] = now
        return True

    return passes


def configure_logs(level: str = "INFO", *, process: int | None = None) -> None:
    """Send structlog's and the libraries' logs to standard error as JSON lines; each names the `process` if given."""
    named = {} if process is None else {"process": process}
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        lambda _, __, event: event | named,
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
    handler.addFilter(_rate_limit())
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


def mute_clients(mute: bool) -> None:
    """Log nothing that aiokafka says, or its warnings again: while no broker answers, one line a minute says that."""
    logging.getLogger("aiokafka").setLevel(
        logging.CRITICAL if mute else max(logging.getLogger().level, logging.WARNING)
    )


def log_uncaught() -> None:
    """Log as any other line what nothing caught, in threads too, without its text, which may quote; and warnings."""

    def log(kind: type[BaseException], trace: TracebackType | None) -> None:
        where = [f"{Path(at.filename).name}:{at.lineno} in {at.name}" for at in traceback.extract_tb(trace)]
        _log.critical("uncaught exception", error=kind.__name__, where=where)

    sys.excepthook = lambda kind, _, trace: log(kind, trace)
    threading.excepthook = lambda args: log(args.exc_type, args.exc_traceback)
    sys.unraisablehook = lambda args: log(args.exc_type, args.exc_traceback)
    logging.captureWarnings(True)


def _dumps(event: Any, **_: Any) -> bytes:
    return orjson.dumps(event, default=repr)
