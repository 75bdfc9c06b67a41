"""The trust monitor: how soon it finds a drop, and how often it raises a false alarm.

    python -m benchmarks.trust [--only drops,cycles,drift] [--data FOLDER] [--streams N] [--verdicts N]

`drops`: simulated verdicts, fixed seeds, with a baseline that is given and one that is learned. `cycles`: traffic that
goes up and down, or fails together, with nothing wrong. `drift`: recorded traffic whose model is exchanged half way,
watched by a real Prometheus and a real Alertmanager; FOLDER holds llm_summary_traffic/.
"""

import sys

from benchmarks.running import Part, run_parts
from benchmarks.trust import cycles, drift, drops

PARTS = {
    "drops": Part(lambda options: drops.run(options.streams, options.verdicts)),
    "cycles": Part(lambda options: cycles.run(options.streams)),
    "drift": Part(lambda options: drift.run(options.data), needs_data=True),
}


if __name__ == "__main__":
    sys.exit(
        run_parts(
            "trust",
            PARTS,
            __doc__,
            {"--streams": (1000, "side by side"), "--verdicts": (100_000, "of each stream of `drops` without a drop")},
        )
    )
