"""`assay worker`: the service on Kafka."""

from pathlib import Path

import click

from assay.agent_selection import UnknownAgent, configured_agents, select_agents
from assay.cli.front_door import WrongUse, config_option, configuration, selected, told

_NONE = "none"


@click.command(short_help="Run the service on Kafka.")
@click.option("--checkers", metavar="A,B", help="Run only these checkers, or `none`. Default: all that are installed.")
@click.option(
    "--agents",
    metavar="A,B",
    help="Run only these other agents, or `none`: trust-monitor, improver, archivist, otlp-receiver, webhook-NAME, a "
    "checker's source such as probe-scheduler. Default: all that are configured.",
)
@config_option
@click.pass_context
def worker(ctx: click.Context, checkers: str | None, agents: str | None, config_file: Path | None) -> None:
    """Run checkers, the trust monitor and the other agents as a service on Kafka.

    SIGTERM and Ctrl-C let it finish the records in progress and stop. Logs are JSON lines on standard error. /metrics,
    /healthz and /readyz are served on http.host and http.port.
    """
    loaded = configuration(config_file)
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
        from agents.worker import run
        from assay.wiring import build_worker
        from streams.logs import configure_logs

        configure_logs(loaded.log.level)
        status = run(lambda: build_worker(loaded, plugins, following))
    ctx.exit(status)


def _names(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]
