"""`assay demo`: sample records through the whole service, without Kafka, key or configuration."""

import asyncio
import contextlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.common import NotFinished, typed
from streams.errors import ExtraMissing, StreamError


@click.command()
@click.option("--follow", is_flag=True, help="Then keep running and check more records until Ctrl-C.")
def demo(follow: bool) -> None:
    """Check sample records on the embedded broker with the local judge: no Kafka, no key, no configuration.

    assay.toml and ASSAY_ variables are ignored.
    """
    click.echo("loading assay…")
    with _quiet_libraries() as log:
        from assay.demo import run_demo

        try:
            missing = asyncio.run(run_demo(follow=follow, say=click.echo, program=typed()))
        except ExtraMissing:
            raise
        except StreamError as error:
            raise NotFinished(f"{error}; the worker's log: {log}") from None
        if missing:
            raise NotFinished(f"no verdict in time for {', '.join(missing)}; the worker's log: {log}")


@contextlib.contextmanager
def _quiet_libraries() -> Iterator[Path]:
    """Redirect standard error, with logs and warnings, to the file that this yields; it is kept only after an error."""
    from streams.logs import configure_logs

    folder = Path(tempfile.mkdtemp(prefix="assay-demo-"))
    log = folder / "worker.log"
    keep = False
    try:
        with log.open("w", encoding="utf-8") as file, contextlib.redirect_stderr(file):
            configure_logs("info")
            logging.captureWarnings(True)
            yield log
    except Exception:
        keep = True
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
