"""`assay convert`: records from tables."""

from pathlib import Path

import click

from assay.cli.files import writing
from assay.cli.front_door import NotFinished, config_option, configuration, run_errors
from checkers.wording import plain
from schemas import Unreadable


@click.command(short_help="Make records of tables.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--mapping",
    required=True,
    type=click.Path(path_type=Path),
    metavar="M",
    help="A TOML file that names the columns.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File for the records. Default: standard output.",
)
@config_option
def convert(file: Path, *, mapping: Path, out: Path | None, config_file: Path | None) -> None:
    """Write the rows of FILE (CSV, JSON, JSON lines, Parquet) as records, JSON lines; a summary on standard error.

    Rows that are no records are named and left out; the exit status is then 3.
    """
    settings = configuration(config_file)
    records = refused = 0
    with run_errors():
        from assay.convert import Mapped, read_rows

        limit = settings.streams.records.max_bytes
        columns = Mapped.read(mapping)
        with writing(out, source=file) as target:
            for number, row in read_rows(file, max_bytes=limit):
                try:
                    if isinstance(row, Unreadable):
                        raise row
                    target.write(columns.record(row, max_bytes=limit) + b"\n")
                except Unreadable as error:
                    refused += 1
                    click.echo(f"row {number} was left out: {error.reason}: {plain(error.detail)}", err=True)
                else:
                    records += 1
            target.flush()
    click.echo(f"{records} records, {refused} rows refused", err=True)
    if refused:
        raise NotFinished("not every row is a record")
