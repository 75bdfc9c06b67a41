"""`assay worker`: the service on Kafka, in one process or in several that one supervises."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import structlog

from assay.cli.common import (
    WRONG_USE,
    CannotRun,
    NotFinished,
    WrongUse,
    config_option,
    configuration,
    models_of,
    selected,
)
from assay.config import IMPROVER, Configuration, load_configuration
from assay.wiring import ARCHIVIST, LABELS, OTLP, TRUST_MONITOR, webhook_name
from models.judges.prompted import PromptedJudge
from models.protocol import ModelUnavailable
from streams.logs import configure_logs

_NONE = "none"
_HIGHEST_PORT = 65_535


@click.command()
@click.option("--checkers", metavar="A,B", help="Run only these checkers, or `none`. Default: all that are installed.")
@click.option(
    "--agents",
    metavar="A,B",
    help="Run only these other agents, or `none`: trust-monitor, improver, archivist, otlp-receiver, webhook-NAME, a "
    "checker's source such as probe-scheduler. Default: all that are configured.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=1,
    help="Run the checkers in this many processes, one for a core; the other agents run in the first. "
    "Process N, from 0, serves metrics on http.port + N. Default: 1.",
)
@click.option("--process", type=int, hidden=True, help="Number of this process among several.")
@config_option
@click.pass_context
def worker(
    ctx: click.Context,
    *,
    checkers: str | None,
    agents: str | None,
    processes: int,
    process: int | None,
    config_file: Path | None,
) -> None:
    """Run checkers, the trust monitor and the other agents as a service on Kafka.

    On SIGTERM and Ctrl-C it finishes the records in progress and stops. Logs are JSON lines on standard error.
    /metrics, /healthz and /readyz are served on http.host and http.port.
    """
    # The supervising process has printed the warnings about the configuration.
    loaded = configuration(config_file) if process is None else _as_process(load_configuration(config_file), process)
    plugins = [] if checkers == _NONE else selected(loaded, _names(checkers))
    following = configured_agents(loaded)
    if agents is not None:
        following = select_agents(loaded, [] if agents == _NONE else _names(agents))
    if not plugins and not following:
        raise WrongUse("neither a checker nor an agent was selected")
    if processes > 1:
        if not plugins:
            raise WrongUse("--processes is for checkers, and none was selected")
        ctx.exit(_run_several(loaded, processes, checkers, agents))
    from agents.worker import run
    from assay.wiring import build_worker

    configure_logs(loaded.log.level, process=process)
    if loaded.judge.require_self_test and plugins:
        asyncio.run(_tested(loaded))
    if process is not None:
        end_with_supervisor()
    started = report_started if process is not None else lambda: None
    ctx.exit(run(lambda: build_worker(loaded, plugins, following), started))


async def _tested(loaded: Configuration) -> None:
    """Raise WrongUse if the judge does not pass its self-test, NotFinished if it cannot be asked now."""
    async with models_of(loaded) as models:
        if isinstance(models.judge, PromptedJudge):
            try:
                await models.judge.ready()
            except ModelUnavailable as error:
                kind = WrongUse if error.misconfigured else NotFinished
                raise kind(error.detail) from None


def _run_several(loaded: Configuration, processes: int, checkers: str | None, agents: str | None) -> int:
    """Run several processes until a signal; returns the exit status."""
    port = loaded.streams.http.port
    if port and port + processes - 1 > _HIGHEST_PORT:
        raise WrongUse(
            f"http.port {port} leaves no port for each of {processes} processes; {_HIGHEST_PORT} is the last"
        )
    configure_logs(loaded.log.level)
    given = ["--config", str(loaded.origins.file)] if loaded.origins.file else []
    given += ["--checkers", checkers] if checkers is not None else []
    first = ["--agents", agents] if agents is not None else []
    return asyncio.run(
        Processes(
            [
                command("worker", "--process", str(number), *given, *(first if number == 0 else ["--agents", _NONE]))
                for number in range(processes)
            ]
        ).run()
    )


def _as_process(loaded: Configuration, number: int) -> Configuration:
    """The configuration of one of several processes: its own port and static membership."""
    http, delivery = loaded.streams.http, loaded.streams.delivery
    changes = {
        "http": http.model_copy(update={"port": http.port and http.port + number}),
        "delivery": delivery.model_copy(
            update={"instance_id": delivery.instance_id and f"{delivery.instance_id}.{number}"}
        ),
    }
    return replace(loaded, streams=loaded.streams.model_copy(update=changes))


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


_STARTED: Final = b"started\n"
"""A process writes this to its standard output once it has started."""

_FIRST_BACK_OFF_SECONDS: Final = 1.0
_LONGEST_BACK_OFF_SECONDS: Final = 30.0
"""Between restarts of one process."""

_HEALTHY_SECONDS: Final = 60.0
"""After a run of this length the back-off is reset."""

_log = structlog.get_logger(__name__)


class Processes:
    """Runs commands at the same time until a signal.

    A process that ends by itself is started again. If one ends before it has started, or because of wrong usage, it
    would fail again: all end with its status.
    """

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._commands = commands
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._keeping: list[asyncio.Task[int]] = []
        self._asked = False

    async def run(self) -> int:
        """Start them, the first before the others; returns the exit status.

        SIGTERM and SIGINT stop all in good order; a second one ends them at once.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        first_started = asyncio.Event()
        self._keeping = [
            asyncio.create_task(self._keep(number, first_started)) for number in range(len(self._commands))
        ]
        statuses = []
        for ended in asyncio.as_completed(self._keeping):
            with contextlib.suppress(asyncio.CancelledError):
                statuses.append(await ended)
            if not self._asked:
                self._stop()
        status = next(filter(None, statuses), 0)
        _log.info("all processes stopped", processes=len(self._commands), status=status)
        return status

    def _stop(self) -> None:
        self._asked = True
        for number, task in enumerate(self._keeping):
            if (process := self._running.get(number)) is None:
                task.cancel()
            else:
                process.terminate()

    async def _keep(self, number: int, first_started: asyncio.Event) -> int:
        """Run one process again and again; returns its last status."""
        if number > 0:
            await first_started.wait()
        loop = asyncio.get_running_loop()
        back_off, ever_started = _FIRST_BACK_OFF_SECONDS, False
        while True:
            begun = loop.time()
            process = await asyncio.create_subprocess_exec(
                *self._commands[number],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # Ctrl-C reaches a terminal's whole group; each would get a second signal from here.
                process_group=0,
            )
            self._running[number] = process
            assert process.stdout is not None  # noqa: S101 - it was asked for
            async for line in process.stdout:
                if line == _STARTED:
                    ever_started = True
                    if number == 0:
                        first_started.set()
            status = await process.wait()
            del self._running[number]
            # As shells count a program that a signal ended.
            status = 128 - status if status < 0 else status
            if self._asked or not ever_started or status == WRONG_USE:
                return status
            if loop.time() - begun >= _HEALTHY_SECONDS:
                back_off = _FIRST_BACK_OFF_SECONDS
            _log.error("process ended", process=number, status=status, starts_again_in_seconds=back_off)
            await asyncio.sleep(back_off)
            back_off = min(2 * back_off, _LONGEST_BACK_OFF_SECONDS)


def command(*arguments: str) -> list[str]:
    """The command that runs `assay` with these arguments, by this Python."""
    return [sys.executable, "-m", "assay", *arguments]


def report_started() -> None:
    """Report that this process, one of several, has started."""
    os.write(sys.stdout.fileno(), _STARTED)


def end_with_supervisor() -> None:
    """End this process in good order when its supervisor is gone, even if that was killed."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="end-with-supervisor").start()


class UnknownAgent(CannotRun):
    """An agent that does not exist or is switched off."""


def configured_agents(configuration: Configuration) -> list[str]:
    """Names of the agents that are on."""
    return [name for name, switch in _agents(configuration).items() if switch is None]


def select_agents(configuration: Configuration, names: Collection[str]) -> list[str]:
    """These agents, each once.

    Raises:
        UnknownAgent: names the agent, and the allowed ones or the setting that switches it on.
    """
    agents = _agents(configuration)
    for name in names:
        if name not in agents:
            allowed = ", ".join([*configured_agents(configuration), "none"])
            raise UnknownAgent(f"there is no agent {name!r}; allowed are {allowed}; checkers are named with --checkers")
        if agents[name] is not None:
            raise UnknownAgent(f"{name} is switched off; {agents[name]} switches it on")
    return list(dict.fromkeys(names))


def _agents(configuration: Configuration) -> dict[str, str | None]:
    """All agents by name, with the setting that would switch each on; None for those that are on."""
    agents: dict[str, str | None] = {
        TRUST_MONITOR: None,
        IMPROVER: None if configuration.improver.enabled else "improver.enabled = true",
        ARCHIVIST: None if configuration.store.url else "store.url = 'sqlite:///verdicts.db'",
        LABELS: None if configuration.labels.per_hour else "labels.per_hour = 20",
    }
    otlp = configuration.otlp
    switches = (
        (otlp.listen, "listen = '127.0.0.1:4318'"),
        (otlp.spans_topic, "spans_topic = 'otlp_spans'"),
        (otlp.logs_topic, "logs_topic = 'otlp_logs'"),
        (otlp.endpoint, "endpoint = 'http://127.0.0.1:4318'"),
    )
    for name, (on, switch) in zip(OTLP, switches, strict=True):
        agents[name] = None if on else f"otlp.{switch}"
    for name, plugin in configuration.installed.plugins.items():
        if (source := plugin.source) is not None:
            agents[source.name] = None if source.is_on(configuration.checkers[name]) else source.switch
    return agents | dict.fromkeys(map(webhook_name, configuration.webhooks))
