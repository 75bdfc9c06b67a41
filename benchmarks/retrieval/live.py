"""How the retrieval checker's live check tells minimal pairs apart.

Each triplet is two hits for the query `base`: one on its positive, one on its negative. A measure is right where the
positive has the higher score; ties are wrong. The vector match is the cosine of the sentence vectors of the model that
the local judge reads words with. A knowledge store needs the matched text to entail the query, a cache both ways; of
inference errors the positive is a context that says more than the query, so that a cache rightly rejects it too.

The judge's weights were set while looking at every other row, the even ones: only the odd ones are measured. Beside it,
how the same check does on paraphrase data that it was not made for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from benchmarks import datasets
from benchmarks.datasets import DataMissing, Example
from benchmarks.tables import table
from checkers.checker import Models
from checkers.retrieval.checker import RetrievalChecker
from checkers.retrieval.settings import RetrievalSettings
from lab.triplets import Triplet, read_triplets
from models.build import build_oracle
from models.local.encoder import bundled_model
from models.settings import JudgeSettings
from schemas import Retrieval, RetrievalEvidence, Verdict

AT_ONCE = 64
"""Records checked at the same time, as a worker does."""

SETS: tuple[datasets.ParaphraseSet, ...] = ("paws_wiki", "msrp_test_part")

Row = TypeVar("Row")
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores of pairs of a query and a text, one an entry; larger is closer."""

    vector: Scores
    knowledge: Scores
    cache: Scores

    def take(self, rows: npt.NDArray[np.int64]) -> Measured:
        """Those of some pairs."""
        return Measured(self.vector[rows], self.knowledge[rows], self.cache[rows])


class Bench:
    """The checker with the local judge, and the vector match, loaded once."""

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        self._encoder = SentenceTransformer(str(bundled_model()), device="cpu", local_files_only=True)
        self._judge = JudgeSettings.model_validate({"backend": "local", "local": {"threads": 2}})
        self.threshold = RetrievalSettings().threshold
        self.seconds = 0.0
        self.checked = 0

    def measure(self, pairs: Sequence[tuple[str, str]]) -> Measured:
        """Scores of (query, matched text)."""
        queries, texts = zip(*pairs, strict=True)
        ahead, behind = (
            self._encoder.encode(list(side), normalize_embeddings=True, show_progress_bar=False)
            for side in (queries, texts)
        )
        begun = time.perf_counter()
        found = asyncio.run(self._checked(pairs))
        self.seconds += time.perf_counter() - begun
        self.checked += len(pairs)
        knowledge, cache = (np.array(column, dtype=np.float64) for column in zip(*found, strict=True))
        return Measured((ahead * behind).sum(axis=1).astype(np.float64), knowledge, cache)

    async def _checked(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        oracle = build_oracle(self._judge)
        checker = RetrievalChecker(RetrievalSettings(), Models(judge=oracle))
        try:
            found: list[tuple[float, float]] = []
            for start in range(0, len(pairs), AT_ONCE):
                verdicts = await asyncio.gather(
                    *(checker.check(_record(*pair)) for pair in pairs[start : start + AT_ONCE])
                )
                found += [_scores(verdict) for verdict in verdicts]
            return found
        finally:
            await checker.close()
            await oracle.close()


def _record(query: str, text: str) -> Retrieval:
    """A cache hit, whose verdict has both directions: the one is what a knowledge store needs."""
    envelope = {"kind": "retrieval", "source": "benchmark", "model": "all-MiniLM-L6-v2", "store": "cache"}
    return Retrieval.model_validate({**envelope, "query": query, "matched": {"id": "m", "text": text, "score": 0.0}})


def _scores(verdict: Verdict) -> tuple[float, float]:
    """For a knowledge store and for a cache; 0 where the checker abstains, as nothing is said for the text then."""
    if not isinstance(verdict.evidence, RetrievalEvidence):
        return 0.0, 0.0
    matched = verdict.evidence.matched
    return matched.text_to_query.score, matched.score


def by_relation(relations: Sequence[str], positive: Measured, negative: Measured, threshold: float) -> str:
    """Accuracy of each measure, and what is rejected at the threshold, for each relation and on average over them."""
    rows: list[list[object]] = []
    names = np.array(relations)
    for relation in dict.fromkeys(relations):
        at = np.flatnonzero(names == relation)
        good, bad = positive.take(at), negative.take(at)
        rows.append(
            [
                relation,
                len(at),
                *(float((a > b).mean()) for a, b in _columns(good, bad)),
                *(float((scores < threshold).mean()) for a, b in list(_columns(good, bad))[1:] for scores in (a, b)),
            ]
        )
    rows.append(["average", len(names), *(fmean(float(str(row[k])) for row in rows) for k in range(2, 9))])
    header = ["relation", "triplets", "vector", "knowledge", "cache"]
    for store in ("knowledge", "cache"):
        header += [f"{store}: positives rejected", "negatives rejected"]
    return table(header, rows)


def _columns(good: Measured, bad: Measured) -> Sequence[tuple[Scores, Scores]]:
    return ((good.vector, bad.vector), (good.knowledge, bad.knowledge), (good.cache, bad.cache))


def strangers(examples: Sequence[Example], found: Measured) -> list[object]:
    """AUROC on pairs that people labelled as the same or not."""
    labels = [example.truth["same"] for example in examples]
    return [
        len(labels),
        *(float(roc_auc_score(labels, scores)) for scores in (found.vector, found.knowledge, found.cache)),
    ]


def print_live(data: Path, most: int | None) -> None:
    """Measure up to `most` odd rows of each file, and print."""
    bench = Bench()
    triplets = list(_triplets(data, most))
    positive = bench.measure([(one.base, one.positive) for one in triplets])
    negative = bench.measure([(one.base, one.negative) for one in triplets])
    relations = [one.relation for one in triplets]
    print(by_relation(relations, positive, negative, bench.threshold))
    print("\nParaphrase data: AUROC; and accuracy on triplets that embedding models were recorded to get wrong\n")
    rows: list[list[object]] = []
    for name in SETS:
        examples = _odd(datasets.paraphrases(data, name), most)
        found = bench.measure([(example.references[0], example.response) for example in examples])
        rows.append([name, *strangers(examples, found)])
    # Triplets of other relations than the paper's, which `read_triplets` would refuse.
    failures = _odd(list(datasets.rows(data, "paraphrase", "metmap_repro_failures.jsonl")), most)
    good, bad = (bench.measure([(row["base"], row[side]) for row in failures]) for side in ("positive", "negative"))
    rows.append(["metmap_repro_failures", len(failures), *(float((a > b).mean()) for a, b in _columns(good, bad))])
    print(table(["set", "rows", "vector", "knowledge", "cache"], rows))
    print(f"\n{bench.checked} hits checked in both directions in {bench.seconds:.0f} s")


def _triplets(data: Path, most: int | None) -> Iterator[Triplet]:
    files = sorted((data / "metmap").glob("*.jsonl"))
    if not files:
        raise DataMissing(f"{data / 'metmap'} holds no .jsonl file; --data names the folder that holds metmap/")
    for file in files:
        yield from _odd(list(read_triplets(file)), most)


def _odd(rows: Sequence[Row], most: int | None) -> Sequence[Row]:
    return rows[1::2][:most]
