"""The picture of an audit: relation by metric, a row of two panels a subject, the control beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.audit.cases import CannotAudit, Figure, Kind
from lab.audit.report import MEAN, means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_PANELS: tuple[tuple[Kind, str], ...] = (("triplet", "under the relations"), ("control", "control"))
_COLOURS = "cividis"
"""Reads the same with and without colour vision, and in print."""

_DARK = 0.55
"""Cells below are dark, and written on in white."""


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Draw the accuracies; the same figures give the same SVG.

    Raises:
        CannotAudit: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise CannotAudit(f"--heat-map: a package is missing ({error}); run `pip install 'assay[audit]'`") from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    relations = list(dict.fromkeys(figure.relation for figure in figures))
    metrics = max(len({figure.metric for figure in figures if figure.subject == name}) for name in subjects)
    size = 2 * (0.75 * metrics + 1.2) + 2.2, len(subjects) * (0.42 * (len(relations) + 1) + 1.5) + 0.3
    with mpl.rc_context({"svg.hashsalt": "audit", "font.size": 9}):
        figure, grid = plt.subplots(len(subjects), len(_PANELS), figsize=size, squeeze=False, layout="constrained")
        for subject, line in zip(subjects, grid, strict=True):
            own = [one for one in figures if one.subject == subject]
            for axes, (kind, title) in zip(line, _PANELS, strict=True):
                image = _panel(axes, own, kind)
                # A dollar sign begins mathematics in matplotlib; names are data.
                axes.set_title(f"{subject}, {title}".replace("$", r"\$"), fontsize=10)
            line[-1].set_yticklabels([])
        figure.colorbar(image, ax=grid, label="accuracy", shrink=0.8)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


def _panel(axes: "Axes", figures: Sequence[Figure], kind: Kind) -> "AxesImage":
    metrics = list(dict.fromkeys(figure.metric for figure in figures))
    relations = list(dict.fromkeys(figure.relation for figure in figures))
    by_place = {(figure.relation, figure.metric): figure.accuracy(kind) for figure in figures}
    shares = [[by_place[relation, metric] for metric in metrics] for relation in relations]
    shares.append([means([one for one in figures if one.metric == metric], kind) for metric in metrics])
    known = [[float("nan") if share is None else share for share in line] for line in shares]
    image = axes.imshow(known, cmap=_COLOURS, vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            text, colour = ("-", "black") if share is None else (f"{share:.2f}", "white" if share < _DARK else "black")
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    names = [metric.replace("_", " ") for metric in metrics]
    axes.set_xticks(range(len(metrics)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(relations) + 1), [name.replace("_", " ") for name in (*relations, MEAN)])
    axes.axhline(len(relations) - 0.5, color="white", linewidth=3)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image
