"""Retrieval: MeTMaP's triplets, by the checker with the model, by one plain question, and by the bundled judge."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.asked import patient
from benchmarks.methods.model import asked
from benchmarks.retrieval.live import cache_hit, odd_triplets, scores_of
from benchmarks.tables import table
from checkers.checker import Models
from checkers.intervals import wilson
from checkers.retrieval.checker import ACCEPTED_FROM, RetrievalChecker, RetrievalSettings
from lab.audit.triplets import Triplet
from models.build import build_judge
from models.judges.prompted import PromptedJudge, Support
from models.protocol import Message, Model, Question, YesNo, odds_of
from models.settings import JudgeSettings

_RESAMPLES = 2000
_PLAIN = """Do these two texts say exactly the same?

First text: {}
Second text: {}

Answer with one word, yes or no."""
_HEADS = ["asked", "triplets", "choice", "95%", "AUROC", "95%", "same accepted", "others accepted"]

Score = Callable[[str, str], Awaitable[float]]


def measure(options: argparse.Namespace) -> None:
    """Print choices between positive and negative, and the AUROC of all of them."""
    by_relation = odd_triplets(options.data, None)
    drawn = [one for each in zip_longest(*by_relation) for one in each if one is not None][: options.rows]
    print(table(_HEADS, asyncio.run(_lines(options, drawn))))


async def _lines(options: argparse.Namespace, triplets: Sequence[Triplet]) -> list[list[object]]:
    lines = []
    bundled = build_judge(JudgeSettings())
    with asked(options) as models:
        assert isinstance(models.judge, PromptedJudge)  # noqa: S101 -- of this backend
        pinned = patient(options, form="short", threshold=0.0)
        ways: dict[str, Score] = {
            "retrieval checker": _checker(models),
            "the model itself": _checker(replace(models, judge=PromptedJudge(models.judge.model, pinned))),
            "one plain question": plain(models.subjects[options.model]),
            "bundled judge": _checker(Models(judge=bundled)),
        }
        for name, score in ways.items():
            found = np.array(
                [[await score(one.base, text) for text in (one.positive, one.negative)] for one in triplets]
            )
            lines.append([name, *_figures(found)])
    return lines


def _checker(models: Models) -> Score:
    checker = RetrievalChecker(RetrievalSettings(), models)

    async def score(query: str, text: str) -> float:
        return scores_of(await checker.check(cache_hit(query, text)))[1]

    return score


def plain(model: Model) -> Score:
    async def score(query: str, text: str) -> float:
        question = Question("plain", "1", (Message("user", _PLAIN.format(query, text)),), YesNo, max_tokens=4)
        return Support(odds_of(await model.ask(question))).judgement.support

    return score


def _figures(found: np.ndarray) -> list[object]:
    """Of scores (triplets, 2): a tie is no choice."""
    chosen, count = int((found[:, 0] > found[:, 1]).sum()), len(found)
    draws = np.random.default_rng(1).integers(count, size=(_RESAMPLES, count))
    low, high = np.quantile([_auroc(found[drawn]) for drawn in draws], (0.025, 0.975))
    accepted = (found >= ACCEPTED_FROM).mean(axis=0)
    within = "{:.2f} to {:.2f}".format
    return [
        count,
        chosen / count,
        within(*wilson(chosen, count)),
        _auroc(found),
        within(low, high),
        *map(float, accepted),
    ]


def _auroc(found: np.ndarray) -> float:
    return float(roc_auc_score(np.repeat([1, 0], len(found)), found.T.ravel()))
