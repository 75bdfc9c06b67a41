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

    Raises:
        ImportError: names the file of ours and the one that is found.
        SystemExit: the same, with one line on standard error, in the program `assay`.
    """
    ours = Path(__file__).parent.parent
    for name in _PACKAGES:
        found = _file_of(name)
        if found is None or Path(found).parent == ours / name:
            continue
        message = (
            f"assay's package {name!r} is {ours / name / Path(found).name}, but Python finds {found}: "
            "keep assay in its own environment, and run it outside folders that have such a package"
        )
        if _is_program():
            print(f"Error: {message}", file=sys.stderr)
            raise SystemExit(_WRONG_USE)
        raise ImportError(message, name=name, path=found)


def _file_of(name: str) -> str | None:
    """The file that importing `name` runs, or ran; None if there is none. Nothing is imported: it may be any code."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec = find_spec(name)
    return spec.origin if spec else None


def _is_program() -> bool:
    """True in `assay` and `python -m assay`, where a person reads the message."""
    program = Path(*sys.argv[:1]).name
    return program in {"assay", "assay.exe"} or (program == "-m" and ("-m", "assay") in pairwise(sys.orig_argv))


require()
