"""The extraction checker's parts.

    python -m benchmarks.extraction --data FOLDER [--only naming]

`naming`: named or not by rules alone, and replacements without a model, on the annotated entities of Re-DocRED.
"""

import sys
from collections.abc import Sequence

from benchmarks.extraction.naming import print_naming
from benchmarks.running import Part, run_parts

PARTS = {"naming": Part(lambda options: print_naming(options.data), needs_data=True)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    return run_parts("extraction", PARTS, description=__doc__, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
