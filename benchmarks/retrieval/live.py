"""The retrieval checker's live check on minimal pairs.

Each triplet is two hits for the query `base`: one on its positive, one on its negative. A measure is right where the
positive has the higher score; ties are wrong. The vector match is the cosine of the sentence vectors of the model that
the local judge reads words with. A knowledge store needs the matched text to entail the query, a cache both ways; of
inference errors the positive is a context that says more than the query, so that a cache rightly rejects it too.

Only the odd rows are measured; judges were made while looking at the even ones.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt

from benchmarks.datasets import DataMissing
from benchmarks.tables import table
from checkers.checker import Models
from checkers.retrieval.checker import ACCEPTED_FROM, RetrievalChecker, RetrievalSettings
from lab.audit.triplets import Triplet, read_triplets
from models.build import build_judge
from models.local.encoder import bundled_model
from models.model_loading import sentence_transformer
from models.settings import JudgeSettings
from schemas import Retrieval, RetrievalEvidence, Verdict

AT_ONCE = 64
"""Records checked at the same time, as a worker does."""

Scores = npt.NDArray[np.float64]
"""Scores of pairs of a query and a text (measures, pairs): vector, knowledge store, cache; larger is closer."""


def measured(pairs: Sequence[tuple[str, str]]) -> Scores:
    """Scores of (query, matched text)."""
    return np.array([cosines(pairs), *zip(*asyncio.run(_checked(pairs)), strict=True)], dtype=np.float64)


def cosines(pairs: Sequence[tuple[str, str]]) -> Scores:
    """By the model that the local judge reads words with."""
    encoder = sentence_transformer(str(bundled_model()), local_files_only=True)
    ahead, behind = (
        encoder.encode(list(side), normalize_embeddings=True, show_progress_bar=False)
        for side in zip(*pairs, strict=True)
    )
    found: Scores = (ahead * behind).sum(axis=1).astype(np.float64)
    return found


async def _checked(pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    oracle = build_judge(JudgeSettings.model_validate({"backend": "local"}))
    checker = RetrievalChecker(RetrievalSettings(), Models(judge=oracle))
    try:
        found: list[tuple[float, float]] = []
        for start in range(0, len(pairs), AT_ONCE):
            checks = (checker.check(cache_hit(*pair)) for pair in pairs[start : start + AT_ONCE])
            found += [scores_of(verdict) for verdict in await asyncio.gather(*checks)]
        return found
    finally:
        await checker.close()
        await oracle.close()


def cache_hit(query: str, text: str) -> Retrieval:
    """A cache hit, whose verdict has both directions: the one is what a knowledge store needs."""
    envelope = {"kind": "retrieval", "source": "benchmark", "model": "all-MiniLM-L6-v2", "store": "cache"}
    return Retrieval.model_validate({**envelope, "query": query, "matched": {"id": "m", "text": text, "score": 0.0}})


def scores_of(verdict: Verdict) -> tuple[float, float]:
    """For a knowledge store and for a cache; 0 where the checker abstains, as nothing is said for the text then."""
    if not isinstance(verdict.evidence, RetrievalEvidence):
        return 0.0, 0.0
    matched = verdict.evidence.matched
    return matched.text_to_query.score, matched.score


def by_relation(relations: Sequence[str], positive: Scores, negative: Scores, threshold: float) -> str:
    """Accuracy of each measure, and what is rejected at the threshold, for each relation and on average over them."""
    lines: list[list[object]] = []
    for relation in dict.fromkeys(relations):
        at = np.array(relations) == relation
        good, bad = positive[:, at], negative[:, at]
        rejected = [float((scores[row] < threshold).mean()) for row in (1, 2) for scores in (good, bad)]
        lines.append([relation, int(at.sum()), *(good > bad).mean(axis=1).tolist(), *rejected])
    means = [fmean(float(str(line[k])) for line in lines) for k in range(2, 9)]
    header = ["relation", "triplets", "vector", "knowledge", "cache"]
    for store in ("knowledge", "cache"):
        header += [f"{store}: positives rejected", "negatives rejected"]
    return table(header, [*lines, ["average", len(relations), *means]])


def print_live(data: Path, most: int | None) -> None:
    """Measure up to `most` odd rows of each file, and print."""
    triplets = [one for rows in odd_triplets(data, most) for one in rows]
    positive = measured([(one.base, one.positive) for one in triplets])
    negative = measured([(one.base, one.negative) for one in triplets])
    print(by_relation([one.relation for one in triplets], positive, negative, ACCEPTED_FROM))


def odd_triplets(data: Path, most: int | None) -> Iterator[Sequence[Triplet]]:
    """Up to `most` odd rows of each of MeTMaP's files."""
    files = sorted((data / "metmap").glob("*.jsonl"))
    if not files:
        raise DataMissing(f"{data / 'metmap'} holds no .jsonl file; --data names the folder that holds metmap/")
    for file in files:
        yield list(read_triplets(file))[1::2][:most]
