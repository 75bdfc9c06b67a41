"""`assay ui`: the page over the store."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import click

from assay.cli.front_door import WrongUse, config_option, configuration, quiet_logs, told
from assay.config import Configuration


@click.command(short_help="Show verdicts and their evidence in the browser.")
@click.option("--host", help="Address to listen on. Default: ui.host. Any but loopback demands ui.token.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one. Default: ui.port.")
@config_option
def ui(*, host: str | None, port: int | None, config_file: Path | None) -> None:
    """Serve the page until Ctrl-C: success rates, verdicts with their evidence, alerts.

    It reads the store that the archivist of `assay worker` fills (store.url).
    """
    loaded = configuration(config_file)
    quiet_logs()
    given = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    with told():
        asyncio.run(_serve(loaded, given))


async def _serve(loaded: Configuration, given: dict[str, Any]) -> None:
    from pydantic import ValidationError

    from assay.page import served_page

    try:
        page = type(loaded.ui).model_validate(dict(loaded.ui) | given)
    except ValidationError as error:
        raise WrongUse(f"ui: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with served_page(loaded.store, page, loaded.streams) as address:
        click.echo(f"The page is at {address} until Ctrl-C.")
        await ended.wait()
