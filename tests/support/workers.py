"""Workers: in the test's own event loop, quick to start and with its metrics at hand, or in a process of their own."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx
import mode.utils.imports
import psutil

from agents.archivist import Archivist
from agents.checker_agent import CheckerAgent
from agents.improver_agent import ImproverAgent
from agents.monitor.labels import labels_agent
from agents.monitor.settings import AlertmanagerSettings, LabelSettings, TrustSettings
from agents.monitor.trust import trust_monitor
from agents.otlp import otlp_agents
from agents.routing import RoutingSettings
from agents.runtime import AgentFactory
from agents.scheduler import Scheduler
from agents.webhook_settings import WebhookSettings
from agents.webhooks import webhook
from agents.worker import Worker, run
from checkers.checker import Checker
from schemas import RECORD_KINDS
from store.settings import StoreSettings
from streams.logs import configure_logs
from streams.otlp.settings import OtlpSettings
from streams.settings import StreamSettings
from tests.support.checkers import CHECKERS, improver
from tests.support.clock import CLOCK_VARIABLE
from tests.support.scheduled import Counting
from tests.support.service import Served
from tests.support.waiting import PATIENCE_SECONDS, until

ROOT = Path(__file__).parents[2]

# No extension of Faust is installed here, and to know that, each worker would read what all packages say, twice.
mode.utils.imports.load_extension_class_names = lambda _: ()

# Processes begin with all imports done: their importing would be most of what they compute.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


class WorkerHere(Worker):
    """A worker whose metrics can be asked for."""

    def metric(self, name: str, **labels: str) -> float:
        """A series' value; 0 where it is not there."""
        return self.registry.get_sample_value(name, labels) or 0.0

    async def wait_for(self, name: str, at_least: float, **labels: str) -> None:
        await until(
            lambda: self.metric(name, **labels) >= at_least,
            lambda: f"{name}{labels} is {self.metric(name, **labels)}, expected {at_least}",
        )


@contextlib.asynccontextmanager
async def agents_here(
    agents: Iterable[AgentFactory], settings: StreamSettings | dict[str, Any], **more: Any
) -> AsyncIterator[WorkerHere]:
    """Runs until the context ends, then stops in good order."""
    checked = StreamSettings.model_validate(settings)
    worker = WorkerHere(
        list(agents), checked.model_copy(update={"http": checked.http.model_copy(update={"port": 0})}), **more
    )
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()


def worker_here(
    checkers: Sequence[Checker[Any]], settings: dict[str, Any], **more: Any
) -> contextlib.AbstractAsyncContextManager[WorkerHere]:
    """The same for checkers."""
    return agents_here([partial(CheckerAgent, one) for one in checkers], settings, **more)


def checking(checker: Checker[Any], routing: RoutingSettings | None = None, **more: Any) -> AgentFactory:
    """The agent of the checker that answers for what none checks; another one takes all kinds."""
    return partial(CheckerAgent, checker, routing=routing, answers_for={"another": RECORD_KINDS}, **more)


def monitor_here(
    settings: dict[str, Any],
    alertmanager: AlertmanagerSettings | None = None,
    *,
    flush_seconds: float = 0.1,
    **trust: Any,
) -> contextlib.AbstractAsyncContextManager[WorkerHere]:
    """The same for a trust monitor."""
    monitor = partial(
        trust_monitor,
        TrustSettings.model_validate(trust),
        alertmanager or AlertmanagerSettings(),
        flush_seconds=flush_seconds,
    )
    return agents_here([monitor], settings)


class WorkerProcess(Served):
    """Starts a worker of these agents, and signals it."""

    def __init__(
        self,
        agents: list[dict[str, Any]],
        settings: dict[str, Any],
        log: Path,
        *,
        level: str = "INFO",
        clock: Path | None = None,
    ) -> None:
        """`agents`: see `_agents_of`; `log`: where its output of `level` goes; `clock`: see `tests.support.clock`."""
        super().__init__(log)
        log.touch()
        arguments = (agents, settings | {"http": {"port": self.port}}, log, level, clock)
        self._process = _PROCESSES.Process(target=_work, args=arguments, daemon=True)
        self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def resident_bytes(self) -> int:
        return int(psutil.Process(self.pid).memory_info().rss)

    @property
    def most_bytes(self) -> int:
        """The most memory that it ever held."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])

    @property
    def exit_status(self) -> int | None:
        return self._process.exitcode

    @property
    def ready(self) -> bool:
        """False also while it is frozen."""
        with contextlib.suppress(httpx.TransportError):
            return self.get("/readyz", timeout=2).is_success
        return False

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        # It may have ended by an earlier one.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def terminate(self) -> int:
        self.signal()
        return self.wait()

    def wait(self) -> int:
        """The exit status, when it has ended."""
        self._process.join(PATIENCE_SECONDS)
        assert self.exit_status is not None, f"worker goes on:\n{self.said()}"
        return self.exit_status


def _agents_of(*, type: str, **more: Any) -> Sequence[AgentFactory]:  # noqa: A002, PLR0911 - as specifications have it
    """The agents of a checker of `tests.support.checkers`, or of the type that is named below.

    `more` goes to the checker's or improver's constructor, or is the agent's settings.
    """
    match type:
        case "archivist":
            return [partial(Archivist, StoreSettings.model_validate(more))]
        case "improver":
            return [partial(ImproverAgent, improver(**more))]
        case "labels":
            flush_seconds = more.pop("flush_seconds")
            return [partial(labels_agent, LabelSettings.model_validate(more), flush_seconds=flush_seconds)]
        case "monitor":
            flush_seconds = more.pop("flush_seconds")
            trust = TrustSettings.model_validate(more)
            return [partial(trust_monitor, trust, AlertmanagerSettings(), flush_seconds=flush_seconds)]
        case "otlp":
            otlp = OtlpSettings.model_validate(more)
            return otlp_agents(otlp, ["otlp-spans", "otlp-logs"])
        case "scheduler":
            return [partial(Scheduler, Counting(tuple(more["models"])))]
        case "webhook":
            return webhook(more.pop("name"), WebhookSettings.model_validate(more))
        case checker:
            answers, routing = more.pop("answers", False), RoutingSettings.model_validate(more.pop("routing", {}))
            made = CHECKERS[checker](**more)
            return [checking(made, routing) if answers else partial(CheckerAgent, made, routing=routing)]


def _work(agents: list[dict[str, Any]], settings: dict[str, Any], log: Path, level: str, clock: Path | None) -> None:
    """Run the worker in this process, with its output in the log."""
    if clock is not None:
        os.environ[CLOCK_VARIABLE] = str(clock)
    with log.open("ab") as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
    configure_logs(level)
    checked = StreamSettings.model_validate(settings)

    # Agents are made on the event loop.
    async def factory() -> Worker:
        return Worker([agent for each in agents for agent in _agents_of(**each)], checked)

    sys.exit(run(factory))
