"""What benchmarks share that ask a model behind an endpoint: the command line, and answers kept on file."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from assay.cli.common import CannotRun
from benchmarks.running import parser_of
from benchmarks.tables import table
from models.protocol import ModelUnavailable
from models.settings import JudgeSettings

Lines = list[list[object]]


def command(subject: str, description: str | None, *, required: bool = True) -> argparse.ArgumentParser:
    """The options that all have: the endpoint, the model, and the file of results."""
    parser = parser_of(subject, description)
    parser.add_argument("--base-url", required=required, help="of the API, up to what stands before /chat/completions")
    parser.add_argument("--model", required=required)
    parser.add_argument("--keep", type=Path, default=Path(f"out/{subject}.jsonl"), help="(default: %(default)s)")
    return parser


def run(
    options: argparse.Namespace, measure: "Callable[[argparse.Namespace, Kept], Awaitable[Lines]]", heads: Sequence[str]
) -> int:
    """Measure and print; the exit status."""

    async def measured() -> Lines:
        return await measure(options, Kept(options.keep))

    try:
        lines = asyncio.run(measured())
    except (CannotRun, ModelUnavailable) as error:
        print(f"error: {error} (run again to go on)", file=sys.stderr)
        return 2
    print(table(heads, lines))
    return 0


def patient(options: argparse.Namespace, **others: Any) -> JudgeSettings:
    """Of a judge behind the endpoint that may take its time."""
    address = {"backend": "openai", "base_url": options.base_url, "model": options.model, "concurrency": 1}
    return JudgeSettings.model_validate(address | {"timeout_seconds": 4 * 3600.0} | others)


class Kept:
    """Results on file by key, so that a run that was broken off goes on where it stopped."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        self._file = file
        self._known: dict[str, Any] = dict(json.loads(line) for line in file.read_text("utf-8").splitlines())

    async def get(self, key: str, make: Callable[[], Awaitable[Any]]) -> Any:
        """The result that the file has, or a new one, which it then has."""
        if key not in self._known:
            self._known[key] = await make()
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known[key]
