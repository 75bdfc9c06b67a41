"""The embedded parser beside CoreNLP: `python -m benchmarks.parsers --data FOLDER`.

A phrase is a node of two words or more, punctuation and unary chains left out, without the whole sentence. CoreNLP is
started from Maven Central (extra `corenlp`) unless --corenlp names a server; with --trees its trees are kept in a file.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from assay.corenlp.serving import CoreNLPServer
from benchmarks import datasets
from benchmarks.datasets import DataMissing
from benchmarks.tables import table
from checkers.checker import Undecidable
from checkers.equivalence.parsers import Parser, ParserSettings
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.phrases import phrases
from checkers.equivalence.trees import Node, Tree, nodes
from streams.errors import StreamError
from tests.support.ports import free_port

SETS = {"MSRP": "msrp_train_sample.jsonl", "PAWS-Wiki": "paws_wiki.jsonl"}
SEED = 20261121

Spans = set[tuple[int, int]]


def sentences_of(data: Path, file: str, count: int) -> list[str]:
    """A sample of both columns, each sentence once."""
    rows = datasets.rows(data, "paraphrase", file)
    found = list(dict.fromkeys(sentence for row in rows for sentence in (row["sentence1"], row["sentence2"])))
    return random.Random(SEED).sample(found, min(count, len(found)))


def spans(tree: Tree) -> Spans:
    """The phrases of a tree, as characters of its sentence."""
    found = phrases(tree)
    return {found.span(node) for node in range(1, len(found)) if found.ends[node] > found.starts[node] + 1}


def right_branching(tree: Tree) -> Tree:
    """Over the same tokens the tree that every word begins a phrase of, up to the sentence's end."""
    leaves = [node for node in nodes(tree.root) if not node.children]
    top = leaves[-1]
    for leaf in reversed(leaves[:-1]):
        top = Node(leaf.start, len(leaves), "X", (leaf, top))
    return Tree(tree.sentence, tree.tokens, tree.starts, top)


async def parsed(parser: Parser, sentences: Sequence[str]) -> AsyncIterator[tuple[str, Tree]]:
    """Each sentence that has a tree."""
    for sentence in sentences:
        try:
            (tree,) = await parser.parse([sentence])
        except Undecidable as error:
            print(f"left out: {error}", file=sys.stderr)
        else:
            yield sentence, tree


def agreement(pairs: Sequence[tuple[Spans, Spans]]) -> list[object]:
    """Precision, recall and F1 of the second over all sentences."""
    same = sum(len(one & other) for one, other in pairs)
    wanted, found = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return [same / found, same / wanted, 2 * same / (wanted + found)]


async def run(data: Path, url: str, *, count: int, trees: Path | None) -> None:
    """Print agreement by set, and what a sentence takes."""
    corenlp = build_parser(ParserSettings(parser="corenlp", corenlp_url=url, tree_cache_file=trees))
    embedded = build_parser(ParserSettings(tree_cache_tokens=0))
    rows, seconds = [], {"corenlp": 0.0, "embedded": 0.0}
    total = 0
    for name, file in SETS.items():
        begun = time.perf_counter()
        gold = {sentence: tree async for sentence, tree in parsed(corenlp, sentences_of(data, file, count))}
        between = time.perf_counter()
        ours = {sentence: tree async for sentence, tree in parsed(embedded, list(gold))}
        seconds["corenlp"] += between - begun
        seconds["embedded"] += time.perf_counter() - between
        total += len(gold)
        wanted = {sentence: spans(tree) for sentence, tree in gold.items()}
        found = agreement([(wanted[sentence], spans(tree)) for sentence, tree in ours.items()])
        plain = agreement([(wanted[sentence], spans(right_branching(tree))) for sentence, tree in gold.items()])
        rows += [[name, len(gold), "embedded", *found], [name, len(gold), "right-branching", *plain]]
    print(table(["set", "sentences", "parser", "precision", "recall", "F1"], rows))
    kept = " (from the file, where it had them)" if trees is not None else ""
    speeds = {name: total / spent for name, spent in seconds.items()}
    print(f"\nSentences a second: embedded {speeds['embedded']:.0f}, CoreNLP {speeds['corenlp']:.1f}{kept}")
    await corenlp.close()
    await embedded.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """2 where data or CoreNLP cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parsers", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--sentences", type=int, default=300, help="of each set (default: %(default)s)")
    parser.add_argument("--corenlp", metavar="URL", help="a server that runs already (default: one is started)")
    parser.add_argument("--trees", type=Path, metavar="FILE", help="where CoreNLP's trees are kept between runs")
    options = parser.parse_args(arguments)
    if missing := [file for file in SETS.values() if not (options.data / "paraphrase" / file).is_file()]:
        parser.error(f"--data {options.data}: there is no paraphrase/{missing[0]}")
    with ExitStack() as stack:
        try:
            url = options.corenlp
            if url is None:
                scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-corenlp-")))
                url = stack.enter_context(CoreNLPServer(scratch, port=free_port())).url
            asyncio.run(run(options.data, url, count=options.sentences, trees=options.trees))
        except (DataMissing, StreamError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
