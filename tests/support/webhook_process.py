"""A worker of webhooks in a process of its own: `python -m tests.support.webhook_process '{"webhooks": ...}'`."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]

_EXIT_SECONDS = 40.0


class WebhookProcess:
    """Starts a worker and kills it, or ends it in good order."""

    def __init__(self, webhooks: dict[str, dict[str, Any]], settings: dict[str, Any], log: Path) -> None:
        self.log = log
        spec = {"webhooks": webhooks, "settings": settings | {"http": {"port": 0}}}
        command = [sys.executable, "-m", "tests.support.webhook_process", json.dumps(spec)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=ROOT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """kill -9."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(_EXIT_SECONDS)

    def wait_for_log(self, text: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while text not in (said := self.log.read_text()):
            assert time.monotonic() < deadline, f"no {text!r} in:\n{said[-3000:]}"
            time.sleep(0.05)


def _main(text: str) -> int:
    from agents.webhooks.agent import webhook
    from agents.webhooks.settings import WebhookSettings
    from agents.worker import Worker, run
    from streams.logs import configure_logs
    from streams.settings import StreamSettings

    spec = json.loads(text)
    configure_logs("DEBUG")
    settings = StreamSettings.model_validate(spec["settings"])
    agents = [
        agent
        for name, each in spec["webhooks"].items()
        for agent in webhook(name, WebhookSettings.model_validate(each))
    ]

    async def factory() -> Worker:
        return Worker(agents, settings)

    return run(factory)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
