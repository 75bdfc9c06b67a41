"""Negatives by rule from other people's sentences: which get back the tag that they were made with.

Takes bases and first sentences of the paraphrase data, makes one negative a text and relation where the rules find a
place, counts what the tagging calls each before any is dropped, and prints a sample for a reader to judge the grammar.
"""

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from benchmarks.datasets import DataMissing, rows
from checkers.retrieval.relations import Relation
from checkers.retrieval.tagging import tag
from lab.edits.maker import RULES, first_change

_FILES = ("metmap/*.jsonl", "paraphrase/msrp_*.jsonl", "paraphrase/paws_wiki.jsonl")
_MOST_TEXTS = 1500
_SAMPLE = 100


def print_synthetic(data: Path, seed: int) -> None:
    """Print the table and the sample."""
    texts = sorted(set(_texts(data)))
    if not texts:
        raise DataMissing(f"{data} holds none of {', '.join(_FILES)}")
    Random(seed).shuffle(texts)
    texts = texts[:_MOST_TEXTS]
    made = {relation: list(_made(texts, relation, seed)) for relation in RULES}

    print(f"{len(texts)} texts; the first negative that each rule makes, before the tagging drops any\n")
    print("| relation | negatives | of 100 texts | get their tag back |")
    print("|---|---|---|---|")
    for relation, negatives in made.items():
        print(_row(relation, [(relation, *pair) for pair in negatives], len(texts)))
    print(
        _row("all", [(relation, *pair) for relation, pairs in made.items() for pair in pairs], len(texts) * len(RULES))
    )
    _print_sample(made, _SAMPLE, Random(seed + 1))


def _texts(data: Path) -> Iterator[str]:
    for pattern in _FILES:
        for path in sorted(data.glob(pattern)):
            for row in rows(data, *path.relative_to(data).parts):
                yield row["base"] if "base" in row else row["sentence1"]


def _made(texts: list[str], relation: Relation, seed: int) -> Iterator[tuple[str, str]]:
    for text in texts:
        negative = first_change(text, relation, seed)
        if negative is not None:
            yield text, negative


def _row(name: str, negatives: list[tuple[Relation, str, str]], chances: int) -> str:
    tags = Counter(tag(text, negative).relation == relation for relation, text, negative in negatives)
    right = f"{tags[True] / len(negatives):.1%}" if negatives else "none made"
    return f"| {name} | {len(negatives)} | {len(negatives) / chances:.0%} | {right} |"


def _print_sample(made: dict[Relation, list[tuple[str, str]]], size: int, random: Random) -> None:
    print("\nA sample; [before => after]:\n")
    share, rest = divmod(size, len(made))
    number = 0
    for place, (relation, negatives) in enumerate(made.items()):
        good = [(text, negative) for text, negative in negatives if tag(text, negative).relation == relation]
        for text, negative in random.sample(good, min(share + (place < rest), len(good))):
            number += 1
            print(f"{number}. {relation}: {_marked(text.split(), negative.split())}")


def _marked(before: list[str], after: list[str]) -> str:
    parts = []
    for step, i, j, k, m in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        same, new = " ".join(before[i:j]), " ".join(after[k:m])
        parts.append(same if step == "equal" else f"[{same} => {new}]")
    return " ".join(parts)
