"""The front door that commands of checkers come in by."""

import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.failures import told
from assay.cli.options import configuration, quiet_logs
from assay.progress import progress
from checkers.checker import Models
from checkers.front_door import Progress

if TYPE_CHECKING:
    from assay.config import Configuration


class CommandLine:
    """See `checkers.front_door.FrontDoor`."""

    def configuration(self, file: Path | None) -> "Configuration":
        return configuration(file)

    @asynccontextmanager
    async def models(self, configured: "Configuration") -> AsyncIterator[Models]:
        from assay.wiring import wired

        async with wired(configured, []) as service:
            yield service.models

    def progress(self, total: int | None) -> AbstractContextManager[Progress]:
        return progress(bar=sys.stderr.isatty(), total=total)

    def errors(self) -> AbstractContextManager[None]:
        return told()

    def quiet_logs(self) -> None:
        quiet_logs()
