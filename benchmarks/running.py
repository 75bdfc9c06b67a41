"""Command line of a subject's benchmarks: `python -m benchmarks.SUBJECT [--only part,part] [--data FOLDER]`."""

import argparse
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.cli.common import CannotRun
from checkers.model_patience import ModelLost
from models.model_loading import ModelUnusable
from models.protocol import ModelError


@dataclass(frozen=True, slots=True)
class Part:
    """A benchmark that can be run alone."""

    run: Callable[[argparse.Namespace], bool | None]
    """Prints its figures. Takes the command line: `data`, and what the subject adds. False if a bound is missed."""
    needs_data: bool = False
    """Left out without `--data`; `data` is a folder when it runs."""


def parser_of(subject: str, description: str | None) -> argparse.ArgumentParser:
    """The command line of a package or module below `benchmarks`; its docstring is shown as it is."""
    shown = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(f"python -m benchmarks.{subject}", description=description, formatter_class=shown)


def run_parts(
    subject: str,
    parts: Mapping[str, Part],
    description: str | None,
    options: Mapping[str, tuple[object, str]] | None = None,
) -> int:
    """Run the parts that `--only` names, or all, in their order.

    Args:
        subject: Name of the package below `benchmarks`.
        parts: By the name that `--only` takes.
        description: For `--help`, the module's docstring.
        options: The subject's own: by name the default (or its type, or `...` if it must be given), and the help.

    Returns:
        The exit status: 1 if a part missed its bound, 2 if a part lacked something that it needs.
    """
    parser = parser_of(subject, description)
    parser.add_argument("--only", metavar="PART,PART", help=f"some of {', '.join(parts)} (default: all)")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of the public data sets")
    for name, (default, what) in (options or {}).items():
        if default is ... or isinstance(default, type):
            kind = str if default is ... else default
            parser.add_argument(name, type=kind, required=default is ..., help=what)
        else:
            parser.add_argument(name, type=type(default), default=default, help=f"{what} (default: %(default)s)")
    given = parser.parse_args()
    chosen = list(parts) if given.only is None else [name.strip() for name in given.only.split(",")]
    if unknown := [name for name in chosen if name not in parts]:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(parts)}")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"--data {given.data} is not a folder")
    if given.data is None and (without := [name for name in chosen if parts[name].needs_data]):
        if given.only is not None:
            parser.error(f"{', '.join(without)} needs --data FOLDER")
        print(f"left out without --data: {', '.join(without)}", file=sys.stderr)
        chosen = [name for name in chosen if name not in without]
    # Brokers are stopped on purpose, and clients need not tell of it.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    status = 0
    for name in chosen:
        print(f"\n## {subject}: {name}\n", flush=True)
        try:
            if parts[name].run(given) is False:
                print(f"{name}: a figure is not what it should be", file=sys.stderr)
                status = max(status, 1)
        except (CannotRun, ModelLost, ModelUnusable, ModelError) as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            status = 2
    return status
