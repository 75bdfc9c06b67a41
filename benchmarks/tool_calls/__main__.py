"""Verdicts on sixty labelled tool calls, which were written before a judge saw any: without a judge, and with one.

    python -m benchmarks.tool_calls [--base-url URL --model NAME] [--keep FILE]

*Balanced* is the mean of the shares of right and of wrong calls that are decided rightly; an abstention counts one
half. Verdicts of a model are kept in --keep: a run that was broken off goes on where it stopped.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from benchmarks.asked import Kept, Lines, command, patient, run
from checkers.checker import Models
from checkers.tool_call import PLUGIN
from models.build import build_judge
from schemas import Envelope, Verdict, read_record

RECORDS = Path(__file__).with_name("records.jsonl")
HEADS = ["judge", "decided by", "calls", "balanced", "right calls accepted", "wrong calls rejected"]
HEADS += ["abstained", "questions"]
_RIGHT = {"accept": 1.0, "abstain": 0.5, "reject": 0.0}

Labelled = tuple[Envelope, bool]


def main() -> int:
    return run(command("tool_calls", __doc__, required=False).parse_args(), _measured, HEADS)


def labelled() -> list[Labelled]:
    """The records, each with whether it is right."""
    lines = RECORDS.read_bytes().splitlines()
    return [(read_record(line, max_bytes=len(line)), orjson.loads(line)["label"] == "accept") for line in lines]


async def _measured(options: argparse.Namespace, kept: Kept) -> Lines:
    rows = labelled()
    free = PLUGIN.build(PLUGIN.settings.model_validate({"ask_judge": False}), Models())
    lines = list(_lines("none", rows, [await free.check(record) for record, _ in rows]))
    if options.base_url and options.model:
        # A word each, from the probability of one half on: no question here is one that a self-test chooses a form for.
        judge = build_judge(patient(options, form="short", threshold=0.0))
        checker = PLUGIN.build(PLUGIN.settings(), Models(judge=judge, record_seconds=4 * 3600.0))

        async def checked(record: Envelope) -> Any:
            verdict = await checker.check(record)
            print(f"{record.id} {verdict.outcome:<8} {verdict.reason}", file=sys.stderr, flush=True)
            return verdict.model_dump(mode="json")

        try:
            keys = {f"{checker.config_digest} {record.id}": record for record, _ in rows}
            dumped = [await kept.get(key, partial(checked, record)) for key, record in keys.items()]
        finally:
            await judge.close()
        lines += _lines(options.model, rows, [Verdict.model_validate(one) for one in dumped])
    return lines


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
