"""`assay worker`: the service on Kafka."""

import asyncio
from dataclasses import replace
from pathlib import Path

import click

from assay.agent_selection import UnknownAgent, configured_agents, select_agents
from assay.cli.front_door import NotFinished, WrongUse, config_option, configuration, models_of, selected, told
from assay.config import Configuration, load_configuration
from models.judges.prompted import PromptedJudge
from models.protocol import ModelUnavailable

_NONE = "none"
_HIGHEST_PORT = 65_535


@click.command(short_help="Run the service on Kafka.")
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
    help="Run the checkers in so many processes, to use as many cores; the other agents run in the first of them. "
    "Process N, from 0, serves metrics on http.port + N. Default: 1.",
)
@click.option("--process", type=int, hidden=True, help="Be this one of several processes.")
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

    SIGTERM and Ctrl-C let it finish the records in progress and stop. Logs are JSON lines on standard error. /metrics,
    /healthz and /readyz are served on http.host and http.port.
    """
    # The process that starts others has told the configuration's warnings.
    loaded = configuration(config_file) if process is None else _as_process(load_configuration(config_file), process)
    plugins = [] if checkers == _NONE else selected(loaded, _names(checkers))
    with told():
        try:
            following = (
                configured_agents(loaded)
                if agents is None
                else select_agents(loaded, [] if agents == _NONE else _names(agents))
            )
        except UnknownAgent as error:
            raise WrongUse(str(error)) from None
        if not plugins and not following:
            raise WrongUse("neither a checker nor an agent is to be run")
        if processes > 1:
            if not plugins:
                raise WrongUse("--processes is for checkers, of which none is to be run")
            ctx.exit(_run_several(loaded, processes, checkers, agents))
        from agents.worker import run
        from assay.processes import end_with_the_first, tell_started
        from assay.wiring import build_worker
        from streams.logs import configure_logs

        configure_logs(loaded.log.level, process=process)
        if loaded.judge.require_self_test and plugins:
            asyncio.run(_tested(loaded))
        if process is not None:
            end_with_the_first()
        status = run(
            lambda: build_worker(loaded, plugins, following), tell_started if process is not None else lambda: None
        )
    ctx.exit(status)


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
    """Run so many processes until a signal; returns the exit status."""
    from assay.processes import Processes, command
    from streams.logs import configure_logs

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
    """The configuration of one of several processes: a port and a static membership of its own."""
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
