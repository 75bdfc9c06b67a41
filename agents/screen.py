"""The screen before a checker: what it does not check is skipped at a glance, by the record's envelope alone."""

import random
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import orjson

from agents.routing import Routing
from checkers.checker import Checker
from schemas import RECORD_KINDS, Unreadable, is_name, read_record
from streams.messages import recheck_of
from streams.metrics import CheckerMetrics, LeftOut

_READ_ALL_THE_SAME = 0.01
"""The part of skipped records that is read in full, so that a producer's mistakes show: a hundredth costs little. Of a
thousand invalid records some ten are counted."""


_Envelope: TypeAlias = tuple[str, str, str, str | None, str]
"""Kind, source, model, tenant and id."""


class _Reason(NamedTuple):
    kind: str
    left_out: LeftOut | None = None
    """None if the checker does not take the kind."""
    source: str = ""
    model: str = ""


class RoutingScreen:
    """Skips what routing leaves out and what is of another kind; everything else, and all doubt, goes on.

    A message whose envelope cannot be read goes on. So does one without an id, which is drawn by what is in it.
    """

    def __init__(
        self,
        checker: Checker[Any],
        routing: Routing,
        metrics: CheckerMetrics,
        *,
        max_bytes: int,
        answers_for: Mapping[str, Collection[str]] | None,
    ) -> None:
        """`answers_for`: the kinds that each other checker takes, if this one writes their dead letters.

        It then skips only what none of them looks at.
        """
        self._checker = checker
        self._routing = routing
        self._metrics = metrics
        self._max_bytes = max_bytes
        self._answers_for = answers_for
        self._own = [orjson.dumps(kind) for kind in checker.kinds]

    def passed_over(self, value: bytes | None, headers: Sequence[tuple[str, bytes]]) -> Hashable | None:
        if value is None or (self._routing.takes_all and any(kind in value for kind in self._own)):
            return None
        # Of a session, what is left out was said, too.
        is_turn = self._checker.turns > 0 and b'"session"' in value
        # No rule holds for what is checked again.
        if is_turn or recheck_of(headers) is not None or (envelope := _envelope(value, self._max_bytes)) is None:
            return None
        kind, source, model, *_ = envelope
        left_out = None
        if kind in self._checker.kinds:
            left_out = self._routing.leaves_out(self._checker.name, *envelope[1:])
            if left_out is None:
                return None
        if self._answers_for is not None and not self._others_leave_out(envelope, own=left_out is not None):
            return None
        if left_out is None:
            return _Reason(kind)
        if random.random() < _READ_ALL_THE_SAME:  # noqa: S311
            self._read(value)
        return _Reason(kind, left_out, source, model)

    def count(self, passed_over: Mapping[Any, int]) -> None:
        for reason, number in passed_over.items():
            if reason.left_out is None:
                self._metrics.skip(reason.kind, number)
            else:
                self._metrics.record(reason.kind, number=number)
                self._metrics.left_out(reason.left_out, reason.source, reason.model, number)

    def _others_leave_out(self, envelope: _Envelope, *, own: bool) -> bool:
        """True if someone takes the kind, and nobody else looks at the record."""
        takers = [name for name, kinds in (self._answers_for or {}).items() if envelope[0] in kinds]
        return (own or bool(takers)) and all(self._routing.leaves_out(name, *envelope[1:]) for name in takers)

    def _read(self, value: bytes) -> None:
        try:
            read_record(value, max_bytes=self._max_bytes)
        except Unreadable:
            self._metrics.invalid_left_out()


def _envelope(value: bytes, max_bytes: int) -> _Envelope | None:
    """None if it cannot be read, or is not whole."""
    if len(value) > max_bytes:
        return None
    try:
        document = orjson.loads(value)
        kind, source, model, id_ = document["kind"], document["source"], document["model"], document["id"]
        tenant = document.get("tenant")
        whole = _is_name(source) and _is_name(model) and is_name(id_) and (tenant is None or _is_name(tenant))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return (kind, source, model, tenant, id_) if whole and kind in RECORD_KINDS else None


_is_name = lru_cache(4096)(is_name)
"""For names that are few and the same all the time."""
