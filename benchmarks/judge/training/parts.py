"""The worth of each part of the bundled judge: the judge without it, on claims held out and on everyday answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.judge.everyday import everyday_answers
from benchmarks.judge.training.rows import ENTAILED, Row
from benchmarks.tables import table
from models.claims import ClaimKind, Claims
from models.local import guards, response
from models.local.encoding import TextEncoder
from models.local.network import Comparison, Odds
from models.local.response import Held, Response
from models.local.sides import MOST_WORDS, Side, sentences_of

_SAMPLE = 300
"""Rows of a source at most."""
_REGULARISED = 0.3


def _nothing(*_: object) -> Iterator[str]:
    return iter(())


def _first_sentences(claim: Side, reference: Side) -> tuple[Side, int]:
    kept = np.cumsum(np.bincount(reference.owners, minlength=len(reference.sentences))) <= MOST_WORDS
    return sentences_of(reference, np.flatnonzero(kept).tolist() or [0]), 0


def _even(network: Comparison, pairs: Sequence[Any]) -> list[Odds]:
    return [Odds(0.0, 0.0)] * len(pairs)


NETWORK, LOST, PICKER = "network", "words that are nowhere in the reference", "picker of evidence"
PARTS: dict[str, tuple[tuple[object, str, Any], ...]] = {
    "nothing": (),
    NETWORK: ((Comparison, "log_odds", _even),),
    LOST: ((response, "found", lambda claim, reference: np.ones(len(claim.content), dtype=np.float32)),),
    PICKER: ((response, "evidence", _first_sentences),),
    "guard of figures": ((guards, "_figures", _nothing), (guards, "_displaced", _nothing)),
    "guard of dates": ((guards, "_moments", _nothing),),
    "guard of negations": ((guards, "_denials", _nothing),),
    "guard of names": ((response, "unknown_names", _nothing),),
    "any guard": ((response, "objections", _nothing), (response, "unknown_names", _nothing)),
}
"""The part that the judge is without, and what stands in its place."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim of a source held out."""

    source: str
    right: bool
    held: Held
    odds: list[Odds]

    @property
    def read(self) -> tuple[float, float]:
        """The figures that decide: log-odds, and the share of the claim that is lost."""
        (pair,) = self.held.compared
        return max(-8.0, min(8.0, self.odds[0].supported)), pair.lost


class Parts:
    """Claims of sources held out, encoded once, and judged without one part after the other."""

    def __init__(self, encoder: TextEncoder, network: Comparison, rows: Sequence[Row]) -> None:
        self._network = network
        rng = random.Random(3)
        by_source: dict[str, list[Row]] = {}
        for row in rows:
            by_source.setdefault(row.source, []).append(row)
        self._rows = [row for own in by_source.values() for row in rng.sample(own, min(len(own), _SAMPLE))]
        self._texts = encoder.sentences([row.claim for row in self._rows])
        self._references = encoder.references([row.premise for row in self._rows])

    def report(self) -> str:
        """The scale of models/local/response.py, and what becomes of claims and everyday answers without each part."""
        lines: list[list[object]] = []
        scales = []
        for name, replaced in PARTS.items():
            with ExitStack() as stack:
                for target, attribute, other in replaced:
                    stack.enter_context(patch.object(target, attribute, other))
                found = list(self._compared())
                scales.append(_scale(found))
                everyday = _decided(everyday_answers())
                lines.append([name, *_measured(found), *everyday])
        heads = ["without", "AUROC", "balanced accuracy", "decided", "right of it", "everyday: decided", "right of it "]
        bias, network, lost = scales[0]
        return f"bias {bias:.2f}, network {network:.2f}, lost {lost:.2f}\n\n{table(heads, lines)}"

    def _compared(self) -> Iterator[Compared]:
        for row in self._rows:
            whole = Response.of(Claims(row.premise, (row.claim,), ClaimKind.SUMMARY))
            if isinstance(whole, Response):
                held = Held(whole, self._texts, self._references)
                if held.compared:
                    odds = self._network.log_odds([one.pair for one in held.compared])
                    yield Compared(row.source, row.label == ENTAILED, held, odds)


def _scale(found: Sequence[Compared]) -> tuple[float, float, float]:
    """Bias and weights of a logistic regression in which each outcome of each source counts the same."""
    keys = [(one.source, one.right) for one in found]
    counts = Counter(keys)
    weights = [len(keys) / len(counts) / counts[key] for key in keys]
    model = LogisticRegression(C=_REGULARISED).fit(
        [one.read for one in found], [one.right for one in found], sample_weight=weights
    )
    network, lost = map(float, model.coef_[0])
    return float(model.intercept_[0]), network, lost


def _measured(found: Sequence[Compared]) -> tuple[float, float, float, float]:
    """AUROC, balanced accuracy, the share decided and how much of that is right; each source counts the same.

    The claims of a source are judged with a scale that was fitted without them.
    """
    areas, accuracies, decided, good = [], [], 0.0, 0.0
    sources = sorted({one.source for one in found})
    for source in sources:
        bias, network, lost = _scale([one for one in found if one.source != source])
        own = [one for one in found if one.source == source]
        with patch.multiple(response, BIAS=bias, NETWORK=network, LOST=lost):
            judged = [one.held.judgements(one.odds)[0] for one in own]
        right = [one.right for one in own]
        weights = [0.5 / right.count(truth) / len(sources) for truth in right]
        fine = [one.supported == truth for one, truth in zip(judged, right, strict=True)]
        areas.append(float(roc_auc_score(right, [one.support for one in judged])))
        accuracies.append(sum(weight for weight, ok in zip(weights, fine, strict=True) if ok) * len(sources))
        for weight, ok, one in zip(weights, fine, judged, strict=True):
            decided += weight * (not one.unsure)
            good += weight * (ok and not one.unsure)
    return fmean(areas), fmean(accuracies), decided, good / decided


def _decided(answers: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """The share of everyday answers that is decided, and how much of it is right."""
    decided = [expected == outcome for expected, outcome in answers if outcome != "abstain"]
    return len(decided) / len(answers), fmean(decided)
