"""A trust monitor in a process of its own: `python -m tests.support.monitor_process '{"settings": {"trust": ...}}'`."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.worker_process import WorkerProcess


class MonitorProcess(WorkerProcess):
    """Starts a worker that runs the monitor alone; all else is as with any worker."""

    module = "tests.support.monitor_process"

    def __init__(self, trust: dict[str, Any], settings: dict[str, Any], log: Path, *, waiting: bool = False) -> None:
        """A `waiting` one imports what it needs, and then waits for `go`."""
        super().__init__([], settings | {"trust": trust}, log, waiting=waiting)

    def counted(self) -> int:
        """Verdicts that it has counted itself."""
        return sum(
            int(float(line.rpartition(" ")[2]))
            for line in self.get("/metrics").text.splitlines()
            if line.startswith("assay_trust_verdicts_total{")
        )


def _main(text: str) -> int:
    from agents.trust.monitor import trust_monitor
    from agents.trust.settings import AlertmanagerSettings, TrustSettings
    from agents.worker import Worker, run
    from streams.logs import configure_logs
    from streams.settings import StreamSettings

    spec = json.loads(text)
    configure_logs("INFO")
    trust = TrustSettings.model_validate(spec["settings"].pop("trust"))
    settings = StreamSettings.model_validate(spec["settings"])
    if spec["waiting"]:
        sys.stdin.readline()

    async def factory() -> Worker:
        return Worker([trust_monitor(trust, AlertmanagerSettings())], settings)

    return run(factory)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
