"""The equivalence checker beside the oracle-checker paper.

    python -m benchmarks.equivalence --data FOLDER [--only PART,PART] [--parsers embedded]

`proofs`: proof rates on labelled paraphrase pairs under both matchings: the local judge answering the phrase questions,
in the sentences that they stand in and alone, and a subject that says yes to everything. `paper`: the sentences of the
paper's tables 12 to 15, its outcomes beside ours; needs no data. `identical`: sentences of real prose beside
themselves. `questions`: questions asked for a proof, and against asking about every pair. `speed`: aligning, against
encoding each phrase on its own. `parsers`: phrases of the embedded parser that CoreNLP finds too. `no`: simulated
subjects under the test of a no; needs no data.

CoreNLP's server is started from Maven Central (extra `corenlp`) unless --corenlp names one.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.datasets import DataMissing
from benchmarks.equivalence.agreement import print_agreement
from benchmarks.equivalence.alignments import Bench, print_proofs, print_questions, print_speed
from benchmarks.equivalence.identical import print_identical
from benchmarks.equivalence.paper import print_paper
from benchmarks.equivalence.simulated import print_simulated
from benchmarks.running import CannotRun, Part, run_parts
from checkers.equivalence.corenlp.server import CoreNLPMissing, CoreNLPServer, ServerFailed
from models.local import ModelUnusable
from models.protocol import OracleError
from tests.support.ports import free_port

_until_the_end = ExitStack()


@cache
def _corenlp() -> str:
    """The address of a server that runs until all parts are done."""
    folder = Path(_until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="assay-corenlp-")))
    return _until_the_end.enter_context(CoreNLPServer(folder, port=free_port())).url


@cache
def _bench(threads: int) -> Bench:
    bench = Bench(threads)
    print(f"judge: {bench.judge.name}")
    return bench


def _part(
    run: Callable[[argparse.Namespace], Coroutine[Any, Any, None]], *, parses: bool = True, needs_data: bool = True
) -> Part:
    def reported(options: argparse.Namespace) -> None:
        try:
            if parses and "corenlp" in options.parsers and options.corenlp is None:
                options.corenlp = _corenlp()
            asyncio.run(run(options))
        except (DataMissing, ModelUnusable, OracleError, CoreNLPMissing, ServerFailed) as error:
            raise CannotRun(str(error)) from error

    return Part(reported, needs_data=needs_data)


PARTS = {
    "proofs": _part(lambda options: print_proofs(_bench(options.threads), options)),
    "paper": _part(lambda options: print_paper(_bench(options.threads), options), needs_data=False),
    "identical": Part(lambda options: print_identical(options.data), needs_data=True),
    "questions": _part(lambda options: print_questions(_bench(options.threads), options)),
    "speed": _part(lambda options: print_speed(_bench(options.threads), options), parses=False),
    "parsers": _part(print_agreement),
    "no": Part(lambda options: print_simulated(options.runs, options.tests)),
}


def _parsers(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := sorted({*names} - {"corenlp", "embedded"}):
        raise argparse.ArgumentTypeError(f"unknown parser {', '.join(unknown)}; there are corenlp, embedded")
    return names


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parsers", type=_parsers, default=["corenlp", "embedded"], help="by comma (default: both)")
    parser.add_argument("--pairs", type=int, help="for proofs and questions: of each set at most, drawn (default: all)")
    parser.add_argument("--corenlp", metavar="URL", help="a server that runs already (default: one is started)")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=300, help="for parsers: of each set (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=10_000, help="for no: records a subject (default: %(default)s)")
    parser.add_argument("--tests", type=int, default=5, help="for no: tests a record (default: %(default)s)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    with _until_the_end:
        return run_parts("equivalence", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
