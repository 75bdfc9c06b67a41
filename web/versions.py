"""The versions of an application in one series, by the judge and by people's labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas import Calibration, Measured, VersionRate, VersionRates

COMPARED_FROM: Final = 30
"""Verdicts that each of two versions needs."""


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version, compared with the one before it."""

    name: str
    first_at: datetime
    verdicts: int
    rate: float
    change: Measured | None
    unlike: tuple[str, ...]
    labels: int
    true_rate: float
    true_change: Measured | None


def shown_versions(rates: VersionRates | None, calibrations: Iterable[Calibration]) -> list[ShownVersion]:
    """The versions in the order of their first verdicts; empty if there are not two."""
    if rates is None or len(rates.versions) < 2:
        return []
    series = (rates.source, rates.model, rates.checker)
    of_series = (each for each in calibrations if (each.source, each.model, each.checker) == series)
    last = next(of_series, None)
    labelled = list(last.versions) if last is not None else []
    found, before = list[ShownVersion](), None
    for each in rates.versions:
        place = next((place for place, one in enumerate(labelled) if one.version == each.version), None)
        true = None if place is None else labelled[place]
        # A version without labels enough may lie between the two.
        follows = bool(place) and before is not None and labelled[(place or 0) - 1].version == before.version
        found.append(
            ShownVersion(
                name=_name(each),
                first_at=each.first_at,
                verdicts=each.verdicts,
                rate=each.rate,
                change=each.change,
                unlike=each.unlike,
                labels=0 if true is None else true.labels,
                true_rate=0.0 if true is None else true.rate,
                true_change=true.change if true is not None and follows else None,
            )
        )
        before = each
    return found


def _name(rate: VersionRate) -> str:
    """Its metadata: the value alone where there is one."""
    named = {name.partition(".")[2]: value for name, value in rate.version.items()}
    return ", ".join(named.values() if len(named) == 1 else (f"{name} {value}" for name, value in named.items()))
