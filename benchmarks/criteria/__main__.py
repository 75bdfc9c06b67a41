"""The five ready criteria, asked of a model behind an endpoint about 60 answers that were written before it was asked.

    python -m benchmarks.criteria --base-url URL --model NAME [--forms examples,question] [--verdicts]

`examples`: the judge is shown eight worked examples, as with `examples` in the configuration. `question`: it is not.

The figures are those of the scores. With --verdicts the whole check is made too, with control questions and quotations,
where an abstention counts as one half. The interval is Wilson's, 95%. Results are kept in --keep by form and row.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from benchmarks.asked import Kept, Lines, command, patient, run
from checkers.checker import Models
from checkers.criteria import PLUGIN
from checkers.criteria.checker import CriterionChecker, CriterionSettings
from checkers.intervals import wilson
from models.build import build_judge
from models.judges.prompted import PromptedJudge
from models.protocol import SUPPORTED
from schemas import Generation

SECTIONS: dict[str, dict[str, Any]] = tomllib.loads(Path("examples/criteria/assay.toml").read_text("utf-8"))["criteria"]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "unseen.jsonl").read_text("utf-8").splitlines()
]
HEADS = ["form", "criterion", "answers", "balanced", "95%", "undecided"]

Labelled = tuple[bool, float]
"""True for an answer that should be accepted, and 1, 0 or one half if it is judged rightly, wrongly or not."""


def main() -> int:
    parser = command("criteria", __doc__)
    parser.add_argument("--forms", default="examples,question", help="(default: %(default)s)")
    parser.add_argument("--verdicts", action="store_true", help="make the whole check, too")
    return run(parser.parse_args(), _measured, HEADS)


async def _measured(options: argparse.Namespace, results: Kept) -> Lines:
    judge = build_judge(patient(options, form="short", threshold=0.0))
    if not isinstance(judge, PromptedJudge):
        raise TypeError("an endpoint is asked by prompts")
    lines: Lines = []
    try:
        for form in options.forms.split(","):
            checkers = {name: _checker(name, judge, shows=form == "examples") for name in SECTIONS}
            ways = {form: _scored} | ({f"{form}, verdicts": _whole} if options.verdicts else {})
            for way, ask in ways.items():
                found = {name: await ask(results, options.model, checker) for name, checker in checkers.items()}
                lines += _lines(way, found)
    finally:
        await judge.close()
    return lines


def _checker(name: str, judge: PromptedJudge, *, shows: bool) -> CriterionChecker:
    given = SECTIONS[name] | ({} if shows else {"examples": None})
    settings = CriterionSettings.model_validate(given)
    ((plugin, _),) = PLUGIN.members({name: settings})
    models = Models(judge=judge, writer=judge.model, record_seconds=7200)
    return cast("CriterionChecker", plugin.build(settings, models))


def _unseen(name: str) -> list[tuple[bool, Generation]]:
    """The labels and records of one criterion."""
    own = [row for row in ROWS if row["criterion"] == name]
    known = {"kind": "generation", "source": "benchmark", "model": "nobody"}
    records = [Generation.model_validate(known | {"prompt": row["prompt"], "response": row["response"]}) for row in own]
    return [(row["label"] == "accept", record) for row, record in zip(own, records, strict=True)]


async def _scored(kept: Kept, model: str, checker: CriterionChecker) -> list[Labelled]:
    """By the probability of the answer that accepts."""
    found = []
    for label, record in _unseen(checker.name):
        ask = partial(checker.support, checker.settings.ask, record, checker.shown())
        score = await kept.get(f"{model} score {checker.config_digest} {record.id}", ask)
        found.append((label, float((score >= SUPPORTED) is label)))
    return found


async def _whole(kept: Kept, model: str, checker: CriterionChecker) -> list[Labelled]:
    """By the whole check."""

    async def outcome(record: Generation) -> str:
        return (await checker.check(record)).outcome

    found = []
    for label, record in _unseen(checker.name):
        said = await kept.get(f"{model} verdict {checker.config_digest} {record.id}", partial(outcome, record))
        found.append((label, float((said == "accept") is label) if said in {"accept", "reject"} else 0.5))
    return found


def _lines(form: str, found: dict[str, list[Labelled]]) -> list[list[object]]:
    every = [one for each in found.values() for one in each]
    return [[form, name, *_figures(each)] for name, each in {**found, "all": every}.items()]


def _figures(results: Sequence[Labelled]) -> list[object]:
    balanced = fmean(fmean(right for label, right in results if label is side) for side in (True, False))
    low, high = wilson(balanced * len(results), len(results))
    undecided = sum(right == 0.5 for _, right in results)
    return [len(results), f"{balanced:.3f}", f"{low:.2f} to {high:.2f}", undecided]


if __name__ == "__main__":
    sys.exit(main())
