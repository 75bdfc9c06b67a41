"""`assay export`: rejected verdicts, their improvements, or labelled records, as JSON lines."""

import asyncio
from pathlib import Path
from typing import Any, BinaryIO

import click

from assay.cli.common import configured, out_option, selection, writing
from assay.config import Configuration
from assay.exports import Export, Form, RecordSet
from checkers.wording import plain


@click.group()
def export() -> None:
    """Export outputs, to improve models and judges."""


@export.command("rejected")
@click.option(
    "--format",
    "form",
    type=click.Choice(["verdicts", "corrections", "preferences"]),
    default="verdicts",
    show_default=True,
    help="Records with their verdicts; or, of improved responses, examples for fine-tuning or preference pairs.",
)
@selection
@out_option("lines")
@configured
def rejected(*, loaded: Configuration, form: Form, out: Path | None, **wanted: Any) -> None:
    """Write the rejected outputs as JSON lines, each once; a summary goes to standard error.

    With a store (store.url) they are read from it, and so are the records that it keeps (store.records): no broker is
    needed then. Other records, and without a store everything, are read from the topics. The summary names records
    that cannot be read. Their verdicts have null for the record; corrections and preferences skip them.
    """
    _run(Export(loaded.streams, wanted, store=loaded.store.url, form=form), out)


@export.command("records")
@click.option("--labelled", is_flag=True, help="Only records that people labelled (labels.rubric_version).")
@click.option("--distinct", is_flag=True, help="Only one of records with the same text.")
@click.option("--by", type=click.Choice(["failure"]), help="Draw evenly over what rejects have in common.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only N records, drawn at random.")
@selection
@out_option("lines")
@configured
def records(*, loaded: Configuration, out: Path | None, **wanted: Any) -> None:
    """Write records of the store's verdicts as JSON lines; a summary goes to standard error.

    Those that people labelled have the field "label", "accept" or "reject", and perhaps "words", which are at fault:
    for `assay calibrate`, the examples of a criterion, and `assay check` in CI. With --by failure, accepts, the rejects
    of each line of `assay failures`, and those of each group of similar faults take turns. Without --labelled the
    latest 10,000 accepts and rejects are looked at. A store is needed (store.url); records that it does not keep are
    read from their topic.
    """
    wanted["rubric_version"] = loaded.labels.rubric_version
    _run(RecordSet(loaded.streams, wanted, store=loaded.store.url), out)


def _run(chosen: Export, out: Path | None) -> None:
    async def write(target: BinaryIO) -> None:
        async for line in chosen.lines():
            target.write(line)
        target.flush()

    with writing(out) as target:
        asyncio.run(write(target))
    for line in chosen.summary():
        click.echo(plain(line), err=True)
