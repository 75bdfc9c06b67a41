"""Long-tail probes: the model's own knowledge of the head and of the tail (LINT), and a build of statements (LINK)."""

import argparse
import asyncio
from dataclasses import replace
from pathlib import Path

from benchmarks.methods.model import asked, configured, figures
from lab.link import statements
from lab.link.rules import read_rules
from lab.probes import ProbeRun

_RULES = ("never-left-country", "too-heavy-for-boat", "deficiency-and-food")
# A build on two cores in an hour: more than 60 statements of three rules.
_VALUES, _BEAMS = 5, 12


def run(options: argparse.Namespace) -> None:
    """Print accuracy on head and tail over the bundled statements, paired as well, and a row a template."""
    with asked(options) as models:
        settings = configured(options)
        probes = ProbeRun(
            Path("bundled"),
            settings,
            models,
            names=[options.model],
            ways=["zero-shot"],
            limit=max(options.rows // 25, 1),
            seed=0,
        )
        print(probes.note)
        print("\n".join(figures(probes).lines))


def build(options: argparse.Namespace) -> None:
    """Print what a build of three bundled rules finds, and write its statements next to the answers."""
    folder = options.keep.with_name(f"{options.model}.corpus")
    folder.mkdir(parents=True, exist_ok=True)
    scorers = {"scorer": "endpoint:judge"}
    settings = configured(options)
    # Several sentences at once are scored faster by a server whose requests share its cores.
    settings = replace(settings, judge=settings.judge.model_copy(update={"concurrency": 4}))
    if options.measurer:
        another = settings.subjects[options.model].model_copy(
            update={"base_url": options.measurer, "model": options.measurer_model}
        )
        settings = replace(settings, subjects={**settings.subjects, "measurer": another})
        scorers["measurer"] = "endpoint:measurer"
    rules = read_rules("bundled", _RULES)
    built = statements.build(settings, rules, folder, scorers, values=_VALUES, beams=_BEAMS)
    report, _ = asyncio.run(built)
    print("\n".join(report.lines))
