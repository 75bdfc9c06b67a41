"""What stands beside the network: a regression over its log-odds and how a claim's words stand in the reference.

Fitted and compared on rows of sources that the network has not seen; in the comparison the rows of each source are
decided by a fit without them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.judge.training.rows import ENTAILED, MADE_SENTENCES, Row, source_of
from benchmarks.tables import table
from models.local.comparison.network import Comparison
from models.local.decision import GRAVE
from models.local.encoding import TextEncoder
from models.local.sentences import Response

FAMILIES = {
    "figures and days": ("number", "count", "date"),
    "names": ("name",),
    "names in place of others": ("other name",),
    "negations and opposites": ("negation", "opposite"),
    "exchanged words": ("swap",),
    "clauses added": ("addition",),
    "facts put together": ("stitch",),
    "other languages": ("foreign",),
}
"""Kinds of faults, by family."""

_SAMPLE = 400
"""Rows a source at most."""

_AT_ONCE = 64
_REGULARISED = 0.3
_DRAWN = 2000

Floats = npt.NDArray[np.float64]
Classifier = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What there is to decide a row by."""

    source: str
    right: bool
    network: float
    standing: float
    """The log-odds of both."""
    faults: frozenset[str]
    """Their kinds."""


def measured(encoder: TextEncoder, network: Comparison, rows: Sequence[Row], rng: random.Random) -> list[Measured]:
    """A sample of the rows of each source of claims, judged by the product's own code but for the decision."""
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        if source_of(row.source) != MADE_SENTENCES:
            by_source.setdefault(source_of(row.source), []).append(row)
    picked = [row for own in by_source.values() for row in rng.sample(own, min(len(own), _SAMPLE))]
    return [
        found
        for start in range(0, len(picked), _AT_ONCE)
        for found in _measured(encoder, network, picked[start : start + _AT_ONCE])
    ]


def _measured(encoder: TextEncoder, network: Comparison, rows: Sequence[Row]) -> list[Measured]:
    references = encoder.references([row.premise for row in rows])
    claims = encoder.sentences([row.claim for row in rows])
    found = []
    for row in rows:
        response = Response([claims[row.claim]], [None], [None], references[row.premise], None)
        odds = network.log_odds(response.pairs)
        if odds and (standing := response.standing(0)) is not None:
            kinds = frozenset(fault.kind for fault in standing.faults)
            found.append(Measured(source_of(row.source), row.label == ENTAILED, odds[0], standing.logit, kinds))
    return found


def compared(rows: Sequence[Measured]) -> str:
    """Balanced accuracy and AUROC, means over the sources, by what the decision reads."""
    odds, stand = _network(rows), _standing(rows)
    by_family = {name: _named(rows, [kinds]) for name, kinds in FAMILIES.items()}
    named = _named(rows, list(FAMILIES.values()))
    read: dict[str, tuple[Floats, Classifier]] = {
        "how words stand": (stand, _logistic),
        "how words stand, faults": (np.hstack([stand, named]), _logistic),
        "the same, gradient boosting": (np.hstack([stand, named]), HistGradientBoostingClassifier),
        "network": (odds, _logistic),
        "network, how words stand": (np.hstack([odds, stand]), _logistic),
        **{
            f"network, how words stand, {name}": (np.hstack([odds, stand, column]), _logistic)
            for name, column in by_family.items()
        },
        "network, how words stand, faults": (np.hstack([odds, stand, named]), _logistic),
        "the same, gradient boosting ": (np.hstack([odds, stand, named]), HistGradientBoostingClassifier),
    }
    lines = []
    for name, (columns, classifier) in read.items():
        scores = held_out_scores(rows, columns, classifier)
        lines.append([name.strip(), *_accuracies(rows, scores)])
    return table(["read by the decision", "balanced accuracy", "AUROC"], lines)


def deciding(rows: Sequence[Measured]) -> str:
    """What a fault of each family tells, and what becomes of the balanced accuracy where it decides against a claim."""
    scores = held_out_scores(rows, np.hstack([_network(rows), _standing(rows)]), _logistic)
    right = np.array([row.right for row in rows])
    alone, _ = _accuracies(rows, scores)
    lines = []
    for name, kinds in {**FAMILIES, "all that decide": GRAVE}.items():
        own = _named(rows, [kinds])[:, 0] > 0
        accuracy, _ = _accuracies(rows, np.where(own, np.minimum(scores, 0.49), scores))
        accepted = own & (scores >= 0.5)
        counts = [int(which.sum()) for which in (own, own & right, accepted, accepted & right)]
        lines.append([name, *counts, f"{accuracy - alone:+.3f}"])
    heads = ["named", "claims", "of them right", "accepted by the rest", "of them right", "balanced accuracy"]
    return table(heads, lines)


def operating_point(claims: Sequence[Measured]) -> tuple[str, float]:
    """For responses drawn of several claims, the worst of which counts: the threshold that is best beside even odds.

    The table, and the best log-odds for responses of up to three claims.
    """
    columns = np.hstack([_network(claims), _standing(claims)])
    scores = held_out_scores(claims, columns, _logistic)
    logits = np.log(scores / (1 - scores))
    thresholds = np.linspace(-3, 3, 61)
    rng = np.random.default_rng(0)
    lines, found = [], {}
    for most in (1, 3, 5):
        curves = []
        for source in _sources(claims):
            right, wrong = (_logits(claims, logits, source, want) for want in (True, False))
            good, bad = [], []
            for _ in range(_DRAWN):
                count = rng.integers(1, most + 1)
                good.append(rng.choice(right, count).min())
                # A wrong response has one wrong claim for sure, and others now and then.
                others = np.where(
                    rng.random(count - 1) < 0.25, rng.choice(wrong, count - 1), rng.choice(right, count - 1)
                )
                bad.append(min([rng.choice(wrong), *others]))
            curves.append([(np.mean(np.array(good) >= at) + np.mean(np.array(bad) < at)) / 2 for at in thresholds])
        mean = np.mean(curves, axis=0)
        best = int(mean.argmax())
        found[most] = float(thresholds[best])
        support = 1 / (1 + np.exp(-found[most]))
        lines.append([f"1 to {most}" if most > 1 else "1", support, mean[best], mean[len(mean) // 2]])
    heads = ["claims a response", "best threshold", "balanced accuracy there", "at 0.5"]
    return table(heads, lines), found[3]


def coefficients(rows: Sequence[Measured]) -> tuple[float, float, float]:
    """The regression that the product ships: bias, weight of the network's log-odds, weight of the standing's."""
    model = _logistic()
    model.fit(np.hstack([_network(rows), _standing(rows)]), [row.right for row in rows], sample_weight=_weights(rows))
    network, standing = model.coef_[0].round(3).tolist()
    return float(model.intercept_[0]), network, standing


def held_out_scores(rows: Sequence[Measured], columns: Floats, classifier: Classifier) -> Floats:
    """The probability that each row is right, by a fit on the rows of all other sources."""
    scores = np.zeros(len(rows))
    right = np.array([row.right for row in rows])
    for source in _sources(rows):
        own = np.array([row.source == source for row in rows])
        others = [row for row in rows if row.source != source]
        model = classifier().fit(columns[~own], right[~own], sample_weight=_weights(others))
        scores[own] = model.predict_proba(columns[own])[:, 1]
    return scores


def _logistic() -> Any:
    return LogisticRegression(C=_REGULARISED, max_iter=3000)


def _sources(rows: Sequence[Measured]) -> list[str]:
    return sorted({row.source for row in rows})


def _network(rows: Sequence[Measured]) -> Floats:
    return np.array([[row.network] for row in rows]).clip(-8, 8)


def _standing(rows: Sequence[Measured]) -> Floats:
    return np.array([[row.standing] for row in rows])


def _named(rows: Sequence[Measured], families: Sequence[Collection[str]]) -> Floats:
    """(rows, families): 1 where a fault of the family was found."""
    return np.array([[float(not row.faults.isdisjoint(kinds)) for kinds in families] for row in rows])


def _weights(rows: Sequence[Measured]) -> Floats:
    """Each outcome of each source counts the same."""
    keys = [(row.source, row.right) for row in rows]
    counts = {key: keys.count(key) for key in set(keys)}
    weights = np.array([1 / counts[key] for key in keys])
    scaled: Floats = weights * len(rows) / weights.sum()
    return scaled


def _logits(rows: Sequence[Measured], logits: Floats, source: str, right: bool) -> Floats:
    kept: Floats = logits[[row.source == source and row.right == right for row in rows]]
    return kept


def _accuracies(rows: Sequence[Measured], scores: Floats) -> tuple[float, float]:
    """Balanced accuracy and AUROC, means over the sources."""
    sources, right = np.array([row.source for row in rows]), np.array([row.right for row in rows])
    each = []
    for source in _sources(rows):
        truth, found = right[sources == source], scores[sources == source]
        balanced = ((found[truth] >= 0.5).mean() + (found[~truth] < 0.5).mean()) / 2
        each.append((float(balanced), float(roc_auc_score(truth, found))))
    return fmean(one for one, _ in each), fmean(two for _, two in each)
