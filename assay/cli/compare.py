"""`assay compare`: the verdicts of two files that differ, or two versions, and the difference of the rates."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, TypeAlias

import click
from pydantic import ValidationError

from assay.cli.common import EXISTING, NotFinished, WrongUse, configured, print_figures
from assay.config import Configuration
from checkers.intervals import wilson
from checkers.wording import plain
from models.wording import on_a_line
from schemas import Verdict, explain

_NAMED = 20
"""Changes that are shown to a person; `--json` has all."""
_Z = NormalDist().inv_cdf(0.975)

Key: TypeAlias = tuple[str, str, str]
"""Checker, source and record id."""


@click.command()
@click.argument("before", type=EXISTING, required=False)
@click.argument("after", type=EXISTING, required=False)
@click.option("--by", metavar="metadata.KEY", help="Compare versions on the stream by this key instead of files.")
@click.option("--versions", nargs=2, metavar="A B", help="With --by: these two. Default: the two most recent.")
@click.option("--source", "sources", multiple=True, metavar="S", help="With --by: only of this source; repeatable.")
@click.option("--model", "models", multiple=True, metavar="M", help="With --by: only about this model; repeatable.")
@click.option("--checker", "checkers", multiple=True, metavar="C", help="With --by: only of this one; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures, and every change, as JSON.")
@configured
def compare(
    *,
    loaded: Configuration,
    before: Path | None,
    after: Path | None,
    by: str | None,
    versions: tuple[str, str] | None,
    sources: tuple[str, ...],
    models: tuple[str, ...],
    checkers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare the verdicts in BEFORE with those in AFTER, files that `assay check --out` wrote.

    Verdicts are paired by checker, source and record id. The difference of the success rates, with its 95% interval, is
    that of the records that both files decide.

    With --by, compare two versions of the application on the stream, by metadata that records.version_metadata names:
    all that the trust monitor counted, from the store if one is configured, else from its topic.
    """
    if by is not None:
        if before is not None:
            raise WrongUse("files and --by exclude each other")
        from assay.versions import compared_versions

        found = compared_versions(loaded, by, versions, {"source": sources, "model": models, "checker": checkers})
        print_figures(found, as_json=as_json)
        return
    if before is None or after is None or versions or sources or models or checkers:
        raise WrongUse("give two files, or --by metadata.KEY, which the other options go with")
    first, second = _read(before), _read(after)
    if not first.keys() & second.keys():
        raise NotFinished("the files have no verdict on the same record by the same checker")
    print_figures(FileComparison.of(first, second), as_json=as_json)


def _read(file: Path) -> dict[Key, Verdict]:
    found: dict[Key, Verdict] = {}
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                verdict = Verdict.model_validate_json(line)
            except ValidationError as error:
                raise WrongUse(f"{file}:{number}: not a verdict: {explain(error)}") from None
            found[verdict.checker, verdict.source, verdict.record_id] = verdict
    return found


@dataclass(frozen=True, slots=True)
class VerdictPairs:
    """A checker's verdicts in both files."""

    checker: str
    counts: Counter[tuple[str, str]]
    """By outcome before and after."""

    def rate(self, which: int) -> tuple[int, int]:
        """Accepted and decided before (0) or after (1)."""
        decided = [(pair[which], number) for pair, number in self.counts.items() if pair[which] != "abstain"]
        return sum(n for outcome, n in decided if outcome == "accept"), sum(n for _, n in decided)

    @property
    def difference(self) -> tuple[int, float, float, float] | None:
        """Records that both decide, the later rate less the earlier one, and its interval (Bonett and Price, 2012)."""
        both = sum(number for pair, number in self.counts.items() if "abstain" not in pair)
        if not both:
            return None
        gained, lost = self.counts["reject", "accept"], self.counts["accept", "reject"]
        n, change = both + 2, gained - lost
        middle = change / n
        reach = _Z * sqrt(max(gained + lost + 2 - change**2 / n, 0.0)) / n
        return both, change / both, max(middle - reach, -1.0), min(middle + reach, 1.0)


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Two files of verdicts, side by side."""

    pairs: list[VerdictPairs]
    changes: list[tuple[Verdict, Verdict]] = field(default_factory=list)
    only_before: int = 0
    only_after: int = 0

    @classmethod
    def of(cls, first: Mapping[Key, Verdict], second: Mapping[Key, Verdict]) -> "FileComparison":
        both = sorted(first.keys() & second.keys())
        counts: dict[str, Counter[tuple[str, str]]] = {}
        for key in both:
            counts.setdefault(key[0], Counter())[first[key].outcome, second[key].outcome] += 1
        changes = [(first[key], second[key]) for key in both if first[key].outcome != second[key].outcome]
        pairs = [VerdictPairs(checker, each) for checker, each in counts.items()]
        return cls(pairs, changes, len(first) - len(both), len(second) - len(both))

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        return {
            "checkers": [
                {
                    "checker": each.checker,
                    "before": each.rate(0),
                    "after": each.rate(1),
                    "difference": each.difference,
                    "outcomes": [[*pair, number] for pair, number in sorted(each.counts.items())],
                }
                for each in self.pairs
            ],
            "changes": [
                {
                    "checker": after.checker,
                    "source": after.source,
                    "record_id": after.record_id,
                    "before": before.outcome,
                    "after": after.outcome,
                    "reason": after.reason,
                }
                for before, after in self.changes
            ],
            "only_before": self.only_before,
            "only_after": self.only_after,
        }

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        for each in self.pairs:
            yield f"{each.checker}: before {_rate(*each.rate(0))}, after {_rate(*each.rate(1))}"
            if (found := each.difference) is not None:
                both, change, low, high = found
                yield f"  on the {both} that both decide {change:+.1%} ({low:+.1%} to {high:+.1%})"
        for before, after in self.changes[:_NAMED]:
            yield f"{plain(after.record_id)}  {before.outcome} → {after.outcome}  {on_a_line(plain(after.reason))}"
        if len(self.changes) > _NAMED:
            yield f"… {len(self.changes) - _NAMED} more changes (--json prints all)"
        if not self.changes:
            yield "No verdict differs."
        if self.only_before or self.only_after:
            yield f"{self.only_before} verdicts are in the first file alone, {self.only_after} in the second alone."


def _rate(accepted: int, decided: int) -> str:
    if not decided:
        return "nothing decided"
    low, high = wilson(accepted, decided)
    return f"{accepted / decided:.1%} of {decided} accepted ({low:.1%} to {high:.1%})"
