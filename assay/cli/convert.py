"""`assay convert`: records from the rows of a file, by a mapping of its columns."""

import csv
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import click
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.cli.common import EXISTING, CannotRun, NotFinished, configured, out_option, writing
from assay.config import Configuration
from checkers.wording import plain
from schemas import RECORD_KINDS, RECORD_TYPES, Envelope, Unreadable, explain, nearest, read_record
from streams.errors import ExtraMissing


@click.command()
@click.argument("file", type=EXISTING)
@click.option("--mapping", type=EXISTING, metavar="M", required=True, help="A TOML file that names the columns.")
@out_option("records")
@configured
def convert(*, loaded: Configuration, file: Path, mapping: Path, out: Path | None) -> None:
    """Write the rows of FILE (CSV, JSON, JSON lines, Parquet) as records, JSON lines; a summary on standard error.

    Rows that are not records are named and skipped; the exit status is then 3.
    """
    records = refused = 0
    limit = loaded.streams.records.max_bytes
    columns = Mapped.read(mapping)
    with writing(out, source=file) as target:
        for number, row in read_rows(file, max_bytes=limit):
            try:
                if isinstance(row, Unreadable):
                    raise row
                target.write(columns.record(row, max_bytes=limit) + b"\n")
            except Unreadable as error:
                refused += 1
                click.echo(f"row {number} was skipped: {error.reason}: {plain(error.detail)}", err=True)
            else:
                records += 1
        target.flush()
    click.echo(f"{records} records, {refused} rows refused", err=True)
    if refused:
        raise NotFinished("not every row is a record")


_TYPES: Mapping[str, type[Envelope]] = dict(zip(RECORD_KINDS, RECORD_TYPES, strict=True))

Row: TypeAlias = Mapping[str, Any]


class Mapped(BaseModel):
    """The mapping file: the column of each field, and the values that all records share."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["generation", "paraphrase", "extraction", "labelling", "retrieval", "probe", "tool_call"] = (
        "generation"
    )
    columns: dict[str, str | Annotated[list[str], Field(min_length=1)]]
    """The column, or columns of a list, by field. `metadata.NAME` and `matched.text` are within a field."""
    values: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Mapped":
        """Raise `CannotRun` with the fault of the file."""
        try:
            mapping = cls.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        except ValidationError as error:
            raise CannotRun(f"{file}: {explain(error)}") from None
        except (OSError, ValueError) as error:
            raise CannotRun(f"{file}: {error}; a mapping is a TOML file") from None
        known = _TYPES[mapping.kind].model_fields
        for field in (*mapping.columns, *mapping.values):
            if (name := field.partition(".")[0]) not in known:
                meant = nearest(name, known)
                hint = f"did you mean {meant!r}?" if meant else f"allowed are {', '.join(known)}"
                raise CannotRun(f"{file}: a record of the kind {mapping.kind!r} has no field {field!r}; {hint}")
        return mapping

    def record(self, row: Row, *, max_bytes: int) -> bytes:
        """The record of a row as a line; raises `Unreadable` if the row is not a record."""
        document: dict[str, Any] = {"kind": self.kind}
        for field, value in self.values.items():
            _set(document, field, value)
        for field, columns in self.columns.items():
            found = [_found(row, column) for column in (columns if isinstance(columns, list) else [columns])]
            if given := [value for value in found if value not in (None, "")]:
                _set(document, field, self._fitted(field, given if isinstance(columns, list) else given[0]))
        try:
            line = orjson.dumps(document)
        except TypeError as error:
            raise Unreadable("invalid_record", f"not JSON: {error}") from None
        read_record(line, max_bytes=max_bytes)
        return line

    def _fitted(self, field: str, value: Any) -> Any:
        """The value in the type of the field: a cell of a CSV file is always text."""
        if isinstance(value, datetime):
            return value.isoformat()
        name, _, within = field.partition(".")
        wanted = Any if within else _plain_type(_TYPES[self.kind].model_fields[name].annotation)
        if wanted is str:
            return str(value) if isinstance(value, int | float) else value
        found = value
        # A version such as 1.10 must not become a number.
        if isinstance(value, str) and wanted is not datetime and name != "metadata":
            with suppress(orjson.JSONDecodeError):
                found = orjson.loads(value)
        return [value] if wanted is tuple and not isinstance(found, list) else found


def read_rows(file: Path, *, max_bytes: int) -> Iterator[tuple[int, Row | Unreadable]]:
    """The rows of a file with their numbers from 1, or the faults of those; raises CannotRun and ExtraMissing."""
    match file.suffix.lower():
        case ".csv":
            rows: Iterator[Any] = _csv(file, max_bytes)
        case ".jsonl" | ".ndjson":
            rows = _json_lines(file, max_bytes)
        case ".json":
            rows = _json(file)
        case ".parquet":
            rows = _parquet(file)
        case ending:
            allowed = ".csv, .jsonl, .ndjson, .json and .parquet"
            raise CannotRun(f"{file} ends in {ending!r}; files that can be converted end in {allowed}")
    wrong = Unreadable("not_an_object", "the row is not an object")
    for number, row in enumerate(rows, 1):
        yield number, row if isinstance(row, dict | Unreadable) else wrong


def _csv(file: Path, max_bytes: int) -> Iterator[Any]:
    csv.field_size_limit(max_bytes)
    with file.open(encoding="utf-8-sig", newline="") as stream:
        try:
            rows = csv.DictReader(stream, strict=True)
            named = Counter(filter(None, rows.fieldnames or ()))
            if twice := [one for one, times in named.items() if times > 1]:
                raise CannotRun(f"{file}: the header has {twice[0]!r} more than once; give each column another name")
            for row in rows:
                # csv puts cells beyond the last column under None.
                more = None in row
                yield Unreadable("invalid_record", "the row has more cells than the header") if more else row
        except (csv.Error, UnicodeDecodeError) as error:
            raise CannotRun(f"{file} cannot be read further: {error}") from None


def _json_lines(file: Path, max_bytes: int) -> Iterator[Any]:
    with file.open("rb") as stream:
        while line := stream.readline(max_bytes + 1):
            if len(line) > max_bytes and not line.endswith(b"\n"):
                while not line.endswith(b"\n") and (line := stream.readline(max_bytes)):
                    pass
                yield Unreadable("oversized", f"longer than {max_bytes} bytes (records.max_bytes)")
            elif line.strip():
                yield _parsed(line)


def _json(file: Path) -> Iterator[Any]:
    if not isinstance(document := _parsed(file.read_bytes()), list):
        why = f": {document}" if isinstance(document, Unreadable) else ""
        raise CannotRun(f"{file} holds no JSON array of rows{why}")
    yield from document


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Unreadable("not_json", f"not JSON at line {error.lineno}, column {error.colno}")


def _parquet(file: Path) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ExtraMissing("Parquet files need pyarrow; `pip install 'assay[parquet]'` brings it") from None
    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=1000):
            yield from batch.to_pylist()
    except ArrowException as error:
        raise CannotRun(f"{file} cannot be read as Parquet: {error}") from None


def _found(row: Row, column: str) -> Any:
    if column in row:
        return row[column]
    found: Any = row
    for step in column.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _set(document: dict[str, Any], field: str, value: Any) -> None:
    *steps, last = field.split(".", 1)
    for step in steps:
        document = document.setdefault(step, {})
    document[last] = value


def _plain_type(annotation: Any) -> Any:
    options = [option for option in get_args(annotation) if option is not NoneType]
    if get_origin(annotation) is Annotated or (options and len(options) < len(get_args(annotation))):
        return _plain_type(options[0])
    return str if get_origin(annotation) is Literal else get_origin(annotation) or annotation
