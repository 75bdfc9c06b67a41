"""`assay compare`: the verdicts of two files that differ, or two versions, and the difference of the rates."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click
from pydantic import TypeAdapter

from agents.monitor.versions import with_changes
from assay.cli.common import EXISTING, CannotRun, NotFinished, WrongUse, configured, print_report
from assay.config import Configuration
from checkers.intervals import paired, wilson
from checkers.lines import read_forms
from checkers.wording import plain
from models.wording import on_a_line
from schemas import Calibration, Verdict
from schemas.labels import RateEstimate, VersionRate
from streams.settings import StreamSettings
from streams.topic_reader import TopicView

_NAMED = 20
"""Changes that are shown to a person; `--json` has all."""

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
        versions = versions_by(by, asyncio.run(_calibrations(loaded.streams)))
        figures = {name: [each.model_dump(mode="json") for each in found] for name, found in versions.items()}
        print_report(figures, _version_lines(by, versions), as_json=as_json)
        return
    if by is not None or before is None or after is None:
        raise WrongUse("give either two files or --by metadata.KEY")
    first, second = (
        {(one.checker, one.source, one.record_id): one for one in read_forms(Verdict, file, "verdict", fault=CannotRun)}
        for file in (before, after)
    )
    found = _differences(first, second)
    print_report(found, _lines(found), as_json=as_json)


async def _calibrations(settings: StreamSettings) -> Collection[Calibration]:
    """The last one of each series."""
    view = TopicView(settings.kafka, [settings.topics.calibration], TypeAdapter(Calibration))
    return {(each.checker, each.source, each.model): each async for each in view.messages()}.values()


def versions_by(key: str, series: Iterable[Calibration]) -> Mapping[str, Sequence[VersionRate]]:
    """The versions of an application over all series of each checker, each compared with the one before."""
    parts: dict[str, dict[str, list[tuple[str, VersionRate]]]] = {}
    for each in series:
        for one in each.versions:
            if key in one.version:
                parts.setdefault(each.checker, {}).setdefault(one.version[key], []).append((each.source, one))
    found = {name: with_changes([_merged(one) for one in of.values()]) for name, of in sorted(parts.items())}
    if not any(versions[1:] for versions in found.values()):
        raise NotFinished(f"no two versions are known by {key}; records.version_metadata names what tells them")
    return found


def _version_lines(key: str, checkers: Mapping[str, Sequence[VersionRate]]) -> Iterator[str]:
    for name, versions in checkers.items():
        yield f"{name}, by {key}:"
        for each in versions:
            rate = f"{each.judged.rate:.1%} of {each.verdicts} accepted"
            if each.labelled is not None:
                rate += f", {each.labelled.rate:.1%} good by {each.labels} labels"
            yield f"  {plain(each.version[key])}: {rate}"
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


def _differences(first: Mapping[Key, Verdict], second: Mapping[Key, Verdict]) -> dict[str, Any]:
    """The figures of two files, as JSON has them."""
    counts, changes = defaultdict[str, Counter[tuple[str, str]]](Counter), list[dict[str, Any]]()
    both = sorted(first.keys() & second.keys())
    if not both:
        raise NotFinished("the files have no verdict on the same record by the same checker")
    for key in both:
        before, after = first[key].outcome, second[key].outcome
        counts[key[0]][before, after] += 1
        if before != after:
            about = second[key].model_dump(include={"checker", "source", "record_id", "reason"})
            changes.append({"before": before, "after": after, **about})
    checkers = [
        {
            "checker": checker,
            "before": _accepted(before for before, _ in pairs.elements()),
            "after": _accepted(after for _, after in pairs.elements()),
            "difference": _difference(pairs),
            "outcomes": [[*pair, number] for pair, number in sorted(pairs.items())],
        }
        for checker, pairs in counts.items()
    ]
    alone = {"only_before": len(first) - len(both), "only_after": len(second) - len(both)}
    return {"checkers": checkers, "changes": changes, **alone}


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for each in found["checkers"]:
        yield f"{each['checker']}: before {_rate(*each['before'])}, after {_rate(*each['after'])}"
        if each["difference"] is not None:
            both, change, low, high = each["difference"]
            yield f"  on the {both} that both decide {change:+.1%} ({low:+.1%} to {high:+.1%})"
    changes = found["changes"]
    for one in changes[:_NAMED]:
        yield f"{plain(one['record_id'])}  {one['before']} → {one['after']}  {on_a_line(plain(one['reason']))}"
    if len(changes) > _NAMED:
        yield f"… {len(changes) - _NAMED} more changes (--json prints all)"
    if not changes:
        yield "No verdict differs."
    if found["only_before"] or found["only_after"]:
        yield f"{found['only_before']} verdicts are in the first file alone, {found['only_after']} in the second alone."


def _accepted(outcomes: Iterable[str]) -> tuple[int, int]:
    """Accepted and decided."""
    counts = Counter(outcomes)
    return counts["accept"], counts["accept"] + counts["reject"]


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
