"""Checks from Python, in scripts, notebooks and tests; all run on one event loop in its own thread."""

import asyncio
import atexit
import os
import threading
from collections.abc import Collection, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import orjson

from models.wording import counted
from schemas import Envelope, Outcome, Unreadable, Verdict, to_json

if TYPE_CHECKING:
    from assay.cached_service import CachedService
    from assay.reports import VerdictPrinter

RecordLike: TypeAlias = Mapping[str, Any] | Envelope
"""A record as on a line of a file, or one of the record types."""


class Verdicts(tuple[Verdict, ...]):
    """The verdicts on one record: one of each checker of its kind, in the checkers' order; never empty.

    As text they are printed as by `assay check`.
    """

    __slots__ = ()

    @property
    def outcome(self) -> Outcome:
        """`reject` if any checker rejects; otherwise `abstain` if any abstains; otherwise `accept`."""
        outcomes = {verdict.outcome for verdict in self}
        order: tuple[Outcome, ...] = ("reject", "abstain", "accept")
        return next(outcome for outcome in order if outcome in outcomes)

    @property
    def reason(self) -> str:
        """The reasons of the verdicts with this outcome."""
        return " ".join(verdict.reason for verdict in self if verdict.outcome == self.outcome)

    def __bool__(self) -> bool:
        """Refuse: `assert check(record)` would hold for every outcome.

        Raises:
            TypeError: always.
        """
        raise TypeError("verdicts are neither true nor false: compare their outcome with accept, reject or abstain")

    def __str__(self) -> str:
        from click import unstyle

        return "\n".join(unstyle(line) for verdict in self for line in _printer().lines(verdict))

    __repr__ = __str__


@overload
def check(records: RecordLike, *, checkers: Collection[str] = ()) -> Verdicts: ...
@overload
def check(records: Iterable[RecordLike], *, checkers: Collection[str] = ()) -> list[Verdicts]: ...
def check(records: RecordLike | Iterable[RecordLike], *, checkers: Collection[str] = ()) -> Verdicts | list[Verdicts]:
    """The verdicts on a record, or on each of many in order, as `assay check` gives them.

    The configuration is `assay.toml` in the current folder and the environment. Models are loaded at the first call,
    and kept until Python ends or the configuration changes. It blocks a running event loop; `acheck` does not.

    Args:
        records: a mapping as on a line of a file, one of the record types, or many of either.
        checkers: names of those to run. Default: all that are installed.

    Raises:
        Unreadable: one is not a record; none is checked.
        Misconfigured: the configuration is wrong; a line for each fault.
        UnknownChecker: names those that are installed.
        ModelRefuses: a model refuses the configured key, name or address.
        RuntimeError: a checker failed, or a model cannot be downloaded.
    """
    one, lines = _lines(records)
    found = result_of(_verdicts(lines, checkers))
    return found[0] if one else found


@overload
async def acheck(records: RecordLike, *, checkers: Collection[str] = ()) -> Verdicts: ...
@overload
async def acheck(records: Iterable[RecordLike], *, checkers: Collection[str] = ()) -> list[Verdicts]: ...
async def acheck(
    records: RecordLike | Iterable[RecordLike], *, checkers: Collection[str] = ()
) -> Verdicts | list[Verdicts]:
    """As `check`, without blocking the event loop."""
    one, lines = _lines(records)
    found = await asyncio.wrap_future(start(_verdicts(lines, checkers)))
    return found[0] if one else found


def assert_accepted(records: RecordLike | Iterable[RecordLike], *, checkers: Collection[str] = ()) -> None:
    """Check as `check` does, for use in a test.

    Raises:
        AssertionError: a verdict rejects or abstains, with the reasons.
    """
    __tracebackhide__ = True
    found = check(records, checkers=checkers)
    every = [found] if isinstance(found, Verdicts) else found
    if failed := [verdicts for verdicts in every if verdicts.outcome != "accept"]:
        head = f"{len(failed)} of {counted(len(every), 'record')} not accepted"
        raise AssertionError("\n".join([head, *map(str, failed)]))


def _lines(records: RecordLike | Iterable[RecordLike]) -> tuple[bool, dict[str, bytes]]:
    """True if it is one record; and each record as a line of a file, by the prefix of its error messages."""
    is_one, lines = isinstance(records, Mapping | Envelope), dict[str, bytes]()
    for index, record in enumerate([records] if isinstance(records, Mapping | Envelope) else records):
        where = "" if is_one else f"records[{index}]: "
        if not isinstance(record, Mapping | Envelope):
            raise TypeError(f"{where}expected a mapping or a record type, got {type(record).__name__}")
        try:
            lines[where] = to_json(record) if isinstance(record, Envelope) else orjson.dumps(dict(record))
        except orjson.JSONEncodeError as error:
            raise Unreadable("not_json", f"{where}{error}") from None
    return is_one, lines


async def _verdicts(lines: dict[str, bytes], checkers: Collection[str]) -> list[Verdicts]:
    from assay.cached_service import CachedService

    if not _services:
        _services.append(CachedService())
    names = [checkers] if isinstance(checkers, str) else checkers
    found = await _services[0].check(lines, names)
    return [Verdicts(verdicts) for verdicts in found]


@cache
def _printer() -> "VerdictPrinter":
    from assay.config import installed
    from assay.reports import VerdictPrinter

    return VerdictPrinter([*installed().plugins.values()])


ResultT = TypeVar("ResultT")

_END_SECONDS = 5.0
"""Time for closing when Python ends."""

_services: "list[CachedService]" = []
"""That of the loop, once there is one; closed when Python ends."""

_starting = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def start(coroutine: Coroutine[Any, Any, ResultT]) -> "Future[ResultT]":
    """Run `coroutine` on the loop; cancelling the future cancels it."""
    global _running  # noqa: PLW0603 - one for the process
    with _starting:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="assay", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(coroutine, _running)


def result_of(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Return or raise what `coroutine` does; Ctrl-C cancels it."""
    future = start(coroutine)
    try:
        return future.result()
    finally:
        future.cancel()


@atexit.register
def _end() -> None:
    if _running is not None:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_close(), _running).result(_END_SECONDS)


async def _close() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for service in _services:
        await service.close()


def _forget() -> None:
    """Reset: a forked process has the loop, but not its thread."""
    global _starting, _running
    _starting, _running = threading.Lock(), None
    _services.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
