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
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from benchmarks.asked import Kept, Lines, command, patient, run
from checkers.checker import Models
from checkers.criteria import PLUGIN
from checkers.criteria.checker import CriterionChecker, CriterionSettings
from checkers.intervals import wilson
from models.build import build_judge
from models.claims import SUPPORTED
from models.judges.prompted import PromptedJudge
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
    asked = _Asked(results, options.model)
    lines: Lines = []
    try:
        for form in options.forms.split(","):
            checkers = {name: _checker(name, judge, shows=form == "examples") for name in SECTIONS}
            lines += _lines(form, {name: await _scored(asked, checker) for name, checker in checkers.items()})
            if options.verdicts:
                lines += _lines(f"{form}, verdicts", {name: await _whole(asked, checkers[name]) for name in checkers})
    finally:
        await judge.close()
    return lines


def _checker(name: str, judge: PromptedJudge, *, shows: bool) -> CriterionChecker:
    given = SECTIONS[name] | {"deadline_seconds": 7200} | ({} if shows else {"examples": None})
    settings = CriterionSettings.model_validate(given)
    ((plugin, _),) = PLUGIN.members({name: settings})
    return cast("CriterionChecker", plugin.build(settings, Models(judge=judge, writer=judge.model)))


def _unseen(name: str) -> list[tuple[bool, Generation]]:
    """The labels and records of one criterion."""
    own = [row for row in ROWS if row["criterion"] == name]
    known = {"kind": "generation", "source": "benchmark", "model": "nobody"}
    records = [Generation.model_validate(known | {"prompt": row["prompt"], "response": row["response"]}) for row in own]
    return [(row["label"] == "accept", record) for row, record in zip(own, records, strict=True)]


@dataclass
class _Asked:
    """What was asked about a record, each once."""

    kept: Kept
    model: str

    async def score(self, checker: CriterionChecker, record: Generation) -> float:
        """The probability of the answer that accepts."""
        key = f"{self.model} score {checker.config_digest} {record.id}"
        ask = checker.settings.ask
        return float(await self.kept.get(key, lambda: checker.support(ask, record, checker.shown())))

    async def outcome(self, checker: CriterionChecker, record: Generation) -> str:
        """What the whole check comes to."""

        async def checked() -> str:
            return (await checker.check(record)).outcome

        found: str = await self.kept.get(f"{self.model} verdict {checker.config_digest} {record.id}", checked)
        return found


async def _scored(asked: _Asked, checker: CriterionChecker) -> list[Labelled]:
    scores = [(label, await asked.score(checker, one)) for label, one in _unseen(checker.name)]
    return [(label, float((score >= SUPPORTED) is label)) for label, score in scores]


async def _whole(asked: _Asked, checker: CriterionChecker) -> list[Labelled]:
    found = []
    for label, record in _unseen(checker.name):
        outcome = await asked.outcome(checker, record)
        found.append((label, float((outcome == "accept") is label) if outcome in {"accept", "reject"} else 0.5))
    return found


def _lines(form: str, found: dict[str, list[Labelled]]) -> list[list[object]]:
    if not found:
        return []
    every = [one for each in found.values() for one in each]
    return [[form, name, *_figures(each)] for name, each in {**found, "all": every}.items()]


def _figures(results: Sequence[Labelled]) -> list[object]:
    balanced = fmean(fmean(right for label, right in results if label is side) for side in (True, False))
    low, high = wilson(balanced * len(results), len(results))
    undecided = sum(right == 0.5 for _, right in results)
    return [len(results), f"{balanced:.3f}", f"{low:.2f} to {high:.2f}", undecided]


if __name__ == "__main__":
    sys.exit(main())
