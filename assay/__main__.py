"""`python -m assay` and the `assay` program."""

import os
import sys
import traceback

from assay.cli.failures import INTERRUPTED, NOT_FINISHED
from assay.cli.root import cli


def main() -> None:
    """Run the command line."""
    try:
        cli(prog_name="assay")
    except SystemExit as ended:
        if ended.code in {INTERRUPTED, NOT_FINISHED}:
            # A model may still be loading in a thread, which Python would wait for; whoever stopped us does not.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(ended.code))
        raise
    except Exception:  # noqa: BLE001 - Python's own status for an unexpected error would read as "rejected"
        traceback.print_exc()
        sys.exit(NOT_FINISHED)


if __name__ == "__main__":
    main()
