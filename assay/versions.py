"""Two versions of an application, compared by what the trust monitor and people's labels know of them."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from agents.monitor.versions import COMPARED_FROM, change, merged_rate, unlike
from assay.cli.common import NotFinished, WrongUse
from assay.config import Configuration
from assay.messages import opened_store
from checkers.wording import plain
from schemas import Calibration, Measured, VersionRate, VersionRates
from streams.topic_view import TopicView


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions under one checker."""

    checker: str
    before: VersionRate
    after: VersionRate
    labelled: tuple[VersionRate, VersionRate] | None
    """By people's labels, where both have enough."""


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Two versions under each checker."""

    by: str
    pairs: list[VersionPair]

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        return {"by": self.by, "checkers": [self._figures(each) for each in self.pairs]}

    def _figures(self, pair: VersionPair) -> Mapping[str, Any]:
        sides = (pair.before, pair.after), pair.labelled
        shown = [None if both is None else [one.model_dump(mode="json") for one in both] for both in sides]
        return {
            "checker": pair.checker,
            "versions": [pair.before.version[self.by], pair.after.version[self.by]],
            "rates": shown[0],
            "labelled": shown[1],
            "difference": _dumped(change(pair.before, pair.after)),
            "labelled_difference": None if pair.labelled is None else _dumped(change(*pair.labelled)),
            "unlike": unlike(pair.before, pair.after),
        }

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        for pair in self.pairs:
            first, second = (plain(one.version[self.by]) for one in (pair.before, pair.after))
            yield f"{pair.checker}: {self.by} {first} and {second}"
            for one in (pair.before, pair.after):
                yield f"  {plain(one.version[self.by])}: {one.rate:.1%} of {one.verdicts} accepted"
            if (found := change(pair.before, pair.after)) is None:
                yield f"  compared from {COMPARED_FROM} verdicts of each on"
            else:
                yield f"  {second} less {first}: {_said(found)}"
            if pair.labelled is not None and (true := change(*pair.labelled)) is not None:
                labels = " and ".join(str(one.labels) for one in pair.labelled)
                yield f"  by people's labels, {labels}: {_said(true)}"
            if parts := unlike(pair.before, pair.after):
                yield f"  The traffic differs ({', '.join(parts)}): the difference may come from there."


def compared_versions(
    loaded: Configuration, by: str, wanted: Sequence[str] | None, named: Mapping[str, Collection[str]]
) -> VersionComparison:
    """Compare two versions, the two most recent unless some are `wanted`, in all series with these names.

    Raises:
        WrongUse: no verdict has such metadata, or there is no such version.
        NotFinished: there are not two versions.
        Misconfigured, StreamError: store or broker cannot be read.
    """
    rates, calibrations = _from_store(loaded.store.url) if loaded.store.url else asyncio.run(_from_topics(loaded))
    rates = [each for each in rates if _is_named(each, named)]
    if not rates:
        raise NotFinished(
            "no versions are known: the trust monitor counts them once two have verdicts, where "
            "records.version_metadata names the metadata that tells them"
        )
    keys = sorted({key for each in rates for one in each.versions for key in one.version})
    if by not in keys:
        raise WrongUse(f"no verdict has {by!r}; --by takes {', '.join(map(plain, keys))}")
    # Labels of the last configuration alone: the first of each series.
    last: dict[tuple[str, str, str], Calibration] = {}
    for each in calibrations:
        if _is_named(each, named):
            last.setdefault((each.source, each.model, each.checker), each)
    judged, labelled = _by_checker(rates, by), _by_checker(last.values(), by)
    pairs = []
    for checker, found in sorted(judged.items()):
        names = list(wanted or sorted(found, key=lambda name: found[name].first_at)[-2:])
        if wanted and (unknown := [name for name in names if name not in found]):
            raise WrongUse(f"{checker} has no version {unknown[0]!r}; there are {', '.join(map(plain, sorted(found)))}")
        if len(set(names)) < 2:
            continue
        of_labels = [labelled.get(checker, {}).get(name) for name in names]
        both = (of_labels[0], of_labels[1])
        pairs.append(
            VersionPair(checker, found[names[0]], found[names[1]], both if both[0] and both[1] else None)  # type: ignore[arg-type]
        )
    if not pairs:
        raise NotFinished(f"there are not two versions by {by}")
    return VersionComparison(by, pairs)


def _by_checker(series: Iterable[VersionRates | Calibration], by: str) -> dict[str, dict[str, VersionRate]]:
    """By checker and version one rate for all series and all else that tells versions."""
    parts: defaultdict[str, defaultdict[str, list[VersionRate]]] = defaultdict(lambda: defaultdict(list))
    for each in series:
        for one in each.versions:
            if by in one.version:
                traffic = one.traffic | {"source": {each.source: one.verdicts}}
                parts[each.checker][one.version[by]].append(one.model_copy(update={"traffic": traffic}))
    return {
        checker: {name: merged_rate(rates, {by: name}) for name, rates in of_checker.items()}
        for checker, of_checker in parts.items()
    }


def _is_named(series: VersionRates | Calibration, named: Mapping[str, Collection[str]]) -> bool:
    return all(not values or getattr(series, name) in values for name, values in named.items())


def _from_store(url: str) -> tuple[list[VersionRates], list[Calibration]]:
    from store.reading import Wanted
    from store.reviews import Reviews

    with opened_store(url) as reader:
        return reader.version_rates(Wanted()), Reviews(reader.engine).calibrations()


async def _from_topics(loaded: Configuration) -> tuple[list[VersionRates], list[Calibration]]:
    """The last message of each series, the latest first."""
    kafka, topics = loaded.streams.kafka, loaded.streams.topics
    rates: dict[tuple[str, ...], VersionRates] = {}
    async for each in TopicView(kafka, [topics.versions], TypeAdapter(VersionRates)).messages():
        rates[each.source, each.model, each.checker] = each
    found: dict[tuple[str, ...], Calibration] = {}
    async for one in TopicView(kafka, [topics.calibration], TypeAdapter(Calibration)).messages():
        found[one.source, one.model, one.checker, one.config_digest, one.rubric_version] = one
    return list(rates.values()), sorted(found.values(), key=lambda one: one.updated_at, reverse=True)


def _said(found: Measured) -> str:
    proved = "worse" if found.high < 0 else "better" if found.low > 0 else "neither is proved to be better"
    return f"{found.estimate:+.1%} ({found.low:+.1%} to {found.high:+.1%} at every look): {proved}"


def _dumped(found: Measured | None) -> Mapping[str, float] | None:
    return None if found is None else found.model_dump(mode="json")
