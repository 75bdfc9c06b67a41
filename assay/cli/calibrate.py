"""`assay calibrate`: thresholds with a promise, from records with human labels."""

import asyncio
import dataclasses
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
import orjson

from agents.monitor.true_rate import Sums, agreement
from assay.cli.common import (
    EXISTING_OR_DASH,
    NotFinished,
    WrongUse,
    configured,
    download_models,
    progress,
    reading,
    size_of,
)
from assay.cli.export import DRAWN
from assay.config import Configuration
from assay.file_check import CheckedLine, check_lines, window_of
from assay.wiring import wired
from checkers.calibration import Outcome, shortfall
from checkers.calibration import calibrate as calibrated
from checkers.checker import ScoringSettings, Thresholds
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from models.wording import counted
from schemas import Verdict
from streams.record_lines import Line, read_lines

_ERROR = click.FloatRange(0, 0.5, min_open=True, max_open=True)
_SURE = click.FloatRange(0, 1, min_open=True, max_open=True)


class _Label(NamedTuple):
    """A person's label of a record, its sampling rate, and whether it is in the even sample."""

    accept: bool
    probability: float = 1.0
    even: bool = True


_Judged: TypeAlias = list[tuple[Verdict, _Label]]
"""The labelled records of one checker."""


@click.command()
@click.argument("file", type=EXISTING_OR_DASH)
@click.option("--error", type=_ERROR, default=0.1, show_default=True, help="At most this part of decisions is wrong.")
@click.option("--confidence", type=_SURE, default=0.95, show_default=True, help="Probability that the promise holds.")
@click.option("--checker", "checkers", multiple=True, metavar="NAME", help="Only this checker; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each checker instead.")
@configured
def calibrate(
    *, loaded: Configuration, file: Path, error: float, confidence: float, checkers: tuple[str, ...], as_json: bool
) -> None:
    """Find the scores from which to accept and below which to reject, so that at most --error of either is wrong.

    FILE holds records (JSON lines; - is standard input) with a further field "label", "accept" or "reject": what people
    say. Draw the records from the traffic that is judged later; `assay export records --labelled` writes those that
    people labelled. Prints a table and a section for assay.toml. Exits with status 3 if no threshold keeps the promise,
    and prints what could be promised.
    """
    selected = loaded.installed.select(checkers)
    plugins = [plugin for plugin in selected if issubclass(plugin.settings, ScoringSettings)]
    if not plugins or (checkers and len(plugins) < len(selected)):
        others = ", ".join(plugin.name for plugin in selected if plugin not in plugins)
        raise WrongUse(f"{others}: its verdicts do not depend on a score")
    download_models(loaded)
    scored = asyncio.run(_scored(_without_thresholds(loaded, plugins), plugins, file))
    found = [_found(checker, judge, each, error, confidence) for (checker, judge), each in scored.items() if each]
    if not found:
        raise WrongUse(f"no labelled record is of a kind that {' or '.join(checker for checker, _ in scored)} takes")
    for number, one in enumerate(found):
        if as_json:
            click.echo(orjson.dumps(one).decode())
        else:
            section = loaded.installed.plugins[one["checker"]].section or one["checker"]
            click.echo("\n".join([*([""] if number else []), *_table(one, section)]))
    if not all(one["kept"] for one in found):
        raise NotFinished(f"an error of {error:g} with confidence {confidence:g} cannot be promised")


def _found(checker: str, judge: str, judged: _Judged, error: float, confidence: float) -> dict[str, Any]:
    """The thresholds of a checker, as JSON has them."""
    even = [(verdict.score, label.accept) for verdict, label in judged if label.even]
    labelled = [(score, accept) for score, accept in even if score is not None]
    accept, reject = calibrated(labelled, error=error, confidence=confidence)
    decided = accept.decided + reject.decided

    def side(outcome: Outcome) -> dict[str, Any]:
        one = accept if outcome == "accept" else reject
        possible = needed = None
        if one.value is None:
            possible, needed = shortfall(labelled, outcome, error=error, confidence=confidence)
        return {"decided": one.decided, "wrong": one.wrong, "possible_error": possible, "labels_needed": needed}

    return {
        "checker": checker,
        "judge": judge,
        "error": error,
        "confidence": confidence,
        "kept": decided > 0,
        "accept_from": accept.value,
        "reject_below": reject.value,
        "labelled": len(judged),
        "uneven": len(judged) - len(even),
        "abstained": len(even) - len(labelled),
        "labels": len(labelled),
        "decided": decided,
        "wrong": accept.wrong + reject.wrong,
        "accept": side("accept"),
        "reject": side("reject"),
        "agreement": _agreement(judged),
    }


def _agreement(judged: _Judged) -> dict[str, Any]:
    """How far the judge agrees with people, as JSON has it."""
    sums: dict[str, Sums] = {"accept": Sums(), "reject": Sums()}
    agreed = 0
    for verdict, label in judged:
        if (side := sums.get(verdict.outcome)) is not None:
            # Each counts for as many as it was drawn from.
            side.verdicts += round(1 / label.probability)
            side.add(float(label.accept), label.probability)
            agreed += label.accept == (verdict.outcome == "accept")
    found = agreement(sums["accept"], sums["reject"], "kappa")
    of = sum(side.labels for side in sums.values())
    return {"agreed": agreed, "of": of, "kappa": None if found is None else found[0].model_dump()}


def _table(found: Mapping[str, Any], section: str) -> Iterator[str]:
    """The table and the promise with its section for `assay.toml`; why not, where there is none."""
    error = found["error"]
    agreed = found["agreement"]
    said = f"agrees with your people on {agreed['agreed']} of {agreed['of']}"
    if (kappa := agreed["kappa"]) is not None:
        said += f" (kappa {kappa['estimate']:.2f}, {kappa['low']:.2f} to {kappa['high']:.2f})"
    yield f"{found['checker']}, judged by {found['judge']}: {said}"
    yield f"{counted(found['labelled'], 'labelled record')}, of which thresholds can use {found['labels']}"
    if found["uneven"]:
        yield f"  {found['uneven']} skipped at random: outcomes that were drawn more often must not count for more"
    if found["abstained"]:
        yield f"  {found['abstained']} without a score: the checker abstains, which no threshold changes"
    yield f"{'':<14}{'score':>9}{'decided':>9}{'wrong':>7}{'of them':>9}"
    sides = ("accept", "accept_from"), ("reject", "reject_below")
    for outcome, key in sides:
        value, side = found[key], found[outcome]
        score, share = ("-", "-") if value is None else (f"{value:g}", f"{side['wrong'] / side['decided']:.1%}")
        yield f"{key.replace('_', ' '):<14}{score:>9}{side['decided']:>9}{side['wrong']:>7}{share:>9}"
    yield f"{'undecided':<14}{'':>9}{found['labels'] - found['decided']:>9}"
    yield ""
    if found["kept"]:
        yield f"With confidence {found['confidence']:g}, at most {error:g} of what is accepted is wrong, and"
        yield "at most as much of what is rejected, if the labelled records are drawn as the later ones are."
    for outcome, key in sides:
        if found[key] is None:
            possible, needed = found[outcome]["possible_error"], found[outcome]["labels_needed"]
            promise = f"{possible:.2f}" if possible else "no error below 0.5"
            enough = f"about {needed:,} labels" if needed else "not even twenty times as many"
            could = f"these labels could promise {promise}; {enough} would keep {error:g}"
            yield f"No threshold to {outcome} keeps an error of {error:g}: {could}."
    if found["kept"]:
        yield f"\n[{section}.thresholds]"
        yield from (f"{key} = {found[key]}" for _, key in sides if found[key] is not None)
        yield f"judge = {json.dumps(found['judge'])}"


def _without_thresholds(loaded: Configuration, plugins: list[CheckerPlugin]) -> Configuration:
    settings = loaded.judge
    if settings.backend == "cascade":
        # The thresholds are those of its first judge.
        settings = settings.model_copy(update={"backend": "local"})
    bare: dict[str, Any] = {
        plugin.name: loaded.checkers[plugin.name].model_copy(update={"thresholds": Thresholds()}) for plugin in plugins
    }
    return dataclasses.replace(loaded, judge=settings, checkers={**loaded.checkers, **bare})


async def _scored(loaded: Configuration, plugins: list[CheckerPlugin], file: Path) -> dict[tuple[str, str], _Judged]:
    """The labelled records by the names of checker and judge."""
    max_bytes = loaded.streams.records.max_bytes
    labels: dict[int, _Label] = {}
    counts: Counter[str] = Counter()
    async with wired(loaded, plugins) as service:
        scored = {checker.name: _Judged() for checker in service.checkers}
        judges = {checker.name: checker.judge_name for checker in service.checkers}
        with reading(file) as source, progress(size_of(source)) as shown:

            def emit(checked: CheckedLine) -> None:
                for verdict in checked.verdicts:
                    if verdict.checker in scored:
                        scored[verdict.checker].append((verdict, labels[checked.line.number]))
                for fault in checked.faults:
                    counts["unfinished"] += 1
                    shown.say(f"line {checked.line.number}: {fault}")
                shown.at(checked.line.end, f"{len(labels)} labelled records")

            patience = ModelPatience(shown.say)
            labelled = _labelled(file, read_lines(source, keep_bytes=max_bytes), labels, counts)
            window = window_of(loaded)
            await check_lines(service.checkers, labelled, emit, patience, max_bytes=max_bytes, window=window)
    if patience.lost or counts["unfinished"]:
        raise NotFinished("not every labelled record could be judged, so nothing is promised")
    if not labels:
        raise WrongUse('no record has a label: each needs a further field "label", which is "accept" or "reject"')
    if without := counts["without"]:
        click.echo(f"skipped without a label: {counted(without, 'line')}", err=True)
    return {(name, judges[name]): each for name, each in scored.items()}


async def _labelled(
    file: Path, lines: AsyncIterator[Line], labels: dict[int, _Label], counts: Counter[str]
) -> AsyncIterator[Line]:
    """The lines with a label, which is added to `labels` by line number; counts those `without`; raises WrongUse."""
    async for line in lines:
        try:
            record = orjson.loads(line.data)
        except orjson.JSONDecodeError:
            record = None
        label = record.get("label") if isinstance(record, dict) else None
        if label in ("accept", "reject"):
            drawn = record.get(DRAWN)
            labels[line.number] = _Label(
                label == "accept", *(drawn if isinstance(drawn, list) and len(drawn) == 2 else ())
            )
        elif label is not None:
            said = f"line {line.number}: label is {str(label)[:40]!r}"
            raise WrongUse(f"{file}, {said}; allowed are accept and reject")
        elif line.lines == 1:
            counts["without"] += 1
            continue
        # The reader names the fault of a record over several lines.
        yield line
