"""The figures of embeddings and of stores: how often the positive is closer to the base than the negative.

Embeddings are measured by the seven distances of the paper, over vectors of length 1 (paper, section 4.1).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from assay.cli.common import progress
from checkers.intervals import wilson
from checkers.wording import plain
from lab.audit import Metric, StoreMetric
from lab.audit.embedding import Vectors, unit
from lab.audit.triplets import Groups, Triplet
from lab.report import Report, table

if TYPE_CHECKING:
    from lab.audit.stores import Nearest

Floats: TypeAlias = npt.NDArray[np.float64]

Sides: TypeAlias = tuple[Floats, Floats]
"""The distances of the positives from their bases, and those of the negatives."""

_LEAST_VARIANCE = 1e-10
"""As a share of the largest. Models compute in single precision: what is smaller is the rounding of directions without
breadth, and the pseudo-inverse leaves it out."""

Kind = Literal["triplet", "control", "unrelated"]
"""`triplet`: the negative of the relation. `control`: the other one's positive, in the cases (1, 2), (3, 4) and so on
whose bases differ: texts without the relation (paper, section 4.2). `unrelated`: the one that came with the triplet."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_PANELS: tuple[tuple[Kind, str], ...] = (("triplet", "under the relations"), ("control", "control"))
_DARK = 0.55
"""Cells below are dark, and written on in white."""

Case = tuple[str, str, str]
"""Base, positive and negative: a matcher is right if it finds the positive closer to the base."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of cases decided, by outcome."""

    cases: int = 0
    right: int = 0
    ties: int = 0
    """Both as close: wrong, for nothing then speaks for the positive."""

    @property
    def accuracy(self) -> float | None:
        """The share of right ones; None if there was no case."""
        return self.right / self.cases if self.cases else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The counts of one model or store by one metric under one relation."""

    subject: str
    metric: str
    relation: str
    counts: Mapping[Kind, Count]
    """A kind without a case has no count; empty if nothing could be measured."""
    distances: tuple[float, float] | None = None
    """Mean distance of the triplets' positives from their bases, and of the negatives."""

    def accuracy(self, kind: Kind = "triplet") -> float | None:
        """The share of right cases of a kind; None if there was none."""
        return self.counts.get(kind, Count()).accuracy


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


def embedding_figures(subject: str, vectors: Vectors, groups: Groups, metrics: Sequence[Metric]) -> Iterator[Figure]:
    """A figure for each group and metric, in that order; `vectors` hold all sentences of the groups."""
    for relation, triplets in groups.items():
        placed = _placed(vectors, triplets)
        for metric in metrics:
            own = placed
            if metric == "mahalanobis":
                rows = np.concatenate(placed["triplet"])
                whitening = whitening_of(rows)
                # No more than one vector to each dimension that they span, and every two are equally far apart.
                if len(np.unique(rows, axis=0)) <= whitening.shape[1] + 1:
                    yield Figure(subject=subject, metric=metric, relation=relation, counts={})
                    continue
                own = {kind: found @ whitening for kind, found in placed.items()}
            sides = {kind: _sides(found, metric) for kind, found in own.items()}
            yield _figure(subject, metric, relation, sides, sides["triplet"])


def store_figures(
    subject: str, nearest: "Nearest", metric: StoreMetric, vectors: Vectors, groups: Groups
) -> Iterator[Figure]:
    """A figure for each group; `vectors` hold all its sentences.

    `nearest` is an open store: it says which one is nearest, not how near. The distances are computed next to it.

    Raises NotFinished if the store refuses, or goes away.
    """
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
            yield _figure(subject, metric, relation, sides, apart)


def distances(metric: Metric, one: Floats, other: Floats) -> Floats:
    """The distance of each pair of rows of two arrays (pairs, dimensions), as an array (pairs,).

    Mahalanobis distances are Euclidean ones of rows under the map of `whitening_of`.
    """
    differences = one - other
    match metric:
        case "cosine":
            # Of vectors of length 1; exact if they are almost the same, as 1 minus their product is not.
            found = np.square(differences).sum(axis=1) / 2
        case "euclidean" | "mahalanobis":
            found = np.sqrt(np.square(differences).sum(axis=1))
        case "manhattan":
            found = np.abs(differences).sum(axis=1)
        case "pearson":
            # 1 - r; a row of equal numbers correlates with nothing.
            centred, other_centred = (rows - rows.mean(axis=1, keepdims=True) for rows in (one, other))
            lengths = np.linalg.norm(centred, axis=1) * np.linalg.norm(other_centred, axis=1)
            found = 1 - _quotients((centred * other_centred).sum(axis=1), lengths)
        case "bray_curtis":
            found = _quotients(np.abs(differences).sum(axis=1), np.abs(one + other).sum(axis=1))
        case "lance_williams":
            # Also known as Canberra; nothing next to nothing adds nothing.
            found = _quotients(np.abs(differences), np.abs(one) + np.abs(other)).sum(axis=1)
    return np.asarray(found)


def whitening_of(rows: Floats) -> Floats:
    """The map (dimensions, rank) under which Euclidean distances are Mahalanobis distances of these rows.

    It is made of the pseudo-inverse of their covariance.
    """
    values, directions = np.linalg.eigh(np.atleast_2d(np.cov(rows.T)))
    kept = values > _LEAST_VARIANCE * values[-1]
    found: Floats = directions[:, kept] / np.sqrt(values[kept])
    return found


def _quotients(numbers: Floats, divisors: Floats) -> Floats:
    """Number by number; 0 if the divisor is 0."""
    return np.asarray(np.divide(numbers, divisors, out=np.zeros_like(numbers), where=divisors > 0))


def _figure(subject: str, metric: str, relation: str, sides: Mapping[Kind, Sides], apart: Sides) -> Figure:
    counts = {
        kind: Count(len(positive), int((positive < negative).sum()), int((positive == negative).sum()))
        for kind, (positive, negative) in sides.items()
    }
    means = float(apart[0].mean()), float(apart[1].mean())
    return Figure(subject=subject, metric=metric, relation=relation, counts=counts, distances=means)


def _placed(vectors: Vectors, triplets: Sequence[Triplet]) -> dict[Kind, Floats]:
    """Base, positive and negative (cases, 3, dimensions) of each kind that has a case."""
    made = {kind: [[vectors[text] for text in case] for case in cases(triplets, kind)] for kind in KINDS}
    return {kind: unit(np.array(own)) for kind, own in made.items() if own}


def _sides(placed: Floats, metric: Metric) -> Sides:
    base, positive, negative = placed.swapaxes(0, 1)
    return distances(metric, base, positive), distances(metric, base, negative)


def report(figures: Sequence[Figure], notes: Sequence[str] = ()) -> Report:
    """A flat row for each figure, and a table of accuracies a subject; `notes` tell of triplets that are not there.

    Shares are 0 to 1, null if nothing was counted.
    """
    summary = {"notes": list(notes), "figures": [_row(figure) for figure in figures]}
    return Report(summary, list(_lines(figures)))


def _lines(figures: Sequence[Figure]) -> Iterator[str]:
    for subject in dict.fromkeys(figure.subject for figure in figures):
        own = [figure for figure in figures if figure.subject == subject]
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
    if places := [f"{one.relation} by {one.metric}" for one in figures if not one.counts]:
        said = "no more sentences than the model has dimensions: all are equally far apart"
        yield f"-: {said} ({', '.join(places)})"


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
    return row | {"positive_distance": positive, "negative_distance": negative}
