"""What rejects have in common: whether the model that is at fault is named, and nothing else.

    python -m benchmarks.failures --data FOLDER [--only exchange,shuffled] [--shuffles N]

Recorded summaries by 15 models, FOLDER holds llm_summary_traffic/; an output is rejected where a recorded detector
finds it inconsistent. Each has its model as `metadata.release`, its document, and an hour, of 60 outputs each.

`exchange`: an application whose good model is exchanged for each of the others. A figure is
wrong if anything but the new release is named. `shuffled`: all 15 in one application, with outcomes dealt out at
random, where one in twenty may name anything.
"""

import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.datasets import rows
from benchmarks.running import Part, run_parts
from benchmarks.tables import table
from benchmarks.trust.drift import GOOD
from schemas import Attribute, Commonality
from store.commonalities import commonalities

DETECTORS = ("hhem_2_1", "trueteacher")
_CONSISTENT = 0.5
_HOURLY = 60
_MOST_NAMED = 0.05


class Output(NamedTuple):
    """A summary."""

    model: str
    document: str
    rejected: dict[str, bool]
    """By detector."""


def outputs(data: Path) -> list[Output]:
    """All of them, in their recorded order."""
    return [
        Output(row["llm"], row["doc"], {name: float(row[name]) < _CONSISTENT for name in DETECTORS})
        for row in rows(data, "llm_summary_traffic", "responses.jsonl")
    ]


def having(seen: Iterable[Output]) -> list[frozenset[Attribute]]:
    """The attributes of each, in order."""
    about = (
        {"metadata.release": one.model, "document": one.document, "hour": f"{place // _HOURLY:03}"}
        for place, one in enumerate(seen)
    )
    return [frozenset(Attribute(*item) for item in each.items()) for each in about]


def named(attributes: Sequence[frozenset[Attribute]], rejected: Sequence[bool]) -> list[Commonality]:
    """What the rejects have in common."""
    by = {of: [one for one, bad in zip(attributes, rejected, strict=True) if bad is of] for of in (True, False)}
    return commonalities(by[True], by[False])


def measure_exchange(seen: Sequence[Output]) -> bool:
    """Print what is named after each exchange; false if that is anything but the new release."""
    found, well = [], True
    good = [one for one in seen if one.model == GOOD]
    for detector in DETECTORS:
        for model in sorted({one.model for one in seen} - {GOOD}):
            both = [*good, *(one for one in seen if one.model == model)]
            rejected = [one.rejected[detector] for one in both]
            common = named(having(both), rejected)
            well &= all(one.name == "metadata.release" and one.value == model for one in common)
            first = len(good)
            shares = (sum(part) / len(part) for part in (rejected[:first], rejected[first:]))
            said = "; ".join(one.line for one in common) or "nothing"
            found.append([detector, model, *(f"{share:.1%}" for share in shares), said])
    print(table(["detector", "exchanged for", "rejected before", "after", "named"], found))
    return well


def measure_shuffled(seen: Sequence[Output], shuffles: int) -> bool:
    """Print how often anything is named though outcomes are random; false if that is more than one in twenty."""
    rng, attributes, well = random.Random(45), having(seen), True
    found = []
    for detector in DETECTORS:
        rejected = [one.rejected[detector] for one in seen]
        times = 0
        for _ in range(shuffles):
            rng.shuffle(rejected)
            times += bool(named(attributes, rejected))
        found.append([detector, shuffles, times, f"{times / shuffles:.1%}"])
        well &= times / shuffles <= _MOST_NAMED
    print(table(["detector", "shuffles", "in which anything is named", "share"], found))
    return well


PARTS = {
    "exchange": Part(lambda options: measure_exchange(outputs(options.data)), needs_data=True),
    "shuffled": Part(lambda options: measure_shuffled(outputs(options.data), options.shuffles), needs_data=True),
}


if __name__ == "__main__":
    sys.exit(run_parts("failures", PARTS, __doc__, {"--shuffles": (1000, "of each detector's outcomes")}))
