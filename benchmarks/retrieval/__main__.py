"""The retrieval checker and its audits on MeTMaP's triplets.

    python -m benchmarks.retrieval --data FOLDER [--only PART,PART] [--rows N]

`accuracy`: false matches of an embedding model by relation and metric.
`stores`: vector stores next to plain arrays. `live`: the check with the local judge. `questions`: the same for
questions to a knowledge store. `near`: our own near misses, by kind. `tagging`: the named relation and the data's.

FOLDER holds metmap/, paraphrase/ and dnc_function_words/; for `questions` halueval/, sac3/, wikibio_gpt3/ and
refchecker/.
"""

import argparse
import sys

from benchmarks.retrieval.embeddings import print_accuracy
from benchmarks.retrieval.live import print_live
from benchmarks.retrieval.questions import print_near_misses, print_questions
from benchmarks.retrieval.stores import print_stores
from benchmarks.retrieval.tagging import print_tagging
from benchmarks.running import Part, run_parts

PARTS = {
    "accuracy": Part(lambda options: print_accuracy(options.model, options.data, options.rows), needs_data=True),
    "stores": Part(lambda options: print_stores(options.data, options.rows, options.stores), needs_data=True),
    "live": Part(lambda options: print_live(options.data, options.rows), needs_data=True),
    "questions": Part(lambda options: print_questions(options.data, options.rows), needs_data=True),
    "near": Part(lambda _: print_near_misses()),
    "tagging": Part(lambda options: print_tagging(options.data), needs_data=True),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, help="triplets of each relation (pairs of each kind) at most")
    parser.add_argument("--model", default="bundled", help="for accuracy: a sentence-transformers model")
    parser.add_argument("--stores", type=lambda names: names.split(","), help="for stores: only these, by comma")


if __name__ == "__main__":
    sys.exit(run_parts("retrieval", PARTS, __doc__, _add_options))
