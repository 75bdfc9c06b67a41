"""All benchmarks, one after the other: `python -m benchmarks [--data FOLDER]`."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NEED_DATA = (
    "local_judge",
    "traffic",
    "drift",
    "no_data",
    "metmap",
    "metmap_tagging",
    "metmap_making",
    "metmap_live",
    "metmap_stores",
    "parsers",
    "equivalence",
)
NEED_NONE = ("throughput", "delivery", "drops", "equivalence_trust")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them each in a process of its own; the worst exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help=f"folder of the public data sets, for {', '.join(NEED_DATA)}")
    options = parser.parse_args(arguments)
    commands = [[name] for name in NEED_NONE]
    if options.data is None:
        print(f"without --data, {', '.join(NEED_DATA)} are left out", file=sys.stderr)
    else:
        commands = [[name, "--data", str(options.data)] for name in NEED_DATA] + commands
    worst = 0
    for name, *rest in commands:
        command = ["-m", f"benchmarks.{name}", *rest]
        print(f"\n## python {' '.join(command)}\n", flush=True)
        worst = max(worst, subprocess.run([sys.executable, *command], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
