"""All benchmarks, a subject after the other: `python -m benchmarks [--data FOLDER]`."""

import argparse
import subprocess
import sys
from pathlib import Path

_SUBJECTS = (
    *("delivery", "equivalence", "extraction", "failures", "judge", "labelling", "labels"),
    *("retrieval", "store", "tool_calls", "trust", "versions"),
)
"""But for those that need a model's address."""


def main() -> int:
    """Run each subject in its own process; the worst exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public data sets; without it some parts are left out")
    options = parser.parse_args()
    data = [] if options.data is None else ["--data", str(options.data)]
    worst = 0
    for subject in _SUBJECTS:
        print(f"\n# {subject}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{subject}", *data]
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
