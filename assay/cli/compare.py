"""`assay compare`: the verdicts of two files that differ, or two versions, and the difference of the rates."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import click
from pydantic import ValidationError

from assay.cli.common import EXISTING, NotFinished, WrongUse, configured, print_figures
from assay.config import Configuration
from checkers.intervals import paired, wilson
from checkers.wording import plain
from models.wording import on_a_line
from schemas import Verdict, explain

_NAMED = 20
"""Changes that are shown to a person; `--json` has all."""
_SHOWN = ("checker", "source", "record_id", "reason")
"""Of a verdict that changed."""

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
    print_figures(FileComparison(first, second), as_json=as_json)


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


class FileComparison:
    """Two files of verdicts, side by side."""

    def __init__(self, first: Mapping[Key, Verdict], second: Mapping[Key, Verdict]) -> None:
        both = sorted(first.keys() & second.keys())
        counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for key in both:
            counts[key[0]][first[key].outcome, second[key].outcome] += 1
        changed = [(first[key].outcome, second[key]) for key in both if first[key].outcome != second[key].outcome]
        self._found: dict[str, Any] = {
            "checkers": [
                {
                    "checker": checker,
                    "before": _accepted(Counter(before for before, _ in pairs.elements())),
                    "after": _accepted(Counter(after for _, after in pairs.elements())),
                    "difference": _difference(pairs),
                    "outcomes": [[*pair, number] for pair, number in sorted(pairs.items())],
                }
                for checker, pairs in counts.items()
            ],
            "changes": [
                {"before": before, "after": one.outcome} | {name: getattr(one, name) for name in _SHOWN}
                for before, one in changed
            ],
            "only_before": len(first) - len(both),
            "only_after": len(second) - len(both),
        }

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        return self._found

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        for each in self._found["checkers"]:
            yield f"{each['checker']}: before {_rate(*each['before'])}, after {_rate(*each['after'])}"
            if (found := each["difference"]) is not None:
                both, change, low, high = found
                yield f"  on the {both} that both decide {change:+.1%} ({low:+.1%} to {high:+.1%})"
        changes = self._found["changes"]
        for one in changes[:_NAMED]:
            reason = on_a_line(plain(one["reason"]))
            yield f"{plain(one['record_id'])}  {one['before']} → {one['after']}  {reason}"
        if len(changes) > _NAMED:
            yield f"… {len(changes) - _NAMED} more changes (--json prints all)"
        if not changes:
            yield "No verdict differs."
        before, after = self._found["only_before"], self._found["only_after"]
        if before or after:
            yield f"{before} verdicts are in the first file alone, {after} in the second alone."


def _accepted(outcomes: Counter[str]) -> tuple[int, int]:
    """Accepted and decided."""
    return outcomes["accept"], outcomes["accept"] + outcomes["reject"]


def _difference(pairs: Counter[tuple[str, str]]) -> tuple[int, float, float, float] | None:
    """Records that both decide, the later rate less the earlier one, and its interval; `pairs`: before and after."""
    both = sum(number for pair, number in pairs.items() if "abstain" not in pair)
    gained, lost = pairs["reject", "accept"], pairs["accept", "reject"]
    return (both, (gained - lost) / both, *paired(gained, lost, both)) if both else None


def _rate(accepted: int, decided: int) -> str:
    if not decided:
        return "nothing decided"
    low, high = wilson(accepted, decided)
    return f"{accepted / decided:.1%} of {decided} accepted ({low:.1%} to {high:.1%})"
