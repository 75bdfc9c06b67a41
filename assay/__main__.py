"""`python -m assay` and the `assay` program."""

import sys
import traceback

from assay.cli.failures import NOT_FINISHED
from assay.cli.root import cli


def main() -> None:
    """Run the command line."""
    try:
        cli(prog_name="assay")
    except Exception:  # noqa: BLE001 - Python's own status for an unexpected error would read as "rejected"
        traceback.print_exc()
        sys.exit(NOT_FINISHED)


if __name__ == "__main__":
    main()
