"""An audit's figures as rows for other programs and as tables for a person."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click
import orjson

from checkers.intervals import wilson
from checkers.wording import plain
from lab.audit.cases import KINDS, Count, Figure, Kind

if TYPE_CHECKING:
    from rich.table import Table

MEAN = "mean of relations"


def figure_rows(figures: Sequence[Figure]) -> Iterator[dict[str, Any]]:
    """A flat row for each figure; shares are 0 to 1, null if nothing was counted.

    `positive_distance` and `negative_distance` are means. The scaled ones run from 0, the least distance of all that
    the model has by that metric, to 1, the largest.
    """
    spans = _spans(figures)
    for figure in figures:
        row: dict[str, Any] = {"subject": figure.subject, "metric": figure.metric, "relation": figure.relation}
        for kind in KINDS:
            count = figure.counts.get(kind, Count())
            low, high = wilson(count.right, count.cases) if count.cases else (None, None)
            row |= {f"{kind}_{name}": value for name, value in asdict(count).items()}
            row |= {f"{kind}_accuracy": count.accuracy, f"{kind}_low": low, f"{kind}_high": high}
        found = figure.distances
        positive, negative = (found.positive, found.negative) if found else (None, None)
        span = spans.get((figure.subject, figure.metric))
        yield row | {
            "positive_distance": positive,
            "negative_distance": negative,
            "positive_scaled": _scaled(positive, span),
            "negative_scaled": _scaled(negative, span),
            "missing": figure.missing,
        }


def write_csv(path: Path, figures: Sequence[Figure]) -> None:
    """The rows as a CSV file with a head line; empty if there is no value.

    Raises:
        OSError: it cannot be written.
    """
    lines = list(figure_rows(figures))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def means(figures: Sequence[Figure], kind: Kind) -> float | None:
    """The mean of the accuracies, each relation the same weight."""
    known = [accuracy for figure in figures if (accuracy := figure.accuracy(kind)) is not None]
    return fmean(known) if known else None


def print_figures(figures: Sequence[Figure], notes: Sequence[str], *, details: bool, as_json: bool) -> None:
    """Print as JSON, or a table of accuracies a subject; with `details` a line for every figure."""
    if as_json:
        document = {"notes": notes, "figures": list(figure_rows(figures))}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
        return
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        # What goes to a file or through a pipe is not cut to a terminal's width.
        console = Console(width=160)
    for subject in dict.fromkeys(figure.subject for figure in figures):
        own = [figure for figure in figures if figure.subject == subject]
        console.print(_summary(subject, own))
        if details:
            console.print(_details(subject, own))
    for reason in dict.fromkeys(figure.missing for figure in figures if figure.missing):
        places = ", ".join(f"{figure.relation} by {figure.metric}" for figure in figures if figure.missing == reason)
        console.print(f"-: {reason} ({places})", markup=False, highlight=False)


def _summary(subject: str, figures: Sequence[Figure]) -> "Table":
    table = _table(f"{plain(subject)}: accuracy, and of the control")
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    table.add_column("relation", no_wrap=True)
    for name in ("cases", *metrics):
        table.add_column(name.replace("_", "\n"), justify="right")
    rows: tuple[tuple[Kind, str, str | None], ...] = (("triplet", "", None), ("control", "  control", "dim"))
    for relation in dict.fromkeys(figure.relation for figure in figures):
        own = [figure for figure in figures if figure.relation == relation]
        for kind, label, style in rows:
            cases = max(figure.counts.get(kind, Count()).cases for figure in own)
            shares = (_share(figure.accuracy(kind)) for figure in own)
            table.add_row(label or relation, str(cases), *shares, style=style)
    table.add_section()
    for kind, label, style in rows:
        averages = (means([figure for figure in figures if figure.metric == metric], kind) for metric in metrics)
        table.add_row(label or MEAN, "", *map(_share, averages), style=style or "bold")
    return table


def _details(subject: str, figures: Sequence[Figure]) -> "Table":
    table = _table(f"{plain(subject)}: intervals (95%), ties, controls, mean distances scaled to 0..1")
    for name in ("relation", "metric"):
        table.add_column(name, no_wrap=True)
    for name in ("accuracy", "interval", "ties", "control", "unrelated", "positive", "negative"):
        table.add_column(name, justify="right")
    for row in figure_rows(figures):
        interval = "-" if row["triplet_low"] is None else f"{row['triplet_low']:.3f}..{row['triplet_high']:.3f}"
        table.add_row(
            row["relation"],
            row["metric"],
            _share(row["triplet_accuracy"]),
            interval,
            str(row["triplet_ties"]),
            *(_share(row[f"{kind}_accuracy"]) for kind in ("control", "unrelated")),
            *(_share(row[f"{side}_scaled"]) for side in ("positive", "negative")),
        )
    return table


def _table(title: str) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    return Table(title=escape(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _spans(figures: Sequence[Figure]) -> dict[tuple[str, str], tuple[float, float]]:
    """Least and largest distance by subject and metric."""
    spans: dict[tuple[str, str], tuple[float, float]] = {}
    for figure in figures:
        if figure.distances is not None:
            least, largest = figure.distances.least, figure.distances.largest
            known = spans.get((figure.subject, figure.metric), (least, largest))
            spans[figure.subject, figure.metric] = min(known[0], least), max(known[1], largest)
    return spans


def _scaled(value: float | None, span: tuple[float, float] | None) -> float | None:
    if value is None or span is None:
        return None
    least, largest = span
    return (value - least) / (largest - least) if largest > least else 0.0
