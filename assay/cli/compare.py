"""`assay compare`: the verdicts of two files that differ, or two versions, and the difference of the rates."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click
from pydantic import TypeAdapter, ValidationError

from agents.monitor.versions import with_changes
from assay.cli.common import EXISTING, NotFinished, WrongUse, configured, print_figures
from assay.config import Configuration
from checkers.intervals import paired, wilson
from checkers.wording import plain
from models.wording import on_a_line
from schemas import Calibration, RateEstimate, Verdict, VersionRate, explain
from streams.settings import StreamSettings
from streams.topic_reader import TopicView

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
@click.option("--json", "as_json", is_flag=True, help="Print the figures, and every change, as JSON.")
@configured
def compare(*, loaded: Configuration, before: Path | None, after: Path | None, by: str | None, as_json: bool) -> None:
    """Compare the verdicts in BEFORE with those in AFTER, files that `assay check --out` wrote.

    Verdicts are paired by checker, source and record id. The difference of the success rates, with its 95% interval, is
    that of the records that both files decide.

    With --by, compare the versions of the application on the stream instead, each with the one before, by metadata that
    records.version_metadata names.
    """
    if by is not None and before is None:
        print_figures(VersionComparison.of(asyncio.run(_calibrations(loaded.streams)), by), as_json=as_json)
        return
    if by is not None or before is None or after is None:
        raise WrongUse("give either two files or --by metadata.KEY")
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


async def _calibrations(settings: StreamSettings) -> Collection[Calibration]:
    """The last one of each series."""
    last: dict[Key, Calibration] = {}
    async for each in TopicView(settings.kafka, [settings.topics.calibration], TypeAdapter(Calibration)).messages():
        last[each.checker, each.source, each.model] = each
    return last.values()


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """The versions of an application, each compared with the one before."""

    by: str
    checkers: Mapping[str, Sequence[VersionRate]]

    @classmethod
    def of(cls, series: Iterable[Calibration], by: str) -> "VersionComparison":
        """Compare them over all series of each checker."""
        parts: dict[str, dict[str, list[tuple[str, VersionRate]]]] = {}
        for each in series:
            for one in each.versions:
                if by in one.version:
                    parts.setdefault(each.checker, {}).setdefault(one.version[by], []).append((each.source, one))
        found = {name: with_changes([_merged(one) for one in of.values()]) for name, of in sorted(parts.items())}
        if not any(versions[1:] for versions in found.values()):
            raise NotFinished(f"no two versions are known by {by}; records.version_metadata names what tells them")
        return cls(by, found)

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        return {name: [each.model_dump(mode="json") for each in found] for name, found in self.checkers.items()}

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        for name, versions in self.checkers.items():
            yield f"{name}, by {self.by}:"
            for each in versions:
                rate = f"{each.judged.rate:.1%} of {each.verdicts} accepted"
                if each.labelled is not None:
                    rate += f", {each.labelled.rate:.1%} good by {each.labels} labels"
                yield f"  {plain(each.version[self.by])}: {rate}"
                if (found := each.change) is not None:
                    proved = "worse" if found.high < 0 else "better" if found.low > 0 else "not proved to differ"
                    interval = f"{found.low:+.1%} to {found.high:+.1%} at every look"
                    yield f"    {found.estimate:+.1%} ({interval}) from the version before: {proved}"
                if each.unlike:
                    yield f"    The traffic differs ({', '.join(each.unlike)}): the difference may come from there."


def _merged(series: Sequence[tuple[str, VersionRate]]) -> VersionRate:
    """One rate of a version in several series, each by its verdicts and with its source."""
    parts, traffic = [each for _, each in series], defaultdict[str, Counter[str]](Counter)
    for source, each in series:
        for part, values in [*each.traffic.items(), ("source", {source: each.verdicts})]:
            traffic[part].update(values)
    whole: dict[str, object] = {"traffic": traffic, "first_at": min(each.first_at for each in parts)}
    whole |= {name: sum(getattr(each, name) for each in parts) for name in ("verdicts", "labels")}
    for name in ("judged", "labelled"):
        found = [(each.verdicts, rate) for each in parts if (rate := getattr(each, name)) is not None]
        number = sum(verdicts for verdicts, _ in found) or 1
        rate = min(1.0, sum(verdicts * each.rate for verdicts, each in found) / number)
        variance = sum(verdicts**2 * each.variance for verdicts, each in found) / number**2
        whole[name] = RateEstimate(rate=rate, variance=variance) if found else None
    return parts[0].model_copy(update=whole)


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
