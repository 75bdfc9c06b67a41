"""Vector stores on MeTMaP's triplets, one fresh collection of two candidates a case, k = 1.

The vectors are those of the bundled model, compared by cosine; PostgreSQL with pgvector is a real one on loopback. Of
two vectors each store should find the nearest, but for rounding.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from assay.cli.common import CannotRun
from benchmarks.tables import table
from lab.audit.cases import Figure, Kind, Triplet, all_cases, read_triplets
from lab.audit.embedding import BUNDLED, Encodings, SentenceTransformerModel, encoded
from lab.audit.measuring import embedding_figures, store_figures
from lab.audit.stores import open_store
from tests.support.postgres import running_postgres

FILES = ("word_swap", "obj_sub", "verb_sub", "word_del", "num_sub", "err_translate", "err_nli")

PAPER = {"chroma": "0.703 -> 0.238"}
"""Mean accuracy without the relations, and under them."""

STORES = ("chroma", "faiss", "pgvector")

KINDS: tuple[Kind, ...] = ("triplet", "control")

_MOST = 5000
_TOLERATED = 0.005


def read(data: Path, limit: int) -> dict[str, list[Triplet]]:
    """The first `limit` triplets of each relation, without the unrelated text: the control is the paper's."""
    groups: dict[str, list[Triplet]] = {}
    for name in FILES:
        for triplet in read_triplets(data / "metmap" / f"{name}.jsonl"):
            group = groups.setdefault(triplet.relation, [])
            if len(group) < limit:
                group.append(replace(triplet, unrelated=None))
    return groups


def asked(url: str, encodings: Encodings, groups: Mapping[str, Sequence[Triplet]]) -> tuple[list[Figure], float]:
    """The figures of a store, and the seconds that a case took."""
    dimension = encodings.vectors.shape[1]
    with open_store(url, metric="cosine", dimension=dimension) as nearest:
        started = time.perf_counter()
        found = list(store_figures(url, nearest, "cosine", encodings, groups))
        return found, (time.perf_counter() - started) / len(all_cases(groups))


def mean(found: Sequence[Figure], kind: Kind) -> float:
    """The mean of the relations, each with the same weight."""
    return fmean(figure.accuracy(kind) or 0.0 for figure in found)


def report(exact: list[Figure], stores: Mapping[str, tuple[list[Figure], float]]) -> None:
    """Print accuracy by relation, then means and times."""
    by_relation = []
    for place, figure in enumerate(exact):
        others = [found[place].accuracy() for found, _ in stores.values()]
        cases = figure.counts["triplet"].cases
        by_relation.append([figure.relation, cases, figure.accuracy(), *others, figure.accuracy("control")])
    print(table(["relation", "cases", "arrays", *stores, "control (arrays)"], by_relation))
    print()
    lines = [["arrays", mean(exact, "control"), mean(exact, "triplet"), None, None, None]]
    for name, (found, seconds) in stores.items():
        paper = PAPER.get(name)
        took = f"{seconds * 1000:.2f}", f"{seconds * 5000:.1f}"
        lines.append([name, mean(found, "control"), mean(found, "triplet"), paper, *took])
    header = ["store", "control", "under the relations", "paper: control -> relations", "ms a case", "s for 5,000"]
    print(table(header, lines))


def print_stores(data: Path, rows: int | None, names: Sequence[str] | None) -> bool:
    """Ask every store, or those named; False if one is too far from plain arrays."""
    groups = read(data, rows or _MOST)
    encodings = encoded(SentenceTransformerModel(BUNDLED), {text for case in all_cases(groups) for text in case})
    exact = list(embedding_figures("arrays", encodings, groups, ["cosine"]))
    stores: dict[str, tuple[list[Figure], float]] = {}
    with running_postgres() as postgres, postgres.database("audit") as database:
        for name in names or STORES:
            try:
                stores[name] = asked(database if name == "pgvector" else name, encodings, groups)
            except CannotRun as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
    report(exact, stores)
    differences = [
        abs((one.accuracy(kind) or 0.0) - (other.accuracy(kind) or 0.0))
        for found, _ in stores.values()
        for one, other in zip(exact, found, strict=True)
        for kind in KINDS
    ]
    furthest = max(differences, default=0.0)
    print(f"\nfurthest from the arrays, by relation and store: {furthest * 100:.2f} points")
    return furthest <= _TOLERATED
