"""What runs tell: tables for a person, the models' cost, the heat map of an audit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from checkers.intervals import wilson
from checkers.wording import plain
from lab.audit.cases import KINDS, Count, Figure, Kind
from schemas import Usage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MEAN = "mean of relations"

PICTURES = (".png", ".svg", ".pdf")
"""The ends of a heat map's name."""

_PANELS: tuple[tuple[Kind, str], ...] = (("triplet", "under the relations"), ("control", "control"))
_COLOURS = "cividis"
"""Reads the same with and without colour vision, and in print."""
_DARK = 0.55
"""Cells below are dark, and written on in white."""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table, its columns as wide as what is in them; fractions have three digits, None is a dash."""
    cells = [list(header), *([_cell(one) for one in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(header))]
    for first, *others in cells:
        aligned = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *aligned]).rstrip()


def listing(summary: Mapping[str, Any]) -> Iterator[str]:
    """A line for each figure, and for each within one; what is not known is left out."""
    for name, value in summary.items():
        if isinstance(value, Mapping):
            yield from listing({f"{name}, {key}": one for key, one in value.items()})
        elif value is not None:
            yield f"{name:<32}  {' to '.join(map(_cell, value)) if isinstance(value, list) else _cell(value)}"


def usage_lines(role: str, usage: Usage) -> Iterator[str]:
    """The cost of a model in a run; nothing if it was not asked."""
    if usage.calls or usage.cached or usage.prompt_tokens:
        cost = f", cost {usage.cost:.4g}" if usage.cost else ""
        calls = f"{usage.calls:,} calls, {usage.cached:,} from the cache"
        yield f"{role}: {calls}, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens{cost}"


def mean_accuracy(figures: Iterable[Figure], kind: Kind) -> float | None:
    """The mean of the accuracies, each relation the same weight; None if there are none."""
    known = [accuracy for figure in figures if (accuracy := figure.accuracy(kind)) is not None]
    return fmean(known) if known else None


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
    """Draw relation by metric, the control beside it, a row a subject; the same figures give the same SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    by_subject: dict[str, list[Figure]] = {}
    for one in figures:
        by_subject.setdefault(one.subject, []).append(one)
    metrics, relations, _ = _grid(figures, "triplet")
    size = 2 * (0.75 * len(metrics) + 1.2) + 2.2, len(by_subject) * (0.42 * len(relations) + 1.5) + 0.3
    with mpl.rc_context({"svg.hashsalt": "audit", "font.size": 9}):
        figure, grid = plt.subplots(len(by_subject), len(_PANELS), figsize=size, squeeze=False, layout="constrained")
        for (subject, own), line in zip(by_subject.items(), grid, strict=True):
            for axes, (kind, title) in zip(line, _PANELS, strict=True):
                image = _panel(axes, own, kind)
                # A dollar sign begins mathematics in matplotlib; names are data.
                axes.set_title(f"{subject}, {title}".replace("$", r"\$"), fontsize=10)
            line[-1].set_yticklabels([])
        figure.colorbar(image, ax=grid, label="accuracy", shrink=0.8)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


def _panel(axes: "Axes", figures: Sequence[Figure], kind: Kind) -> "AxesImage":
    metrics, relations, shares = _grid(figures, kind)
    known = [[float("nan") if share is None else share for share in line] for line in shares]
    image = axes.imshow(known, cmap=_COLOURS, vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            text, colour = ("-", "black") if share is None else (f"{share:.2f}", "white" if share < _DARK else "black")
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    names = [metric.replace("_", " ") for metric in metrics]
    axes.set_xticks(range(len(metrics)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(relations)), [name.replace("_", " ") for name in relations])
    axes.axhline(len(relations) - 1.5, color="white", linewidth=3)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def _grid(figures: Sequence[Figure], kind: Kind) -> tuple[list[str], list[str], list[list[float | None]]]:
    """Metrics, relations with their mean last, and the accuracies by relation and metric."""
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    relations = list(dict.fromkeys(figure.relation for figure in figures))
    by_place = {(figure.relation, figure.metric): figure.accuracy(kind) for figure in figures}
    shares = [[by_place.get((relation, metric)) for metric in metrics] for relation in relations]
    shares.append([mean_accuracy([one for one in figures if one.metric == metric], kind) for metric in metrics])
    return metrics, [*relations, MEAN], shares


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
