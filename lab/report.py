"""What runs tell: tables for a person, the models' cost, the heat map of an audit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from checkers.intervals import wilson
from checkers.wording import plain
from lab.audit.cases import KINDS, Count, Figure, Kind

_PANELS: tuple[tuple[Kind, str], ...] = (("triplet", "under the relations"), ("control", "control"))
_DARK = 0.55
"""Cells below are dark, and written on in white."""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table, its columns as wide as what is in them; fractions have three digits, None is a dash."""
    cells = [list(header), *([_cell(one) for one in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(header))]
    for first, *others in cells:
        aligned = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *aligned]).rstrip()


def table_of(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """The lines of a table whose columns are the keys of its rows; none if there are no rows."""
    if rows:
        yield from table([name.replace("_", " ") for name in rows[0]], [list(row.values()) for row in rows])


def listing(summary: Mapping[str, Any]) -> Iterator[str]:
    """A line for each figure, and for each within one; what is not known is left out."""
    for name, value in summary.items():
        if isinstance(value, Mapping):
            yield from listing({f"{name}, {key}": one for key, one in value.items()})
        elif value is not None:
            yield f"{name:<32}  {' to '.join(map(_cell, value)) if isinstance(value, list) else _cell(value)}"


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """The figures of an audit, for people and for programs."""

    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    """Triplets that were left out or could not be made."""

    def summary(self) -> dict[str, Any]:
        """A flat row for each figure; shares are 0 to 1, null if nothing was counted."""
        return {"notes": list(self.notes), "figures": [_row(figure) for figure in self.figures]}

    def lines(self) -> Iterator[str]:
        """A table of accuracies a subject."""
        for subject in dict.fromkeys(figure.subject for figure in self.figures):
            own = [figure for figure in self.figures if figure.subject == subject]
            metrics, relations, shares = _grid(own, "triplet")
            controls = _grid(own, "control")[2]
            rows: list[list[object]] = []
            for place, relation in enumerate(relations):
                of_it = [figure for figure in own if figure.relation == relation]
                for name, kind, some in ((relation, KINDS[0], shares), ("  control", KINDS[1], controls)):
                    cases = max((figure.counts.get(kind, Count()).cases for figure in of_it), default=None)
                    rows.append([name, cases, *some[place]])
            yield f"{plain(subject)}: accuracy, and of the control"
            yield from table(["relation", "cases", *metrics], rows)
            yield ""
        for reason in dict.fromkeys(figure.missing for figure in self.figures if figure.missing):
            places = (f"{one.relation} by {one.metric}" for one in self.figures if one.missing == reason)
            yield f"-: {reason} ({', '.join(places)})"


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Draw relation by metric, the control next to it, a row a subject; the same figures give the same SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    metrics, relations, _ = _grid(figures, "triplet")
    size = 2 * (0.75 * len(metrics) + 1.2) + 2.2, len(subjects) * (0.42 * len(relations) + 1.5) + 0.3
    with mpl.rc_context({"svg.hashsalt": "audit", "font.size": 9}):
        picture, panels = plt.subplots(len(subjects), len(_PANELS), figsize=size, squeeze=False, layout="constrained")
        for subject, line in zip(subjects, panels, strict=True):
            for axes, (kind, title) in zip(line, _PANELS, strict=True):
                metrics, relations, shares = _grid([one for one in figures if one.subject == subject], kind)
                known = [[float("nan") if share is None else share for share in row] for row in shares]
                # Colours that read the same with and without colour vision, and in print.
                axes.imshow(known, cmap="cividis", vmin=0, vmax=1, aspect="auto")
                for (row, column), share in np.ndenumerate(known):
                    text, colour = "-" if np.isnan(share) else f"{share:.2f}", "white" if share < _DARK else "black"
                    axes.text(column, row, text, ha="center", va="center", color=colour)
                # A dollar sign begins mathematics in matplotlib; names are data.
                axes.set_title(f"{subject}, {title}".replace("$", r"\$"))
                axes.set_xticks(range(len(metrics)), [name.replace("_", " ") for name in metrics], rotation=35)
                axes.set_yticks(range(len(relations)), [name.replace("_", " ") for name in relations])
        picture.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(picture)


def _grid(figures: Sequence[Figure], kind: Kind) -> tuple[list[str], list[str], list[list[float | None]]]:
    """Metrics, relations with their mean last, and the accuracies by relation and metric."""
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    relations = list(dict.fromkeys(figure.relation for figure in figures))
    by_place = {(figure.relation, figure.metric): figure.accuracy(kind) for figure in figures}
    shares = [[by_place.get((relation, metric)) for metric in metrics] for relation in relations]
    known = ([share for share in column if share is not None] for column in zip(*shares, strict=True))
    shares.append([fmean(column) if column else None for column in known])
    return metrics, [*relations, "mean of relations"], shares


def _row(figure: Figure) -> dict[str, Any]:
    row: dict[str, Any] = {"subject": figure.subject, "metric": figure.metric, "relation": figure.relation}
    for kind in KINDS:
        count = figure.counts.get(kind, Count())
        low, high = wilson(count.right, count.cases) if count.cases else (None, None)
        row |= {f"{kind}_{name}": value for name, value in asdict(count).items()}
        row |= {f"{kind}_accuracy": count.accuracy, f"{kind}_low": low, f"{kind}_high": high}
    positive, negative = figure.distances or (None, None)
    return row | {"positive_distance": positive, "negative_distance": negative, "missing": figure.missing}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)
