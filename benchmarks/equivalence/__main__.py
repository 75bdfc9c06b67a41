"""The equivalence checker beside the oracle-checker paper.

    python -m benchmarks.equivalence --data FOLDER [--only PART,PART] [--corenlp URL]

`proofs`: proof rates on labelled paraphrase pairs: the local judge answering the phrase questions, in the sentences
that they stand in and alone, and a subject that says yes to everything. `paper`: the sentences of the paper's tables 12
to 15, its outcomes beside ours; needs no data. `questions`: questions asked for a proof, and against asking about every
pair. `parsers`: phrases of the embedded parser that CoreNLP finds too. `no`: simulated subjects under the test of a no;
needs no data.

With --corenlp, the address of a server of yours, CoreNLP's trees stand beside the embedded parser's (docs/parsers.md).
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from typing import Any

from benchmarks.datasets import DataMissing
from benchmarks.equivalence.agreement import print_agreement
from benchmarks.equivalence.alignments import Bench, print_proofs, print_questions
from benchmarks.equivalence.paper import print_paper
from benchmarks.equivalence.simulated import print_simulated
from benchmarks.running import CannotRun, Part, run_parts
from models.local import ModelUnusable
from models.protocol import ModelError


@cache
def _bench() -> Bench:
    bench = Bench()
    print(f"judge: {bench.judge.name}")
    return bench


def _part(run: Callable[[argparse.Namespace], Coroutine[Any, Any, None]], *, needs_data: bool = True) -> Part:
    def reported(options: argparse.Namespace) -> None:
        options.parsers = ["embedded"] if options.corenlp is None else ["corenlp", "embedded"]
        try:
            asyncio.run(run(options))
        except (DataMissing, ModelUnusable, ModelError) as error:
            raise CannotRun(str(error)) from error

    return Part(reported, needs_data=needs_data)


PARTS = {
    "proofs": _part(lambda options: print_proofs(_bench(), options)),
    "paper": _part(lambda options: print_paper(_bench(), options), needs_data=False),
    "questions": _part(lambda options: print_questions(_bench(), options)),
    "parsers": _part(print_agreement),
    "no": Part(lambda options: print_simulated(options.runs)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, help="for proofs and questions: of each set at most, drawn (default: all)")
    parser.add_argument("--corenlp", metavar="URL", help="a server of yours (default: the embedded parser alone)")
    parser.add_argument("--sentences", type=int, default=300, help="for parsers: of each set (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=10_000, help="for no: records a subject (default: %(default)s)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("equivalence", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
