"""Verdicts on sixty labelled tool calls, which were written before a judge saw any: without a judge, and with one.

    python -m benchmarks.tool_calls [--base-url URL --model NAME] [--keep FILE]

*Balanced* is the mean of the shares of right and of wrong calls that are decided rightly; an abstention counts one
half. Verdicts of a model are kept in --keep: a run that was broken off goes on where it stopped.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from benchmarks.tables import table
from checkers.checker import Checker, Models
from checkers.tool_call import PLUGIN
from models.build import build_judge
from models.protocol import ModelUnavailable
from models.settings import JudgeSettings
from schemas import Envelope, Verdict, read_record, to_json

RECORDS = Path(__file__).with_name("records.jsonl")
HEADS = [
    "judge",
    "decided by",
    "calls",
    "balanced",
    "right calls accepted",
    "wrong calls rejected",
    "abstained",
    "questions",
]
_RIGHT = {"accept": 1.0, "abstain": 0.5, "reject": 0.0}
_HOURS = 4 * 3600.0

Labelled = tuple[Envelope, bool]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tool_calls",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base-url", help="of the API, up to what stands before /chat/completions")
    parser.add_argument("--model")
    parser.add_argument("--keep", type=Path, default=Path("out/tool_calls.jsonl"), help="(default: %(default)s)")
    options = parser.parse_args()
    try:
        lines = asyncio.run(_measured(options))
    except ModelUnavailable as error:
        print(f"error: {error} (run again to go on)", file=sys.stderr)
        return 2
    print(table(HEADS, lines))
    return 0


def labelled() -> list[Labelled]:
    """The records, each with whether it is right."""
    lines = RECORDS.read_bytes().splitlines()
    return [(read_record(line, max_bytes=len(line)), orjson.loads(line)["label"] == "accept") for line in lines]


async def _measured(options: argparse.Namespace) -> list[list[object]]:
    rows = labelled()
    free = PLUGIN.build(PLUGIN.settings.model_validate({"ask_judge": False}), Models())
    verdicts = [await free.check(record) for record, _ in rows]
    lines = list(_lines("none", rows, verdicts))
    if options.base_url and options.model:
        address = {"backend": "openai", "base_url": options.base_url, "model": options.model}
        patient = {"timeout_seconds": _HOURS, "deadline_seconds": _HOURS, "concurrency": 1}
        # A word each, from the probability of one half on: no question here is one that a self-test chooses a form for.
        pinned = {"form": "short", "threshold": 0.0}
        judge = build_judge(JudgeSettings.model_validate(address | patient | pinned))
        checker = PLUGIN.build(PLUGIN.settings.model_validate({"deadline_seconds": _HOURS}), Models(judge=judge))
        try:
            verdicts = [await _kept(checker, record, options.keep) for record, _ in rows]
        finally:
            await judge.close()
        lines += _lines(options.model, rows, verdicts)
    return lines


async def _kept(checker: Checker[Any], record: Envelope, file: Path) -> Verdict:
    """The verdict that the file has from the same configuration, or a new one, which it then has."""
    for known in _verdicts(file):
        if (known.record_id, known.config_digest) == (record.id, checker.config_digest):
            return known
    verdict = await checker.check(record)
    _keep(file, verdict)
    print(f"{record.id} {verdict.outcome:<8} {verdict.reason}", file=sys.stderr, flush=True)
    return verdict


def _verdicts(file: Path) -> list[Verdict]:
    return [Verdict.model_validate_json(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def _keep(file: Path, verdict: Verdict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as lines:
        lines.write(to_json(verdict, newline=True))


def _lines(judge: str, rows: Sequence[Labelled], verdicts: Sequence[Verdict]) -> Iterable[list[object]]:
    """All calls, and of a judge those that it was asked about."""
    every = list(zip(rows, verdicts, strict=True))
    asked = [one for one in every if one[1].usage.calls + one[1].usage.cached]
    for name, some in {"everything": every, "the judge": asked}.items():
        if not some:
            continue
        right = [_RIGHT[verdict.outcome] for (_, good), verdict in some if good]
        wrong = [1 - _RIGHT[verdict.outcome] for (_, good), verdict in some if not good]
        yield [
            judge,
            name,
            len(some),
            (fmean(right) + fmean(wrong)) / 2,
            f"{sum(one == 1 for one in right)} of {len(right)}",
            f"{sum(one == 1 for one in wrong)} of {len(wrong)}",
            sum(verdict.outcome == "abstain" for _, verdict in some),
            sum(verdict.usage.calls for _, verdict in some),
        ]


if __name__ == "__main__":
    sys.exit(main())
