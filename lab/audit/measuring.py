"""The figures of embeddings and of stores: how often the positive is closer to the base than the negative.

Embeddings are measured by the seven distances of the paper, over vectors of length 1 (paper, section 4.1).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.spatial import distance

from assay.cli.common import progress
from checkers.intervals import wilson
from checkers.wording import plain
from lab.audit import Metric, StoreMetric
from lab.audit.embedding import Vectors, unit
from lab.audit.stores import Nearest
from lab.audit.triplets import Groups, Triplet
from lab.report import Report, table

Floats: TypeAlias = npt.NDArray[np.float64]

Sides: TypeAlias = tuple[Floats, Floats]  # distances of the positives from their bases, and of the negatives

# As a share of the largest. Models compute in single precision: what is smaller is rounding.
_LEAST_VARIANCE = 1e-10

Kind = Literal["triplet", "control", "unrelated"]
"""`triplet`: the negative of the relation. `control`: the other one's positive, in the cases (1, 2), (3, 4) and so on
whose bases differ: texts without the relation (paper, section 4.2). `unrelated`: the one that came with the triplet."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_PANELS: tuple[tuple[Kind, str], ...] = (("triplet", "under the relations"), ("control", "control"))
_DARK = 0.55  # cells below are dark, and written on in white

Case = tuple[str, str, str]
"""Base, positive and negative: a matcher is right if it finds the positive closer to the base."""

Row: TypeAlias = dict[str, Any]
"""The figures of one model or store by one metric under one relation. For each kind how many cases there are, are right
and are ties (both as close: wrong, for nothing then speaks for the positive), and the accuracy with its 95% interval,
null if there is none; and the mean distances of the triplets' positives and negatives from their bases."""


def cases(triplets: Sequence[Triplet], kind: Kind) -> Iterator[Case]:
    """The cases of this kind, in the triplets' order."""
    for place, triplet in enumerate(triplets):
        negative: str | None = triplet.negative
        if kind == "unrelated":
            negative = triplet.unrelated
        elif kind == "control":
            # An odd one at the end has no neighbour; the positive of one with the same base would be right too.
            neighbour = triplets[place ^ 1] if place ^ 1 < len(triplets) else triplet
            negative = neighbour.positive if neighbour.base != triplet.base else None
        if negative is not None:
            yield triplet.base, triplet.positive, negative


def all_cases(groups: Groups) -> list[Case]:
    """The cases of all kinds, in an audit of these triplets."""
    return [case for triplets in groups.values() for kind in KINDS for case in cases(triplets, kind)]


def sentences_of(groups: Groups) -> set[str]:
    """All sentences that an audit needs."""
    return {text for case in all_cases(groups) for text in case}


def embedding_rows(subject: str, vectors: Vectors, groups: Groups, metrics: Sequence[Metric]) -> Iterator[Row]:
    """A row for each group and metric, in that order; `vectors` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        placed = _placed(vectors, triplets)
        for metric in metrics:
            own: Mapping[Kind, Floats] = placed
            if metric == "mahalanobis":
                rows = np.concatenate(placed["triplet"])
                whitening = whitening_of(rows)
                # No more than one vector to each dimension that they span, and every two are equally far apart.
                is_measured = len(np.unique(rows, axis=0)) > whitening.shape[1] + 1
                own = {kind: found @ whitening for kind, found in placed.items()} if is_measured else {}
            sides = {kind: _sides(found, metric) for kind, found in own.items()}
            yield _row(subject, metric, relation, sides, sides.get("triplet"))


def store_rows(subject: str, nearest: Nearest, metric: StoreMetric, vectors: Vectors, groups: Groups) -> Iterator[Row]:
    """A row for each group, whose distances are computed next to what the open store says; raises NotFinished."""
    total, done = len(all_cases(groups)), 0
    with progress(total) as shown:

        def away(case: Floats) -> float:
            """0 if the store names the positive, and 1 if the other; of two that are the same, either is luck."""
            nonlocal done
            base, positive, negative = case.astype(np.float32)
            # The negative first: a store that keeps to the order where it sees no difference gets no case right by it.
            row = nearest(np.stack([negative, positive]), base)
            done += 1
            shown.at(done, f"{plain(subject)} by {metric}: {done} of {total} cases")
            return 0.5 if (positive == negative).all() else float(row == 0)

        for relation, triplets in groups.items():
            placed = _placed(vectors, triplets)
            answers = {kind: np.array([away(case) for case in found]) for kind, found in placed.items()}
            sides = {kind: (found, 1 - found) for kind, found in answers.items()}
            # Of vectors of length 1, the inner product is the cosine.
            apart = _sides(placed["triplet"], "cosine" if metric == "inner_product" else metric)
            yield _row(subject, metric, relation, sides, apart)


_MEASURES = {
    # Half of it is the cosine distance of vectors of length 1; exact if they are almost the same.
    "cosine": distance.sqeuclidean,
    "euclidean": distance.euclidean,
    "manhattan": distance.cityblock,
    "pearson": distance.correlation,
    "bray_curtis": distance.braycurtis,
    "lance_williams": distance.canberra,
    # Of rows under the map of `whitening_of`.
    "mahalanobis": distance.euclidean,
}


def distances(metric: Metric, one: Floats, other: Floats) -> Floats:
    """The distance of each pair of rows of two arrays (pairs, dimensions), as an array (pairs,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.array([_MEASURES[metric](*rows) for rows in zip(one, other, strict=True)])
    # A row of equal numbers correlates with nothing.
    return np.nan_to_num(found / 2 if metric == "cosine" else found, nan=1.0)


def whitening_of(rows: Floats) -> Floats:
    """The map (dimensions, rank) under which Euclidean distances are Mahalanobis distances of these rows.

    It is made of the pseudo-inverse of their covariance.
    """
    values, directions = np.linalg.eigh(np.atleast_2d(np.cov(rows.T)))
    kept = values > _LEAST_VARIANCE * values[-1]
    found: Floats = directions[:, kept] / np.sqrt(values[kept])
    return found


def _row(subject: str, metric: str, relation: str, sides: Mapping[Kind, Sides], apart: Sides | None) -> Row:
    row: Row = {"subject": subject, "metric": metric, "relation": relation}
    for kind in KINDS:
        positive, negative = sides.get(kind, (np.array([]), np.array([])))
        cases, right = len(positive), int((positive < negative).sum())
        low, high = wilson(right, cases) if cases else (None, None)
        row |= {f"{kind}_cases": cases, f"{kind}_right": right, f"{kind}_ties": int((positive == negative).sum())}
        row |= {f"{kind}_accuracy": right / cases if cases else None, f"{kind}_low": low, f"{kind}_high": high}
    means = None if apart is None else [float(one.mean()) for one in apart]
    return row | dict(zip(("positive_distance", "negative_distance"), means or (None, None), strict=True))


def _placed(vectors: Vectors, triplets: Sequence[Triplet]) -> dict[Kind, Floats]:
    """Base, positive and negative (cases, 3, dimensions) of each kind that has a case."""
    made = {kind: [[vectors[text] for text in case] for case in cases(triplets, kind)] for kind in KINDS}
    return {kind: unit(np.array(own)) for kind, own in made.items() if own}


def _sides(placed: Floats, metric: Metric) -> Sides:
    base, positive, negative = placed.swapaxes(0, 1)
    return distances(metric, base, positive), distances(metric, base, negative)


def report(rows: Sequence[Row], notes: Sequence[str] = ()) -> Report:
    """The rows, and a table of accuracies a subject; `notes` tell of triplets that are not there."""
    return Report({"notes": list(notes), "figures": rows}, list(_lines(rows)))


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for subject, own in _by_subject(rows).items():
        metrics, relations, shares = _grid(own, "triplet")
        controls = _grid(own, "control")[2]
        lines: list[list[object]] = []
        for relation, *both in zip(relations, shares, controls, strict=True):
            for name, kind, accuracies in ((relation, "triplet", both[0]), ("  control", "control", both[1])):
                cases = max((row[f"{kind}_cases"] for row in own if row["relation"] == relation), default=None)
                lines.append([name, cases, *accuracies])
        yield f"{plain(subject)}: accuracy, and of the control"
        yield from table(["relation", "cases", *metrics], lines)
        yield ""
    if places := [f"{row['relation']} by {row['metric']}" for row in rows if not row["triplet_cases"]]:
        said = "no more sentences than the model has dimensions: all are equally far apart"
        yield f"-: {said} ({', '.join(places)})"


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw relation by metric, the control next to it, a row a subject; the same figures give the same SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    by_subject = _by_subject(rows)
    metrics, relations, _ = _grid(rows, "triplet")
    size = 2 * (0.75 * len(metrics) + 1.2) + 2.2, len(by_subject) * (0.42 * len(relations) + 1.5) + 0.3
    with mpl.rc_context({"svg.hashsalt": "audit", "font.size": 9}):
        picture, panels = plt.subplots(len(by_subject), len(_PANELS), figsize=size, squeeze=False, layout="constrained")
        for (subject, own), line in zip(by_subject.items(), panels, strict=True):
            for axes, (kind, title) in zip(line, _PANELS, strict=True):
                metrics, relations, shares = _grid(own, kind)
                known = np.array(shares, dtype=float)
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


def _by_subject(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {
        name: [row for row in rows if row["subject"] == name] for name in dict.fromkeys(row["subject"] for row in rows)
    }


def _grid(rows: Sequence[Row], kind: Kind) -> tuple[list[str], list[str], list[list[float | None]]]:
    """Metrics, relations with their mean last, and the accuracies by relation and metric."""
    by_place = {(row["relation"], row["metric"]): row[f"{kind}_accuracy"] for row in rows}
    relations, metrics = (list(dict.fromkeys(names)) for names in zip(*by_place, strict=True))
    shares = [[by_place.get((relation, metric)) for metric in metrics] for relation in relations]
    known = ([share for share in column if share is not None] for column in zip(*shares, strict=True))
    shares.append([fmean(column) if column else None for column in known])
    return metrics, [*relations, "mean of relations"], shares
