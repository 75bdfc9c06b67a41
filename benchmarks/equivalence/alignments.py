"""Proofs of semantic equivalence on labelled paraphrase pairs: rates, questions, speed."""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from benchmarks import datasets
from benchmarks.tables import table
from checkers.checker import Undecidable
from checkers.equivalence.alignment import AlignedSentences, PhrasePair, align
from checkers.equivalence.parsers import Parser, build_parser
from checkers.equivalence.phrases import phrases
from checkers.equivalence.proof import Require, prove
from checkers.equivalence.questions import EquivalenceReply
from checkers.equivalence.settings import EquivalenceSettings
from checkers.equivalence.similarity import PhraseEncoder, similarities
from checkers.equivalence.trees import Node, Tree
from checkers.oracle.claims import Claims, in_sentences
from checkers.oracle.local import EmbeddingJudge, LocalSettings

Row = Sequence[object]
Pair = tuple[str, str]

SETS: tuple[datasets.ParaphraseSet, ...] = get_args(datasets.ParaphraseSet)
SPEED_SET: datasets.ParaphraseSet = "msrp_test_part"
RANDOM_PAIRS = 500
BATCH = 64
"""Sentences parsed at once, and phrases of one pass in the baseline."""

REQUIRED: tuple[Require, ...] = get_args(Require)
PAPER: dict[Require, Row] = {"or": [0.540, 0.259, 0.281], "and": [0.318, 0.097, 0.221]}
"""MSRP, 5,000 pairs, CoreNLP and BERT, GPT-3.5 answering: proofs of labelled yes and of labelled no, and the gap."""
PAPER_RANDOM: Row = ["0 of 500", 439]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence pair."""

    sentences: Pair
    same: bool | None
    """What people say; None for a pair put together at random."""


class Bench:
    """Judge and encoder, loaded once, and the replies so far."""

    def __init__(self, threads: int) -> None:
        self.judge = EmbeddingJudge(LocalSettings(threads=threads))
        self.encoder = PhraseEncoder()
        self._replies: dict[tuple[str, str, str], EquivalenceReply] = {}
        # The first use reads the weights, which is no part of what is measured.
        self.judge.load()
        self.encoder.encode([phrases(Tree("Rain falls.", ("Rain",), (0,), Node(0, 1, "NN")))])

    def aligned(self, trees: dict[str, Tree], pairs: Iterable[Pair]) -> list[AlignedSentences]:
        """The four alignments of each pair, every sentence encoded once."""
        normal = {sentence: phrases(tree) for sentence, tree in trees.items()}
        vectors = dict(zip(normal, self.encoder.encode([*normal.values()]), strict=True))
        return [align(normal[one], normal[other], similarities(vectors[one], vectors[other])) for one, other in pairs]

    def replies(self, pairs: Sequence[PhrasePair], around: str | None) -> list[EquivalenceReply]:
        """The local judge's replies about phrases, each asked once."""
        keys = [(pair.first, pair.second, around or "") for pair in pairs]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._replies]
        claims = [Claims(first, (second,), "phrase", around) for first, second, _ in fresh]
        for key, (grade,) in zip(fresh, self.judge.judge(claims), strict=True):
            self._replies[key] = EquivalenceReply(answer="yes" if grade.supported else "no", explanation=grade.reason)
        return [self._replies[key] for key in keys]

    async def proves(self, found: AlignedSentences, require: Require, *, alone: bool) -> tuple[bool, int]:
        """Whether phi holds, and the questions it took; `alone` keeps the sentences from the judge."""
        around = None if alone else in_sentences(*found.sentences)

        asked = 0

        async def ask(pairs: Sequence[PhrasePair]) -> list[EquivalenceReply]:
            nonlocal asked
            asked += len(pairs)
            return self.replies(pairs, around)

        return (await prove(found, ask, require)).found, asked


async def print_proofs(bench: Bench, options: argparse.Namespace) -> None:
    """Proof rates by set, parser and phi."""
    known = {name: labelled(options.data, name) for name in SETS}
    strangers = at_random([*known["msrp_train_sample"], *known["msrp_test_part"]])
    rows: list[Row] = []
    for parser in options.parsers:
        for name, every in [*known.items(), ("random pairs", strangers)]:
            examples, found = await aligned(bench, parser, options, drawn(every, options.pairs))
            for require in REQUIRED:
                for alone in (False, True):
                    proved = [await bench.proves(one, require, alone=alone) for one in found]
                    judged = "alone" if alone else "in their sentences"
                    rows.append([name, parser, f"phi_{require}", judged, *_rates(examples, proved)])
    for require, published in PAPER.items():
        rows.append(["MSRP (published)", "corenlp", f"phi_{require}", "alone", *published, None, None, None])
    rows.append(["random pairs (published)", "corenlp", "both", "alone", None, None, None, None, *PAPER_RANDOM])
    print("Proofs of labelled yes and labelled no\n")
    header = ["set", "trees", "proof", "phrases judged", "yes", "no", "gap", "± (95%)", "proved", "without a call"]
    print(table(header, rows))


async def print_speed(bench: Bench, options: argparse.Namespace) -> None:
    """Aligning with one pass a sentence against encoding each node's phrase on its own."""
    from sentence_transformers import SentenceTransformer

    from checkers.oracle.local.encoder import bundled_model

    pairs = [one.sentences for one in labelled(options.data, SPEED_SET)]
    trees = await parsed("embedded", options, pairs)
    begun = time.perf_counter()
    found = bench.aligned(trees, pairs)
    ours = time.perf_counter() - begun

    model = SentenceTransformer(str(bundled_model()), device="cpu", local_files_only=True)
    begun = time.perf_counter()
    normal = {sentence: phrases(tree) for sentence, tree in trees.items()}
    texts = [one.text(node) for one in normal.values() for node in range(len(one))]
    model.encode(texts, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
    theirs = time.perf_counter() - begun
    print(f"{len(found):,} pairs of {SPEED_SET}, trees ready\n")
    print(
        table(
            ["way", "seconds", "pairs a second"],
            [
                ["one pass a sentence, matching graph and alignments included", ours, len(found) / ours],
                [f"each of {len(texts):,} phrases encoded on its own, nothing else", theirs, len(found) / theirs],
            ],
        )
    )
    print(f"\n{theirs / ours:.1f} times faster")


async def print_questions(bench: Bench, options: argparse.Namespace) -> None:
    """Questions asked against asking every matched phrase pair."""
    rows: list[Row] = []
    for parser in options.parsers:
        for name in SETS:
            _, found = await aligned(bench, parser, options, drawn(labelled(options.data, name), options.pairs))
            every = sum(len(one.pairs) for each in found for one in each.alignments[::2])
            distinct = sum(len({frozenset((p.first, p.second)) for p in _all_pairs(each)}) for each in found)
            for require in REQUIRED:
                asked = [await bench.proves(each, require, alone=False) for each in found]
                differing = sum(
                    proved is not _holds(each, require, bench) for each, (proved, _) in zip(found, asked, strict=True)
                )
                questions = sum(count for _, count in asked)
                rows.append([name, parser, f"phi_{require}", questions, every, questions / every, distinct, differing])
    header = ["set", "trees", "proof", "asked", "all matched pairs", "share", "distinct pairs", "other verdicts"]
    print(table(header, rows))


def _holds(found: AlignedSentences, require: Require, bench: Bench) -> bool:
    """Phi, every matched pair of every alignment asked."""
    around = in_sentences(*found.sentences)
    sound = [
        one.covering and all(reply.answer == "yes" for reply in bench.replies(one.pairs, around))
        for one in found.alignments
    ]
    directions = [any(sound[:2]), any(sound[2:])]
    return all(directions) if require == "and" else any(directions)


def _all_pairs(found: AlignedSentences) -> list[PhrasePair]:
    return [pair for one in found.alignments[::2] for pair in one.pairs]


def labelled(data: Path, name: datasets.ParaphraseSet) -> list[Labelled]:
    """The pairs of a set."""
    return [
        Labelled((example.references[0], example.response), bool(example.truth["same"]))
        for example in datasets.paraphrases(data, name)
    ]


def drawn(examples: list[Labelled], pairs: int | None) -> list[Labelled]:
    """So many of them, the same in every run."""
    return examples if pairs is None or pairs >= len(examples) else random.Random(1).sample(examples, pairs)


def at_random(examples: Sequence[Labelled]) -> list[Labelled]:
    """Pairs of first sentences that have nothing to do with each other, the same in every run."""
    draw = random.Random("random pairs")
    first = list(dict.fromkeys(one.sentences[0] for one in examples))
    return [Labelled((one, other), None) for one, other in (draw.sample(first, 2) for _ in range(RANDOM_PAIRS))]


async def aligned(
    bench: Bench, parser: str, options: argparse.Namespace, examples: Sequence[Labelled]
) -> tuple[list[Labelled], list[AlignedSentences]]:
    """The pairs that have trees, and what is matched in each."""
    trees = await parsed(parser, options, [one.sentences for one in examples])
    kept = [one for one in examples if all(sentence in trees for sentence in one.sentences)]
    return kept, bench.aligned(trees, [one.sentences for one in kept])


async def parsed(parser: str, options: argparse.Namespace, pairs: Iterable[Pair]) -> dict[str, Tree]:
    """A tree for every sentence that has one."""
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair))
    address = {"corenlp_url": options.corenlp} if parser == "corenlp" else {}
    built = build_parser(EquivalenceSettings.model_validate({"parser": parser, **address}))
    try:
        trees: dict[str, Tree] = {}
        for start in range(0, len(sentences), BATCH):
            batch = sentences[start : start + BATCH]
            found = await asyncio.gather(*(_tree(built, sentence) for sentence in batch))
            trees |= {tree.sentence: tree for tree in found if tree is not None}
        return trees
    finally:
        await built.close()


async def _tree(parser: Parser, sentence: str) -> Tree | None:
    try:
        return await parser.parse(sentence)
    except Undecidable as error:
        print(f"left out: {error}", file=sys.stderr)
        return None


def _rates(examples: Sequence[Labelled], proved: Sequence[tuple[bool, int]]) -> Row:
    """Whether each is proved, and the questions that took."""
    said = {
        kind: [found for one, (found, _) in zip(examples, proved, strict=True) if one.same is kind]
        for kind in (True, False, None)
    }
    if said[None]:
        unasked = sum(not questions for _, questions in proved)
        return [None, None, None, None, f"{sum(said[None])} of {len(said[None])}", unasked]
    yes, no = (sum(said[kind]) / len(said[kind]) for kind in (True, False))
    spread = 1.96 * math.sqrt(yes * (1 - yes) / len(said[True]) + no * (1 - no) / len(said[False]))
    return [yes, no, yes - no, spread, None, None]
