"""`python -m assay` and the `assay` program."""

import os
import sys
import traceback

from assay.cli.common import INTERRUPTED, NOT_FINISHED
from assay.cli.root import cli


def main() -> None:
    try:
        cli(prog_name="assay")
    except SystemExit as ended:
        if ended.code in {INTERRUPTED, NOT_FINISHED}:
            # A model may still be loading in a thread; Python would wait for it.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(ended.code))
        raise
    except Exception:  # noqa: BLE001 - Python's own status for an unexpected error would read as "rejected"
        traceback.print_exc()
        sys.exit(NOT_FINISHED)


if __name__ == "__main__":
    main()
