"""The rows that every form is asked about: our own everyday answers, and samples of public sets."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import datasets
from benchmarks.datasets import Example

DEVELOPED = Path(__file__).parents[1] / "judge" / "everyday.jsonl"
UNSEEN = Path(__file__).parent / "answers.jsonl"
RELATIONS = ("num_sub", "obj_sub", "verb_sub", "word_del", "word_swap", "err_translate", "err_nli")
SEED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An answer, the passages that it is compared with, and whether people would accept it."""

    id: str
    passages: str
    answer: str
    good: bool
    question: str | None = None
    kind: str = ""
    pair: bool = False
    """Both must mean the same; otherwise the passages must support the answer."""


def row_sets(data: Path | None, count: int) -> dict[str, list[Row]]:
    """The sets by name. Of each public one `count` rows at most, half of them good, always the same ones."""
    sets = {"everyday, 106 of 125": list(_ours(DEVELOPED)), "everyday, 60 unseen": list(_ours(UNSEEN))}
    if data is not None:
        sets |= {name: _drawn(rows, count) for name, rows in _public(data)}
    return sets


def _ours(path: Path) -> Iterator[Row]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row: dict[str, Any] = json.loads(line)
        if row["expected"] != "abstain":
            yield Row(
                id=f"{path.stem}-{number}",
                passages=row["reference"],
                question=row["prompt"],
                answer=row["response"],
                good=row["expected"] == "accept",
                kind=row["kind"],
            )


def _public(data: Path) -> Iterator[tuple[str, list[Row]]]:
    qags = [*datasets.qags(data, "xsum"), *datasets.qags(data, "cnndm")]
    yield "QAGS", _rows("qags", ((one, all(one.sentence_truth)) for one in qags))
    edited = datasets.summedits(data)
    yield "SummEdits", _rows("summedits", ((one, bool(one.truth["consistent"])) for one in edited))
    hard = datasets.faithbench(data)
    yield "FaithBench", _rows("faithbench", ((one, bool(one.truth["not Unwanted"])) for one in hard))
    same = datasets.paraphrases(data, "paws_wiki")
    yield "PAWS", _rows("paws", ((one, bool(one.truth["same"])) for one in same), pair=True)
    yield "MeTMaP", list(_triplets(data))


def _rows(name: str, examples: Iterable[tuple[Example, bool]], *, pair: bool = False) -> list[Row]:
    return [
        Row(id=f"{name}-{number}", passages=one.reference, answer=one.response, good=good, pair=pair)
        for number, (one, good) in enumerate(examples)
    ]


def _triplets(data: Path) -> Iterator[Row]:
    for relation in RELATIONS:
        for row in datasets.rows(data, "metmap", f"{relation}.jsonl"):
            for other in ("positive", "negative"):
                yield Row(
                    id=f"{row['id']}-{other}",
                    passages=row["base"],
                    answer=row[other],
                    good=other == "positive",
                    kind=relation,
                    pair=True,
                )


def _drawn(rows: list[Row], count: int) -> list[Row]:
    """As many good as bad ones, the same at every run."""
    shuffled = Random(SEED).sample(rows, len(rows))
    half = count // 2
    return [row for good in (True, False) for row in [one for one in shuffled if one.good is good][:half]]
