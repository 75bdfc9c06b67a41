"""The retrieval checker on MeTMaP's triplets, and on questions and passages.

    python -m benchmarks.retrieval --data FOLDER [--only PART,PART] [--rows N]

`live`: the check with the local judge; FOLDER holds metmap/. `questions`: the same for questions to a knowledge store;
FOLDER holds halueval/. `near`: our own near misses, by kind.
"""

import sys

from benchmarks.retrieval.live import print_live
from benchmarks.retrieval.questions import print_near_misses, print_questions
from benchmarks.running import Part, run_parts

PARTS = {
    "live": Part(lambda options: print_live(options.data, options.rows), needs_data=True),
    "questions": Part(lambda options: print_questions(options.data, options.rows), needs_data=True),
    "near": Part(lambda _: print_near_misses()),
}


if __name__ == "__main__":
    sys.exit(
        run_parts(
            "retrieval", PARTS, __doc__, {"--rows": (int, "triplets of each relation (questions of each half) at most")}
        )
    )
