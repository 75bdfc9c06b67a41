"""`assay calibrate`: thresholds with a promise, from records with human labels."""

import asyncio
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import click
import orjson

from assay.cli.files import reading, size_of
from assay.cli.front_door import (
    NotFinished,
    WrongUse,
    config_option,
    configuration,
    download_models,
    quiet_logs,
    run_errors,
    selected,
)

if TYPE_CHECKING:
    from assay.calibrated import Calibrated
    from assay.config import Configuration
    from checkers.plugin import CheckerPlugin


@click.command(short_help="Thresholds with a promise, from labelled records.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--judge", metavar="JUDGE", help="A judge.backend or judge.local.judge. Default: the configured judge.")
@click.option(
    "--error",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="Of what is decided, at most this share is wrong.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The probability that the promise is kept.",
)
@click.option("--checker", "checkers", multiple=True, metavar="NAME", help="Only this checker; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each checker instead.")
@config_option
def calibrate(
    *,
    file: Path,
    judge: str | None,
    error: float,
    confidence: float,
    checkers: tuple[str, ...],
    as_json: bool,
    config_file: Path | None,
) -> None:
    """Find the scores from which to accept and below which to reject, so that at most --error of either is wrong.

    FILE holds records (JSON lines; - is standard input) with a further field "label": "accept" or "reject", what people
    say of them. The records should be drawn as the later ones are. Prints a table and a section for assay.toml. Exits
    with status 3 if no threshold keeps the promise, and says what could be promised.
    """
    loaded = configuration(config_file)
    plugins = _scoring(loaded, selected(loaded, checkers), named=bool(checkers))
    quiet_logs()
    from assay.labels import LabelUnreadable

    with run_errors(), reading(file) as source:
        configured = _configured(loaded, plugins, judge)
        download_models(configured)
        try:
            found = asyncio.run(_calibrated(configured, plugins, source, error, confidence))
        except LabelUnreadable as fault:
            raise WrongUse(f"{file}, {fault}") from None
    for number, one in enumerate(found):
        if as_json:
            click.echo(orjson.dumps(one.document()).decode())
            continue
        for line in (*([""] if number else []), *one.lines(), *(["", *one.section()] if one.found.keeps else [])):
            click.echo(line)
    if not all(one.found.keeps for one in found):
        raise NotFinished(f"an error of {error:g} with confidence {confidence:g} cannot be promised")


def _scoring(loaded: "Configuration", plugins: "list[CheckerPlugin]", *, named: bool) -> "list[CheckerPlugin]":
    """Those of `plugins` that have thresholds.

    Raises:
        WrongUse: one that was `named` has none, or none has any.
    """
    from checkers.thresholds import ScoringSettings

    scoring = [plugin for plugin in plugins if issubclass(plugin.settings, ScoringSettings)]
    if (named and len(scoring) < len(plugins)) or not scoring:
        others = ", ".join(plugin.name for plugin in plugins if plugin not in scoring)
        able = [
            plugin.name for plugin in loaded.installed.plugins.values() if issubclass(plugin.settings, ScoringSettings)
        ]
        raise WrongUse(f"{others}: its verdicts do not hang on a score; those of {', '.join(able) or 'none'} do")
    return scoring


def _configured(loaded: "Configuration", plugins: "list[CheckerPlugin]", judge: str | None) -> "Configuration":
    """The configuration without thresholds, and with the judge that was asked for."""
    from pydantic import ValidationError

    from checkers.thresholds import Thresholds
    from models.settings import JudgeSettings

    settings = loaded.judge
    if judge is not None:
        backends = get_args(JudgeSettings.model_fields["backend"].annotation)
        named = {"backend": "local", "local": dict(settings.local) | {"judge": judge}}
        try:
            settings = JudgeSettings.model_validate(
                dict(settings) | ({"backend": judge} if judge in backends else named)
            )
        except ValidationError as fault:
            others = "" if judge in backends else f", or {', '.join(backends)}"
            said = fault.errors()[0]["msg"].removeprefix("Value error, ")
            raise WrongUse(f"--judge {judge}: {said}{others}") from None
    if settings.backend == "cascade":
        # The thresholds are those of its first judge.
        settings = settings.model_copy(update={"backend": "local"})
    bare: dict[str, Any] = {
        plugin.name: loaded.checkers[plugin.name].model_copy(update={"thresholds": Thresholds()}) for plugin in plugins
    }
    return dataclasses.replace(loaded, judge=settings, checkers={**loaded.checkers, **bare})


async def _calibrated(
    configured: "Configuration", plugins: "list[CheckerPlugin]", source: BinaryIO, error: float, confidence: float
) -> "list[Calibrated]":
    """Each checker's thresholds; only those that took labelled records."""
    from assay.calibrated import Calibrated
    from assay.calibration import Labelled
    from assay.file_check import CheckedLine, FileCheck, window_of
    from assay.labels import LabelledLines
    from assay.lines import read_lines
    from assay.progress import progress
    from assay.wiring import wired
    from checkers.model_patience import ModelPatience
    from models.wording import counted

    max_bytes = configured.streams.records.max_bytes
    labelled = LabelledLines(read_lines(source, keep_bytes=max_bytes))
    scored: dict[str, list[Labelled]] = {plugin.name: [] for plugin in plugins}
    abstained = dict.fromkeys(scored, 0)
    unfinished = 0
    async with wired(configured, plugins) as service:
        judges = {checker.name: checker.judge_name for checker in service.checkers}
        with progress(size_of(source)) as shown:

            def emit(checked: CheckedLine) -> None:
                nonlocal unfinished
                for verdict in checked.verdicts if checked.taken else ():
                    if verdict.score is None:
                        abstained[verdict.checker] += 1
                    else:
                        accepts = labelled.accepts[checked.line.number]
                        scored[verdict.checker].append(Labelled(verdict.score, accepts))
                for fault in checked.faults:
                    unfinished += 1
                    shown.say(f"line {checked.line.number}: {fault}")
                shown.at(checked.line.end, f"{len(labelled.accepts)} labelled records")

            patience = ModelPatience(shown.say)
            window = window_of(configured.judge)
            await FileCheck(service.checkers, max_bytes=max_bytes, window=window, patience=patience).run(
                aiter(labelled), emit
            )
    if patience.lost or unfinished:
        raise NotFinished("not every labelled record could be judged, so nothing is promised")
    if not labelled.accepts:
        raise WrongUse('no record has a label: each needs a further field "label", which is "accept" or "reject"')
    if labelled.without:
        were = "was" if labelled.without == 1 else "were"
        click.echo(f"{counted(labelled.without, 'line')} without a label {were} passed over", err=True)
    found = [
        Calibrated.of(
            scored[name],
            error=error,
            confidence=confidence,
            checker=name,
            judge=judges[name],
            abstained=abstained[name],
        )
        for name in scored
        if scored[name] or abstained[name]
    ]
    if not found:
        raise WrongUse(f"no labelled record is of a kind that {' or '.join(scored)} takes")
    return found
