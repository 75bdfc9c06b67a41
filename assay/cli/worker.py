"""`assay worker`: the service on Kafka."""

from pathlib import Path

import click

from assay.cli.failures import told
from assay.cli.options import config_option, configuration, selected


@click.command(short_help="The service on Kafka.")
@click.option("--checkers", metavar="A,B", help="Run only these, by name, separated by commas; all without it.")
@config_option
@click.pass_context
def worker(ctx: click.Context, checkers: str | None, config_file: Path | None) -> None:
    """Run checkers as a service on Kafka until SIGTERM or Ctrl-C, which finish what is under way.

    Logs are JSON lines on standard error; /metrics, /healthz and /readyz are served on http.host and http.port.
    """
    loaded = configuration(config_file)
    plugins = selected(loaded, [name.strip() for name in checkers.split(",") if name.strip()] if checkers else ())
    with told():
        from agents.worker import run
        from assay.wiring import build_worker
        from streams.logs import configure_logs

        configure_logs(loaded.log.level)
        status = run(lambda: build_worker(loaded, plugins))
    ctx.exit(status)
