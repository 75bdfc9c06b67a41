"""What the audits share: where triplets come from, and where figures go."""

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from assay.audit.source import MADE, CannotAudit, Material, Source
from assay.audit.texts import BadTexts
from assay.cli.failures import NotFinished, WrongUse, told
from checkers.oracle.protocol import OracleUnavailable
from checkers.retrieval.audit.cases import Figure
from checkers.retrieval.relations import RELATIONS
from checkers.retrieval.triplets import COLUMNS, BadTriplets, Columns, relation_named

_PICTURES = (".png", ".svg", ".pdf")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where figures go."""

    csv: Path | None
    heat_map: Path | None
    details: bool
    as_json: bool


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say where triplets come from; the command gets them as `source`."""

    @click.option("--triplets", multiple=True, type=_FILE, help="Triplets as JSON lines; may be given several times.")
    @click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="FIELD=NAME",
        help=f"What a field is called in the files; the fields are {', '.join(COLUMNS)}.",
    )
    @click.option("--texts", type=_FILE, help="Texts of yours, one a line, to make triplets of through the judge.")
    @click.option("--text-field", metavar="NAME", help="The texts are JSON lines, and stand in this field.")
    @click.option(
        "--relation",
        "relations",
        multiple=True,
        type=click.Choice(RELATIONS),
        help="Only these relations; all without it.",
    )
    @click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=5000,
        show_default=True,
        help="Triplets of each relation, or texts, that are taken at most.",
    )
    @click.option("--seed", type=int, default=0, show_default=True, help="What is drawn when triplets are made.")
    @click.option(
        "--gate/--no-gate", default=True, show_default=True, help="Let the judge drop triplets that are made badly."
    )
    @click.option("--save-triplets", "save", type=_OUT, help="Keep the triplets that were made, for --triplets.")
    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        names = ("triplets", "texts", "text_field", "relations", "limit", "seed", "gate", "save")
        parts = {name: given.pop(name) for name in names}
        command(source=_source(columns=_columns(given.pop("columns")), **parts), **given)

    return wrapped


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say where figures go; the command gets them as `output`."""

    @click.option("--csv", type=_OUT, help="Write all figures as CSV.")
    @click.option("--heat-map", type=_OUT, help=f"Draw relation by metric ({', '.join(_PICTURES)}).")
    @click.option("--details", is_flag=True, help="Print intervals, ties and distances as well.")
    @click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        output = Output(**{name: given.pop(name) for name in ("csv", "heat_map", "details", "as_json")})
        if output.heat_map is not None and output.heat_map.suffix not in _PICTURES:
            raise WrongUse(f"--heat-map {output.heat_map}: a picture's name ends in {', '.join(_PICTURES)}")
        command(output=output, **given)

    return wrapped


@contextmanager
def audit_told() -> Iterator[None]:
    """Turn what an audit raises for a user's mistake or a missing endpoint into a message and the exit status."""
    # Bars of the models' library do not belong between our own lines.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    with told():
        try:
            yield
        except (CannotAudit, BadTriplets, BadTexts) as error:
            raise WrongUse(str(error)) from None
        except ImportError as error:
            raise WrongUse(f"a package is missing ({error}); audits need `pip install 'assay[audit,local]'`") from None
        except OracleUnavailable as error:
            raise NotFinished(f"a model cannot be reached: {error.detail}") from None
        except BrokenPipeError:
            # Whoever reads what we print has gone: nobody is left to be told.
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise NotFinished(f"{where}reading or writing failed: {error.strerror}") from None


def say_notes(material: Material) -> None:
    """On standard error, what of the material was left out."""
    for note in material.notes:
        click.echo(note, err=True)


def put_out(output: Output, material: Material, figures: Sequence[Figure]) -> None:
    """Print the figures, and write what was asked for; neither costs the other when it fails.

    Raises:
        WrongUse: a package for the picture is missing.
        OSError: a file cannot be written.
    """
    # Printed first: a file that cannot be written must not lose the figures.
    try:
        _print(output, material, figures)
    finally:
        _write(output, figures)


def _write(output: Output, figures: Sequence[Figure]) -> None:
    from assay.audit.report import write_csv

    if output.csv is not None:
        write_csv(output.csv, figures)
    if output.heat_map is not None:
        from assay.audit.heat_map import ExtraNeeded, draw

        try:
            draw(figures, output.heat_map)
        except ExtraNeeded as error:
            raise WrongUse(f"--heat-map: {error}") from None


def _print(output: Output, material: Material, figures: Sequence[Figure]) -> None:
    from assay.audit.report import rows, show

    if output.as_json:
        import orjson

        found = {"notes": material.notes, "figures": list(rows(figures))}
        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    from rich.console import Console

    console = Console()
    # What goes to a file or through a pipe is not cut to a terminal's width.
    show(console if console.is_terminal else Console(width=160), figures, details=output.details)


def _source(*, triplets: tuple[Path, ...], texts: Path | None, relations: tuple[str, ...], **others: Any) -> Source:
    if bool(triplets) == (texts is not None):
        raise WrongUse("either --triplets or --texts says what to audit with, and not both")
    if texts is None:
        for option, given in (("--text-field", others["text_field"]), ("--save-triplets", others["save"])):
            if given is not None:
                raise WrongUse(f"{option} is for --texts")
    elif unmade := [relation for relation in relations if relation not in MADE]:
        raise WrongUse(f"--relation {unmade[0]}: no triplets can be made of it; allowed are {', '.join(MADE)}")
    named = tuple(relation_named(name) for name in dict.fromkeys(relations))
    return Source(triplets=triplets, texts=texts, relations=named, **others)


def _columns(given: tuple[str, ...]) -> Columns:
    named: dict[str, tuple[str, ...]] = {}
    for one in given:
        field, _, name = one.partition("=")
        if field not in COLUMNS or not name:
            raise WrongUse(f"--column {one!r}: expected FIELD=NAME with one of {', '.join(COLUMNS)}")
        named[field] = (name,)
    return Columns(**named)
