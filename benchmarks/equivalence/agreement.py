"""Phrases of the embedded parser beside CoreNLP's.

A phrase is a node of two words or more, punctuation and unary chains left out, without the whole sentence.
"""

from __future__ import annotations

import argparse
import random
import time

from benchmarks import datasets
from benchmarks.equivalence.alignments import parsed
from benchmarks.running import CannotRun
from benchmarks.tables import table
from checkers.equivalence.phrases import phrases
from checkers.equivalence.trees import Tree

SETS = {"MSRP": "msrp_train_sample.jsonl", "PAWS-Wiki": "paws_wiki.jsonl"}
SEED = 20261121


async def print_agreement(options: argparse.Namespace) -> None:
    """Precision, recall and F1 of node spans by set, and sentences a second."""
    if options.corenlp is None:
        raise CannotRun("--corenlp is missing: the address of a server to compare with")
    rows: list[list[object]] = []
    seconds = {"corenlp": 0.0, "embedded": 0.0}
    total = 0
    for name, file in SETS.items():
        records = datasets.rows(options.data, "paraphrase", file)
        known = list(dict.fromkeys(sentence for row in records for sentence in (row["sentence1"], row["sentence2"])))
        sample = random.Random(SEED).sample(known, min(options.sentences, len(known)))
        trees = {}
        for parser in seconds:
            begun = time.perf_counter()
            trees[parser] = await parsed(parser, options, [(sentence, sentence) for sentence in sample])
            seconds[parser] += time.perf_counter() - begun
        both = [(_spans(tree), _spans(trees["embedded"][one])) for one, tree in trees["corenlp"].items()]
        same = sum(len(one & other) for one, other in both)
        wanted, found = (sum(len(spans[side]) for spans in both) for side in (0, 1))
        rows.append([name, len(both), same / found, same / wanted, 2 * same / (wanted + found)])
        total += len(both)
    print(table(["set", "sentences", "precision", "recall", "F1"], rows))
    print("\nSentences a second: " + ", ".join(f"{name} {total / spent:.1f}" for name, spent in seconds.items()))


def _spans(tree: Tree) -> set[tuple[int, int]]:
    """The phrases of a tree, as characters of its sentence."""
    found = phrases(tree)
    return {found.span(node) for node in range(1, len(found)) if found.ends[node] > found.starts[node] + 1}
