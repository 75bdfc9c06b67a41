"""The very sentences of the paper's tables 12 to 15 beside the paper's outcomes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.equivalence.alignments import REQUIRED, Bench, all_yes, parsed
from benchmarks.tables import table
from checkers.equivalence.aligned import AlignedSentences
from checkers.equivalence.proof import prove
from tests.support.oracle_checker_cases import NOES, YESES

Row = Sequence[object]


async def print_paper(bench: Bench, options: argparse.Namespace) -> None:
    """Print the sentences, and by trees which are proved, and the words that are left over."""
    for case in YESES:
        print(f"- {case.name}: “{case.first}” / “{case.second}”")
    for no in NOES:
        print(f"- {no.name}: “{no.first}” / “{no.second}” / paraphrase of the first: “{no.paraphrase}”")
    pairs = [(case.first, case.second) for case in YESES] + [(no.paraphrase, no.second) for no in NOES]
    for parser in options.parsers:
        trees = await parsed(parser, options, pairs)
        print(f"\nTrees: {parser}\n")
        rows: list[list[object]] = [
            [case.name, _paper(case.proved), " / ".join(filter(None, case.left_over)) or None] for case in YESES
        ]
        rows += [[no.name, _paper(no.indifferentiable), None] for no in NOES]
        found = bench.aligned(trees, pairs)
        by_all = [await _proved(bench, one, judged=False) for one in found]
        by_judge = [await _proved(bench, one, judged=True) for one in found]
        for row, one, every, judged in zip(rows, found, by_all, by_judge, strict=True):
            row += [every or "-", judged or "-", None if every else _left_over(one)]
        expected = [case.proved for case in YESES] + [no.indifferentiable for no in NOES]
        print(
            table(["case", "paper", "paper leaves over", "yes to everything", "local judge", "ours leaves over"], rows)
        )
        print()
        agreed: list[Row] = [
            [who, *_agreement(expected, outcomes)]
            for who, outcomes in (("yes to everything", by_all), ("local judge", by_judge))
        ]
        print(table(["answers", "tables 12 to 14 as the paper, by `or`", "table 15"], agreed))


def _paper(holds: bool) -> str:
    return "aligned" if holds else "-"


async def _proved(bench: Bench, found: AlignedSentences, *, judged: bool) -> str:
    holding = [
        require
        for require in REQUIRED
        if (
            (await bench.proves(found, require, alone=False)).found
            if judged
            else (await prove(found, all_yes, require)).found
        )
    ]
    return ", ".join(holding)


def _left_over(found: AlignedSentences) -> str:
    """The words of each sentence that are left over in the best case."""
    sides = []
    for side in (1, 2):
        fewest = min((one.uncovered for one in found.alignments if one.covers == side), key=len)
        sides.append(" ".join(found.sentences[side - 1][start:end] for start, end in fewest))
    return " / ".join(sides)


def _agreement(expected: Sequence[bool], outcomes: Sequence[str]) -> Row:
    same = [bool(outcome) is one for one, outcome in zip(expected, outcomes, strict=True)]
    yeses, noes = same[: len(YESES)], same[len(YESES) :]
    return [f"{sum(yeses)} of {len(yeses)}", f"{sum(noes)} of {len(noes)}"]
