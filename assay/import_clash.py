"""A check on import that no other package's `models` or `agents` takes the place of ours.

All of assay's packages are at the top level, where others have the same names: openai-agents brings `agents`, and many
applications have their own `models`.
"""

import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

_PACKAGES = ("agents", "checkers", "models", "schemas", "streams")
_WRONG_USE = 2


def require() -> None:
    """Refuse to continue with another package in place of one of ours.

    Nothing is imported to find out: it may be any code.

    Raises:
        ImportError: names the file of ours and the one that is found.
        SystemExit: the same, with one line on standard error, in the program `assay`.
    """
    ours = Path(__file__).parent.parent
    for name in _PACKAGES:
        if name in sys.modules:
            found = getattr(sys.modules[name], "__file__", None)
        else:
            spec = find_spec(name)
            found = spec.origin if spec else None
        if found is None or Path(found).parent == ours / name:
            continue
        message = (
            f"assay's package {name!r} is {ours / name / Path(found).name}, but Python finds {found}: "
            "keep assay in its own environment, and run it outside folders that have such a package"
        )
        program = Path(*sys.argv[:1]).name
        if program in {"assay", "assay.exe"} or (program == "-m" and ("-m", "assay") in pairwise(sys.orig_argv)):
            print(f"Error: {message}", file=sys.stderr)
            raise SystemExit(_WRONG_USE)
        raise ImportError(message, name=name, path=found)


require()
