"""What each method is worth with one model behind an endpoint, as subject, writer and judge.

    python -m benchmarks.methods --base-url URL --model NAME --data FOLDER [--only retrieval,...] [--rows N]

`retrieval`, `equivalence`, `extraction`, `labelling` (the No-Data Algorithm), `probes` (LINT), `link`, which builds
statements, and `wordings`, `labels`, `phrases` and `critic`, which ask the same in other words. Answers are kept in
--keep: a run that was broken off asks nothing twice.
"""

import sys
from pathlib import Path

from benchmarks.methods import equivalence, extraction, labelling, probes, retrieval, wordings
from benchmarks.running import Part, run_parts

PARTS = {
    "retrieval": Part(retrieval.measure, needs_data=True),
    "equivalence": Part(equivalence.measure, needs_data=True),
    "extraction": Part(extraction.measure, needs_data=True),
    "labelling": Part(labelling.measure, needs_data=True),
    "probes": Part(probes.run),
    "link": Part(probes.build),
    "wordings": Part(wordings.measure, needs_data=True),
    "labels": Part(wordings.labels, needs_data=True),
    "phrases": Part(wordings.phrases, needs_data=True),
    "critic": Part(wordings.critic),
}

OPTIONS = {
    "--base-url": (..., "of the API, up to what stands before /chat/completions"),
    "--model": (..., "its name"),
    "--rows": (6, "of each set at most; all parts with 6 take about an hour on two cores"),
    "--keep": (Path("out/methods.answers"), "answers"),
    "--measurer": ("", "base URL of another model, which says how far LINK's head and tail are apart"),
    "--measurer-model": ("measurer", "its name"),
}


if __name__ == "__main__":
    sys.exit(run_parts("methods", PARTS, __doc__, OPTIONS))
