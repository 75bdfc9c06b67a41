"""The equivalence checker next to the oracle-checker paper.

    python -m benchmarks.equivalence --data FOLDER

`proofs`: proof rates on labelled paraphrase pairs: the local judge answering the phrase questions, in the sentences
that they stand in and alone, and a subject that says yes to everything.
"""

import argparse
import asyncio
import math
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from benchmarks import datasets
from benchmarks.running import Part, run_parts
from benchmarks.tables import table
from checkers.equivalence.alignment import Alignments, align
from checkers.equivalence.proof import Require, prove
from checkers.equivalence.questions import EquivalenceReply
from checkers.equivalence.similarity import encoded, similarities
from checkers.equivalence.trees import Tree, parse
from models.local.judge import BundledJudge
from models.local_grader import decided
from models.protocol import ClaimKind, Claims
from schemas.equivalence import AlignedPhrases

Row = Sequence[object]
Pair = tuple[str, str]

SETS: tuple[datasets.ParaphraseSet, ...] = ("msrp_test_part", "paws_wiki")


@dataclass(frozen=True, slots=True)
class Labelled:
    sentences: Pair
    same: bool
    """The label that people give."""


class Bench:
    """Judge and encoder, loaded once, and the replies so far."""

    def __init__(self) -> None:
        self.judge = BundledJudge()
        self._replies: dict[tuple[str, str, tuple[str, str] | None], EquivalenceReply] = {}
        # The first use reads the weights, which is no part of what is measured.
        self.judge.load()
        encoded([parse("Rain falls.")])

    def aligned(self, trees: dict[str, Tree], pairs: Iterable[Pair]) -> list[Alignments]:
        """The four alignments of each pair, every sentence encoded once."""
        vectors = dict(zip(trees, encoded([*trees.values()]), strict=True))
        return [align(trees[one], trees[other], similarities(vectors[one], vectors[other])) for one, other in pairs]

    def replies(self, pairs: Sequence[AlignedPhrases], around: tuple[str, str] | None) -> list[EquivalenceReply]:
        """The local judge's replies about phrases, each asked once."""
        keys = [(pair.first, pair.second, around) for pair in pairs]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._replies]
        claims = [Claims(first, (second,), ClaimKind.PHRASE, around=around) for first, second, _ in fresh]
        for key, (grade,) in zip(fresh, map(decided, self.judge.judge(claims)), strict=True):
            self._replies[key] = EquivalenceReply(answer="yes" if grade.supported else "no", explanation=grade.reason)
        return [self._replies[key] for key in keys]

    async def proves(self, found: Alignments, require: Require, around: Pair | None) -> bool:
        """Whether phi is proved by a judge that is shown the sentences `around`, or none."""

        async def ask(pairs: Sequence[AlignedPhrases]) -> list[EquivalenceReply]:
            return self.replies(pairs, around)

        return (await prove(found, ask, require)).found


async def print_proofs(options: argparse.Namespace) -> None:
    """Proof rates by set and phi, of the local judge and of a subject that says yes to everything."""
    bench = Bench()
    print(f"judge: {bench.judge.name}")
    rates: list[Row] = []
    for name in SETS:
        examples = drawn(labelled(options.data, name), options.pairs)
        found = bench.aligned(trees_of(examples), [one.sentences for one in examples])
        for require in get_args(Require):
            by_all = [(await prove(one, all_yes, require)).found for one in found]
            for alone in (False, True):
                around = [None if alone else one.sentences for one in examples]
                proved = [await bench.proves(one, require, shown) for one, shown in zip(found, around, strict=True)]
                row = [name, f"phi_{require}", "alone" if alone else "in their sentences"]
                rates.append([*row, *_rates(examples, proved), *_rates(examples, by_all)[:2]])
    columns = ["set", "proof", "phrases judged", "yes", "no", "gap", "± (95%)"]
    print(table([*columns, "yes, if all is answered yes", "no, if all is answered yes"], rates))


def labelled(data: Path, name: datasets.ParaphraseSet) -> list[Labelled]:
    """The pairs of a set."""
    return [
        Labelled((example.reference, example.response), bool(example.truth["same"]))
        for example in datasets.paraphrases(data, name)
    ]


def drawn(examples: list[Labelled], pairs: int | None) -> list[Labelled]:
    """So many of them, the same in every run."""
    return examples if pairs is None or pairs >= len(examples) else random.Random(1).sample(examples, pairs)


async def all_yes(pairs: Sequence[AlignedPhrases]) -> list[EquivalenceReply]:
    """The replies of a subject that says yes to everything: what it proves is what is covered."""
    return [EquivalenceReply(answer="yes", explanation="") for _ in pairs]


def trees_of(examples: Sequence[Labelled]) -> dict[str, Tree]:
    """The trees by sentence."""
    return {sentence: parse(sentence) for one in examples for sentence in one.sentences}


def _rates(examples: Sequence[Labelled], proved: Sequence[bool]) -> Row:
    """The shares that are proved of labelled yes and of labelled no, their gap, and its 95% interval."""
    of_yes, of_no = (
        [found for one, found in zip(examples, proved, strict=True) if one.same is kind] for kind in (True, False)
    )
    yes, no = sum(of_yes) / len(of_yes), sum(of_no) / len(of_no)
    spread = 1.96 * math.sqrt(yes * (1 - yes) / len(of_yes) + no * (1 - no) / len(of_no))
    return [yes, no, yes - no, spread]


PARTS = {"proofs": Part(lambda options: asyncio.run(print_proofs(options)), needs_data=True)}


if __name__ == "__main__":
    sys.exit(run_parts("equivalence", PARTS, __doc__, {"--pairs": (int, "of each set at most, drawn (default: all)")}))
