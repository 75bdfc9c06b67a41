"""Models and checkers that are kept from one call from Python to the next."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Hashable, Sequence
from functools import cache
from pathlib import Path

from assay.config import DEFAULT_FILE, Configuration, load_configuration
from assay.environment import PREFIX
from assay.file_check import CheckedLine, FileCheck, window_of
from assay.lines import Line
from assay.wiring import Service, build_service
from checkers.model_patience import ModelPatience
from checkers.wording import plain
from models.build import fetch_models
from schemas import Unreadable, Verdict


class _Held:
    """A service with the configuration that it was built from."""

    def __init__(self, key: Hashable, configuration: Configuration) -> None:
        self.key = key
        self.service: Service = build_service(configuration, [*configuration.installed.plugins.values()])
        self.calls = 0
        """Under way."""
        self._configuration = configuration
        self._patience = ModelPatience(_say)
        self._called = 0.0

    async def check(self, records: Sequence[bytes], names: Collection[str]) -> list[CheckedLine]:
        checkers = {checker.name: checker for checker in self.service.checkers}
        selected = [checkers[plugin.name] for plugin in self._configuration.installed.select(names)]
        max_bytes = self._configuration.max_record_bytes
        lines = [Line(number, data, len(data), 0) for number, data in enumerate(records, start=1)]
        for line in lines:
            _readable(line, max_bytes=max_bytes, of_many=len(lines) > 1)
        now = asyncio.get_running_loop().time()
        if now - self._called > self._patience.seconds:
            # Calls soon after each other, as of a folder of tests, wait for a model that is away once and not each.
            self._patience = ModelPatience(_say)
        checked: list[CheckedLine] = []
        file_check = FileCheck(
            selected,
            max_bytes=max_bytes,
            window=window_of(self._configuration.judge),
            patience=self._patience,
        )
        try:
            await file_check.run(_each(lines), checked.append)
        finally:
            self._called = asyncio.get_running_loop().time()
        return checked


class HeldService:
    """The service that the configuration asks for; belongs to one event loop, and is closed when that is ended."""

    def __init__(self) -> None:
        self._held: _Held | None = None
        self._starting = asyncio.Lock()
        self._closing = asyncio.create_task(self._close_at_the_end())

    async def check(self, records: Sequence[bytes], names: Collection[str]) -> list[list[Verdict]]:
        """The verdicts on each record, by the checkers with these names (all if there are none).

        Raises:
            Misconfigured: as the command line.
            UnknownChecker: there is none with such a name.
            Unreadable: one of them is no record; none is checked then.
            ModelRefuses: a model need not be asked again.
            ModelUnusable: it cannot be downloaded.
            RuntimeError: a checker failed.
        """
        held = await self._in_force()
        try:
            checked = await held.check(records, names)
        finally:
            held.calls -= 1
            if held is not self._held and not held.calls:
                await held.service.close()
        if faults := [fault for line in checked for fault in line.faults]:
            raise RuntimeError("; ".join(faults))
        return [line.verdicts for line in checked]

    async def _in_force(self) -> _Held:
        """The service, with this call counted; built anew when what configures it has changed."""
        async with self._starting:
            key = _configured_by()
            if self._held is None or self._held.key != key:
                configuration = load_configuration()
                for warning in configuration.warnings:
                    _say(warning)
                await asyncio.to_thread(fetch_models, configuration.judge, _say)
                before, self._held = self._held, _Held(key, configuration)
                if before is not None and not before.calls:
                    await before.service.close()
            self._held.calls += 1
            return self._held

    async def _close_at_the_end(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self._held is not None:
                await self._held.service.close()
            raise


@cache
def held_service(loop: asyncio.AbstractEventLoop) -> HeldService:
    """The service of the event loop that is running."""
    return HeldService()


def _say(message: str) -> None:
    """Log it as a warning: Python shows those on standard error, unless the program has them elsewhere."""
    logging.getLogger("assay").warning("%s", plain(message))


def _configured_by() -> Hashable:
    """Equal as long as the configuration is: that itself takes longer to read than many a check."""
    file = DEFAULT_FILE.read_bytes() if DEFAULT_FILE.is_file() else None
    variables = [(name, value) for name, value in os.environ.items() if name.upper().startswith(PREFIX)]
    # Both may name other files, from the current folder on.
    folder = Path.cwd() if file or variables else None
    return folder, file, tuple(sorted(variables))


def _readable(line: Line, *, max_bytes: int, of_many: bool) -> None:
    try:
        line.record(max_bytes=max_bytes)
    except Unreadable as error:
        where = f"records[{line.number - 1}]: " if of_many else ""
        raise Unreadable(error.reason, f"{where}{error.detail}") from None


async def _each(lines: Sequence[Line]) -> AsyncIterator[Line]:
    for line in lines:
        yield line
