"""The extraction checker's parts.

    python -m benchmarks.extraction --data FOLDER [--only PART,PART] [--runs 10000] [--corenlp URL]

`simulated`: extractors that are linear, at a known distance from it, or noisy in a known way: how often each is
accepted and rejected, beside the bounds of theorems 3.1 and 3.2, and the calls of the full and the sequential schedule;
needs no data.
`recogniser`: Stanford CoreNLP's recogniser of named entities on sentences of Re-DocRED, with names from the traffic and
with invented ones: share accepted, recall of accepted and rejected sentences, and the paper's correlations with noise
around it. It asks a running server, `--corenlp URL`.
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.extraction.recogniser import print_recogniser
from benchmarks.extraction.simulated import print_simulated
from benchmarks.running import Part, run_parts

PARTS = {
    "simulated": Part(lambda options: print_simulated(options.runs)),
    "recogniser": Part(lambda options: print_recogniser(options.data, options.corenlp), needs_data=True),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=int, default=10_000, help="for simulated: records a subject (default: %(default)s)"
    )
    parser.add_argument("--corenlp", metavar="URL", help="for recogniser: a CoreNLP server")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("extraction", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
