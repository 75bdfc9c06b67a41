"""`assay worker`: the service on Kafka, in one process or in several that one supervises."""

import asyncio
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import click

from agents.processes import Processes, end_with_supervisor, report_started
from assay.cli.common import CannotRun, NotFinished, WrongUse, config_option, configuration, models_of
from assay.config import IMPROVER, Configuration, load_configuration
from assay.wiring import ARCHIVIST, LABELS, OTLP, TRUST_MONITOR, webhook_name
from models.judges.prompted import PromptedJudge
from models.protocol import ModelUnavailable
from streams.logs import configure_logs

_NONE = "none"


@click.command()
@click.option("--checkers", metavar="A,B", help="Run only these checkers, or `none`. Default: all that are installed.")
@click.option(
    "--agents",
    metavar="A,B",
    help="Run only these other agents, or `none`: trust-monitor, improver, archivist, otlp-spans, webhook-NAME, a "
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
    plugins = [] if checkers == _NONE else loaded.installed.select(_names(checkers))
    following = select_agents(loaded, None if agents is None else [] if agents == _NONE else _names(agents))
    if not plugins and not following:
        raise WrongUse("neither a checker nor an agent was selected")
    if processes > 1:
        if not plugins:
            raise WrongUse("--processes is for checkers, and none was selected")
        ctx.exit(_run_several(loaded, processes, checkers, agents))
    from agents.worker import run
    from assay.wiring import build_worker

    configure_logs(process=process)
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
    if port and port + processes - 1 > 65_535:
        raise WrongUse(f"http.port {port} leaves no port for each of {processes} processes; 65535 is the last")
    configure_logs()
    given = ["--config", str(loaded.origins.file)] if loaded.origins.file else []
    given += ["--checkers", checkers] if checkers is not None else []
    first = ["--agents", agents] if agents is not None else []
    rest = ["--agents", _NONE]
    commands = [
        [sys.executable, "-m", "assay", "worker", "--process", str(number), *given, *(rest if number else first)]
        for number in range(processes)
    ]
    return asyncio.run(Processes(commands).run())


def _as_process(loaded: Configuration, number: int) -> Configuration:
    """The configuration of one of several processes: its own port and static membership."""
    http, kafka = loaded.streams.http, loaded.streams.kafka
    instance = kafka.properties.get("group_instance_id")
    own = {} if instance is None else {"group_instance_id": f"{instance}.{number}"}
    changes = {
        "http": http.model_copy(update={"port": http.port and http.port + number}),
        "kafka": kafka.model_copy(update={"properties": kafka.properties | own}),
    }
    return replace(loaded, streams=loaded.streams.model_copy(update=changes))


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def select_agents(configuration: Configuration, names: Collection[str] | None = None) -> list[str]:
    """These agents, each once, by default all that are on; raises CannotRun with what is allowed."""
    agents = _agents(configuration)
    on = [name for name, switch in agents.items() if switch is None]
    for name in names or ():
        if name not in agents:
            allowed = ", ".join([*on, "none"])
            raise CannotRun(f"there is no agent {name!r}; allowed are {allowed}; checkers are named with --checkers")
        if agents[name] is not None:
            raise CannotRun(f"{name} is switched off; {agents[name]} switches it on")
    return on if names is None else list(dict.fromkeys(names))


def _agents(configuration: Configuration) -> dict[str, str | None]:
    """All agents by name, with the setting that would switch each on; None for those that are on."""
    asks, otlp = configuration.labels.per_hour, configuration.otlp
    spans, logs, exporter = OTLP
    switches: list[tuple[str, object, str]] = [
        (TRUST_MONITOR, True, ""),
        (IMPROVER, configuration.improver.enabled, "improver.enabled = true"),
        (ARCHIVIST, configuration.store.url, "store.url = 'sqlite:///verdicts.db'"),
        (LABELS, asks or configuration.streams.records.version_metadata, "labels.per_hour = 20"),
        (spans, "spans" in otlp.topics, "otlp.topics.spans = 'otlp_spans'"),
        (logs, "logs" in otlp.topics, "otlp.topics.logs = 'otlp_logs'"),
        (exporter, otlp.endpoint, "otlp.endpoint = 'http://127.0.0.1:4318'"),
    ]
    for name, plugin in configuration.installed.plugins.items():
        if plugin.source is not None:
            is_on = plugin.has_source(configuration.checkers[name])
            switches.append((plugin.source_name, is_on, f"{name}.{plugin.source_switch}"))
    agents = {name: None if on else switch for name, on, switch in switches}
    return agents | dict.fromkeys(map(webhook_name, configuration.webhooks))
