"""Negatives by rule from other people's sentences: how often each rule finds a place, and a sample for a reader."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from benchmarks.datasets import DataMissing, rows
from benchmarks.tables import table
from lab.edits.rules import RULES, by_rule

_FILES = ("metmap/*.jsonl", "paraphrase/msrp_*.jsonl", "paraphrase/paws_wiki.jsonl")
_MOST_TEXTS = 1500
_SAMPLE = 10


def print_synthetic(data: Path, seed: int) -> None:
    """Print the table, and a sample of each relation for a reader to judge the grammar."""
    texts = sorted(set(_texts(data)))
    if not texts:
        raise DataMissing(f"{data} holds none of {', '.join(_FILES)}")
    random = Random(seed)
    random.shuffle(texts)
    texts = texts[:_MOST_TEXTS]
    made = {
        relation: [(text, found) for text in texts if (found := by_rule(text, relation, random)) is not None]
        for relation in RULES
    }
    lines = [[relation, len(pairs), len(pairs) / len(texts)] for relation, pairs in made.items()]
    print(table(["relation", "negatives", "of all texts"], lines))
    print("\nA sample; [before => after]:\n")
    for relation, pairs in made.items():
        for text, negative in random.sample(pairs, min(_SAMPLE, len(pairs))):
            print(f"- {relation}: {_marked(text.split(), negative.split())}")


def _texts(data: Path) -> Iterator[str]:
    for pattern in _FILES:
        for path in sorted(data.glob(pattern)):
            for row in rows(data, *path.relative_to(data).parts):
                yield row["base"] if "base" in row else row["sentence1"]


def _marked(before: list[str], after: list[str]) -> str:
    parts = []
    for step, i, j, k, m in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        same, new = " ".join(before[i:j]), " ".join(after[k:m])
        parts.append(same if step == "equal" else f"[{same} => {new}]")
    return " ".join(parts)
