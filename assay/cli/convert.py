"""`assay convert`: records from tables and from exports of other tools."""

from collections import Counter
from pathlib import Path

import click

from assay.cli.files import writing
from assay.cli.front_door import NotFinished, config_option, configuration, run_errors
from checkers.wording import plain
from schemas import Unreadable, to_json


@click.command(short_help="Make records of tables and exports.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--mapping",
    required=True,
    metavar="M",
    help="A TOML file that names the columns, or the export that the file is: langfuse or phoenix.",
)
@click.option("--source", metavar="S", help="Source of what an export tells none of.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="File for the records. Default: standard output.",
)
@config_option
def convert(file: Path, *, mapping: str, source: str | None, out: Path | None, config_file: Path | None) -> None:
    """Write the rows of FILE (CSV, JSON, JSON lines, Parquet) as records, JSON lines; a summary on standard error.

    Rows that are no records are named and left out; the exit status is then 3.
    """
    settings = configuration(config_file)
    counts: Counter[str] = Counter()

    def refuse(number: int, why: Unreadable) -> None:
        counts["refused"] += 1
        click.echo(f"row {number} was left out: {why.reason}: {plain(why.detail)}", err=True)

    with run_errors():
        from assay.convert import Mapped, read_rows
        from assay.exports import EXPORTS, Export

        limit = settings.streams.records.max_bytes
        export = Export(mapping, settings.otlp, source=source, max_bytes=limit) if mapping in EXPORTS else None
        columns = None if export else Mapped.read(Path(mapping))
        with writing(out, source=file) as target:
            for number, row in read_rows(file, max_bytes=limit):
                try:
                    if isinstance(row, Unreadable):
                        raise row
                    if columns is not None:
                        target.write(columns.record(row, max_bytes=limit) + b"\n")
                        counts["records"] += 1
                    elif export is not None:
                        export.add(row)
                except Unreadable as error:
                    refuse(number, error)
            if export is not None:
                made = export.made()
                counts += Counter(made.left_out) + Counter(records=len(made.records))
                target.writelines(to_json(record, newline=True) for record in made.records)
            target.flush()
    told = ", ".join(f"{number} {reason}" for reason, number in counts.items() if reason not in {"records", "refused"})
    left_out = f"; left out: {told}" if told else ""
    click.echo(f"{counts['records']} records, {counts['refused']} rows refused{left_out}", err=True)
    if counts["refused"]:
        raise NotFinished("not every row is a record")
