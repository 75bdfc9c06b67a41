"""Models and checkers that are kept between calls from Python."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.config import DEFAULT_FILE, Configuration, load_configuration
from assay.file_check import CheckedLine, check_lines, window_of
from assay.origins import PREFIX
from assay.wiring import Service, build_service
from checkers.model_patience import ModelPatience
from checkers.wording import plain
from models.build import fetch_models
from schemas import Unreadable, Verdict, read_record
from streams.record_lines import Line


@dataclass(slots=True)
class _Cached:
    key: Hashable
    configuration: Configuration
    service: Service
    patience: ModelPatience
    """Calls in quick succession, as in tests, wait only once for a model that is down."""
    calls: int = 0
    """Under way."""
    called: float = 0.0


class CachedService:
    """The configured service; belongs to one event loop."""

    def __init__(self) -> None:
        self._held: _Cached | None = None
        self._starting = asyncio.Lock()

    async def check(self, records: Mapping[str, bytes], names: Collection[str]) -> list[list[Verdict]]:
        """The verdicts on each record, by the checkers with these names or by all; raises as `check` does.

        `records` are lines of a file by the prefix of their error messages.
        """
        held, now = await self._in_force(), asyncio.get_running_loop().time
        found = list[CheckedLine]()
        try:
            if now() - held.called > held.patience.seconds:
                held.patience = ModelPatience(_say)
            checkers = {checker.name: checker for checker in held.service.checkers}
            selected = [checkers[plugin.name] for plugin in held.configuration.installed.select(names)]
            max_bytes, window = held.configuration.streams.records.max_bytes, window_of(held.configuration)
            for where, data in records.items():
                try:
                    read_record(data, max_bytes=max_bytes)
                except Unreadable as error:
                    raise Unreadable(error.reason, f"{where}{error.detail}") from None

            async def lines() -> AsyncIterator[Line]:
                for number, data in enumerate(records.values(), 1):
                    yield Line(number, data, length=len(data), end=0)

            await check_lines(selected, lines(), found.append, held.patience, max_bytes=max_bytes, window=window)
        finally:
            held.calls, held.called = held.calls - 1, now()
            if held is not self._held and not held.calls:
                await held.service.close()
        if faults := [fault for one in found for fault in one.faults]:
            raise RuntimeError("; ".join(faults))
        return [one.verdicts for one in found]

    async def _in_force(self) -> _Cached:
        """The service, with this call counted; built again when the configuration has changed."""
        async with self._starting:
            key = _configured_by()
            if self._held is None or self._held.key != key:
                configuration = load_configuration()
                for warning in configuration.warnings:
                    _say(warning)
                await asyncio.to_thread(fetch_models, configuration.judge, _say)
                service = build_service(configuration, [*configuration.installed.plugins.values()])
                before, self._held = self._held, _Cached(key, configuration, service, ModelPatience(_say))
                if before is not None and not before.calls:
                    await before.service.close()
            self._held.calls += 1
            return self._held

    async def close(self) -> None:
        if self._held is not None:
            await self._held.service.close()


def _say(message: str) -> None:
    """Log a warning: Python shows it on standard error unless the program configures logging."""
    logging.getLogger("assay").warning("%s", plain(message))


def _configured_by() -> Hashable:
    """Equal while the configuration is: reading that takes longer than many checks."""
    file = DEFAULT_FILE.read_bytes() if DEFAULT_FILE.is_file() else None
    variables = [(name, value) for name, value in os.environ.items() if name.upper().startswith(PREFIX)]
    # Both may name other files, relative to the current folder.
    folder = Path.cwd() if file or variables else None
    return folder, file, tuple(sorted(variables))
