"""Commands before the first run: `assay config check`, `assay schemas export`, `assay topics create`."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from assay.cli.common import config_option, configuration, configured
from assay.config import Configuration
from assay.messages import require_store
from assay.origins import Origins, masked, toml_key

if TYPE_CHECKING:
    from streams.topics import Retention


@click.group()
def config() -> None:
    """Check the configuration."""


@config.command("check")
@config_option
def check_configuration(config_file: Path | None) -> None:
    """Check the configuration and print it: each value with its origin, secrets masked."""
    loaded = configuration(config_file)
    if loaded.store.url is not None:
        require_store(loaded.store.url)
    for line in lines(loaded):
        click.echo(line)


@click.group()
def schemas() -> None:
    """Schemas of the messages, for producers and consumers."""


@schemas.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def export_schemas(directory: Path) -> None:
    """Write a JSON Schema for every message to DIRECTORY."""
    from schemas.export import export

    written = export(directory)
    click.echo(f"{len(written)} files in {directory}: {', '.join(path.name for path in written)}")


@click.group()
def topics() -> None:
    """Create the topics."""


@topics.command("create")
@configured
def create_topics(loaded: Configuration) -> None:
    """Create missing topics, and print how long each keeps messages."""
    from streams.topics import Retention, create_topics, retentions

    settings = loaded.streams

    async def work() -> tuple[list[str], dict[str, Retention]]:
        return await create_topics(settings), await retentions(settings)

    made, kept = asyncio.run(work())
    for topic in settings.topics.all:
        state = "created" if topic in made else "exists"
        click.echo(f"{topic}: {state}{_kept(kept.get(topic))}")


def _kept(retention: "Retention | None") -> str:
    if retention is None:
        return ""
    if retention.compacted:
        return ", keeps the last message of each key"
    origin = " (the brokers' default)" if retention.wanted is None else ""
    wanted = ""
    if retention.wanted is not None and retention.differs:
        wanted = f", not {_time(retention.wanted)} as in topics.retention_days: `kafka-configs.sh` changes it"
    return f", keeps messages {_time(retention.present)}{origin}{wanted}"


def _time(milliseconds: int) -> str:
    if milliseconds < 0:
        return "for ever"
    days = milliseconds / (24 * 3600 * 1000)
    return f"for {days:.3g} day{'' if days == 1 else 's'}"


def lines(configuration: Configuration) -> Iterator[str]:
    """The lines of a configuration."""
    origins = configuration.origins
    read = [str(origins.file)] if origins.file else []
    if origins.variables:
        read.append(f"{len(origins.variables)} environment variable(s)")
    yield f"# read: {', '.join(read) or 'nothing; these are the defaults'}"
    yield f"# checkers: {', '.join(configuration.installed.plugins) or 'none installed'}"
    for name, section in configuration.sections.items():
        if section:
            yield ""
            yield from _table((name,), section, origins)


def _table(path: tuple[str, ...], table: BaseModel | Mapping[str, Any], origins: Origins) -> Iterator[str]:
    """The keys of the table first, then its tables, as TOML requires."""
    # By its iterator: a section may have a key called `keys`.
    items = dict(iter(table)) if isinstance(table, BaseModel) else table
    inner = {key: value for key, value in items.items() if isinstance(value, BaseModel | Mapping) and value}
    keys = [key for key in items if key not in inner]
    if keys or not inner:
        yield f"[{'.'.join(toml_key(step) for step in path)}]"
    for key in keys:
        value = to_jsonable_python(masked((*path, key), items[key]), exclude_none=True)
        line = f"# {toml_key(key)} is not set" if value is None else f"{toml_key(key)} = {_value(value)}"
        origin = origins.of((*path, key))
        yield line if value is None and origin == "default" else f"{line:<44}  # {origin}"
    for key, value in inner.items():
        if keys:
            yield ""
        shown = value if isinstance(value, BaseModel) else masked((*path, key), value)
        yield from _table((*path, key), shown, origins)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{toml_key(key)} = {_value(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
