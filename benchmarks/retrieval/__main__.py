"""The retrieval checker and its audits on MeTMaP's triplets.

    python -m benchmarks.retrieval --data FOLDER [--only PART,PART] [--rows N]

`accuracy`: false matches of an embedding model by relation and metric.
`stores`: vector stores beside plain arrays. `live`: the check with the local judge. `questions`: the same for questions
to a knowledge store. `near`: near misses of our own, by kind. `tagging`: the relation named and the one that the data
states. `synthetic`: negatives by rule.

FOLDER holds metmap/, paraphrase/ and dnc_function_words/; for `questions` halueval/, sac3/, wikibio_gpt3/ and
refchecker/.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from assay.cli.front_door import CannotRun as NothingToRun
from benchmarks.retrieval.embeddings import print_accuracy
from benchmarks.retrieval.live import print_live
from benchmarks.retrieval.questions import print_near_misses, print_questions
from benchmarks.retrieval.stores import print_stores
from benchmarks.retrieval.synthetic import print_synthetic
from benchmarks.retrieval.tagging import print_tagging
from benchmarks.running import CannotRun, Part, run_parts
from models.model_loading import ModelUnusable


def _part(run: Callable[[argparse.Namespace], bool | None]) -> Part:
    def reported(options: argparse.Namespace) -> bool | None:
        try:
            return run(options)
        except (NothingToRun, ModelUnusable) as error:
            raise CannotRun(str(error)) from error

    return Part(reported, needs_data=True)


PARTS = {
    "accuracy": _part(lambda options: print_accuracy(options.model, options.data, options.rows)),
    "stores": _part(lambda options: print_stores(options.data, options.rows, options.stores)),
    "live": _part(lambda options: print_live(options.data, options.rows)),
    "questions": _part(lambda options: print_questions(options.data, options.rows)),
    "near": Part(lambda _: print_near_misses(), needs_data=False),
    "tagging": _part(lambda options: print_tagging(options.data)),
    "synthetic": _part(lambda options: print_synthetic(options.data, options.seed)),
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, help="triplets of each relation (pairs of each kind) at most")
    parser.add_argument("--model", default="bundled", help="for accuracy: a sentence-transformers model")
    parser.add_argument("--stores", type=lambda names: names.split(","), help="for stores: only these, by comma")
    parser.add_argument("--seed", type=int, default=2, help="for synthetic: what is drawn")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("retrieval", PARTS, description=__doc__, add_options=_add_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
