"""The five ready criteria, asked of a model behind an endpoint about 60 answers that were written before it was asked.

    python -m benchmarks.criteria --base-url URL --model NAME [--forms examples,question] [--verdicts]

`examples`: the judge is shown eight worked examples, as with `examples` in the configuration. `question`: it is not.

The figures are those of the scores. With --verdicts the whole check is made too, with control questions and quotations,
where an abstention counts as one half. The interval is Wilson's, 95%. Results are kept in --keep by form and row.
"""

import argparse
import asyncio
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.tables import table
from checkers.checker import Models
from checkers.criteria.checker import CriterionChecker, criterion_named
from checkers.criteria.settings import CriterionSettings
from checkers.intervals import wilson
from models.build import build_judge
from models.claims import SUPPORTED
from models.judges.prompted import PromptedJudge
from models.protocol import ModelUnavailable
from models.settings import JudgeSettings
from schemas import Abstention, CriterionEvidence, Generation

SECTIONS: dict[str, dict[str, Any]] = tomllib.loads(Path("examples/criteria/assay.toml").read_text("utf-8"))["criteria"]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "unseen.jsonl").read_text("utf-8").splitlines()
]
HEADS = ["form", "criterion", "answers", "balanced", "95%", "undecided"]

Labelled = tuple[bool, float]
"""True for an answer that should be accepted, and 1, 0 or one half if it is judged rightly, wrongly or not."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.criteria", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", required=True, help="of the API, up to what stands before /chat/completions")
    parser.add_argument("--model", required=True)
    parser.add_argument("--forms", default="examples,question", help="(default: %(default)s)")
    parser.add_argument("--verdicts", action="store_true", help="make the whole check, too")
    parser.add_argument("--keep", type=Path, default=Path("out/criteria.jsonl"), help="(default: %(default)s)")
    options = parser.parse_args()
    options.keep.parent.mkdir(parents=True, exist_ok=True)
    options.keep.touch()
    try:
        lines = asyncio.run(_measured(options))
    except ModelUnavailable as error:
        print(f"error: {error} (run again to go on)", file=sys.stderr)
        return 2
    print(table(HEADS, lines))
    return 0


async def _measured(options: argparse.Namespace) -> list[list[object]]:
    patient = {"timeout_seconds": 1800, "deadline_seconds": 3600, "concurrency": 1, "form": "short", "threshold": 0.0}
    address = {"backend": "openai", "base_url": options.base_url, "model": options.model, **patient}
    judge = build_judge(JudgeSettings.model_validate(address))
    if not isinstance(judge, PromptedJudge):
        raise TypeError("an endpoint is asked by prompts")
    kept = _Kept(options.keep, options.model)
    lines: list[list[object]] = []
    try:
        for form in options.forms.split(","):
            checkers = {name: _checker(name, judge, shows=form == "examples") for name in SECTIONS}
            lines += _lines(form, {name: await _scored(kept, checker) for name, checker in checkers.items()})
            if options.verdicts:
                lines += _lines(f"{form}, verdicts", {name: await _whole(kept, checkers[name]) for name in checkers})
    finally:
        await judge.close()
    return lines


def _checker(name: str, judge: PromptedJudge, *, shows: bool) -> CriterionChecker:
    given = SECTIONS[name] | {"deadline_seconds": 7200} | ({} if shows else {"examples": None})
    settings = CriterionSettings.model_validate(given)
    return criterion_named(name, settings)(settings, Models(judge=judge, writer=judge.model))


def _unseen(name: str) -> list[tuple[bool, Generation]]:
    """The labels and records of one criterion."""
    own = [row for row in ROWS if row["criterion"] == name]
    known = {"kind": "generation", "source": "benchmark", "model": "nobody"}
    records = [Generation.model_validate(known | {"prompt": row["prompt"], "response": row["response"]}) for row in own]
    return [(row["label"] == "accept", record) for row, record in zip(own, records, strict=True)]


class _Kept:
    """Results on file, so that a run that was broken off goes on where it stopped."""

    def __init__(self, file: Path, model: str) -> None:
        self._file = file
        self._model = model
        self._known: dict[str, Any] = dict(json.loads(line) for line in file.read_text("utf-8").splitlines())

    async def score(self, checker: CriterionChecker, record: Generation) -> float:
        """The probability of the answer that accepts."""
        key = f"{self._model} score {checker.config_digest} {record.id}"
        if key not in self._known:
            self._keep(key, await checker.support(checker.settings.ask, record, checker.shown))
        return float(self._known[key])

    async def outcome(self, checker: CriterionChecker, record: Generation) -> list[Any]:
        """Outcome or cause of the abstention, and the words that were quoted."""
        key = f"{self._model} verdict {checker.config_digest} {record.id}"
        if key not in self._known:
            verdict = await checker.check(record)
            evidence = verdict.evidence
            quote = evidence.quote if isinstance(evidence, CriterionEvidence) else None
            told = evidence.cause if isinstance(evidence, Abstention) else verdict.outcome
            self._keep(key, [told, quote])
        found: list[Any] = self._known[key]
        return found

    def _keep(self, key: str, value: Any) -> None:
        self._known[key] = value
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([key, value]) + "\n")


async def _scored(kept: _Kept, checker: CriterionChecker) -> list[Labelled]:
    scores = [(label, await kept.score(checker, one)) for label, one in _unseen(checker.name)]
    return [(label, float((score >= SUPPORTED) is label)) for label, score in scores]


async def _whole(kept: _Kept, checker: CriterionChecker) -> list[Labelled]:
    found = []
    for label, record in _unseen(checker.name):
        outcome, _ = await kept.outcome(checker, record)
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
