"""`assay export records`: a data set of the store's verdicts, with people's labels, drawn evenly over failures."""

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from agents.routing import sample_point
from assay.agreement import DRAWN, decided
from assay.messages import opened_store
from models.wording import counted
from schemas import Envelope, Label, Verdict, attributes_of, digest, to_json
from streams.lookup import ResultHeader

if TYPE_CHECKING:
    from assay.cli.export import Export
    from store.reading import Reader, Series

_LOOKED_AT: Final = 10_000
"""Verdicts, the latest, where those without a label are wanted as well."""
_GROUPED: Final = 1000
"""Rejects of a series whose faults are compared; the others are a group."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ABOUT_IT: Final = {*Envelope.model_fields, "kind", "contexts", "samples"}
"""Fields of a record that are not its own text."""


class _Candidate(NamedTuple):
    verdict: Verdict
    labels: Sequence[Label]
    drawn_with: float | None
    """The probability that people were asked about it; None where it was not drawn."""

    @property
    def point(self) -> float:
        """Its place in a random order, the same each time."""
        return sample_point("records", self.verdict.id)


@dataclass(kw_only=True)
class RecordSet:
    """One reading of the store."""

    store: str
    records: "Export"
    """Reads the record of a verdict."""
    rubric_version: str
    labelled: bool
    distinct: bool
    by_failure: bool
    limit: int | None = None

    def __post_init__(self) -> None:
        self.groups: dict[str, list[int]] = {}
        """By name the verdicts of each group, and the records written."""
        self.repeated = 0

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, in a random order that is the same each time; by failure from each group in turns.

        Raises:
            StreamError: the store does not answer.
        """
        async with AsyncExitStack() as stack:
            reader = stack.enter_context(opened_store(self.store))
            of = _by_failure(reader, self._candidates(reader)) if self.by_failure else {"all": self._candidates(reader)}
            self.groups = {name: [len(group), 0] for name, group in of.items()}
            written: list[tuple[_Candidate, str, dict[str, Any]]] = []
            seen, reached = set[str](), Counter[str]()
            for name, one in _in_turns(of):
                if len(written) == self.limit:
                    break
                reached[name] += 1
                found = await self.records.record(ResultHeader.read(to_json(one.verdict)), reader, stack)
                if found is None:
                    continue
                key, own = f"{one.verdict.source}\x1f{one.verdict.record_id}", _text(found.record)
                if key in seen or (self.distinct and own in seen):
                    self.repeated += 1
                    continue
                seen |= {key, own}
                self.groups[name][1] += 1
                written.append((one, name, orjson.loads(found.data)))
        drawn = {name: reached[name] / len(group) for name, group in of.items() if group}
        for line in _with_labels([(one, drawn[name], record) for one, name, record in written]):
            yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        yield f"{counted(sum(written for _, written in self.groups.values()), 'record')} from the store"
        for name, (verdicts, written) in self.groups.items() if self.by_failure else ():
            yield f"  {written} of {counted(verdicts, 'verdict')}: {name[:200]}"
        if self.repeated:
            yield f"  {self.repeated} skipped that were there already"
        yield from self.records.missing()

    def _candidates(self, reader: "Reader") -> list[_Candidate]:
        from store.reading import Wanted
        from store.reviews import Reviews

        reviews, labels = Reviews(reader.engine), defaultdict[str, list[Label]](list)
        for label in reviews.by_experts(self.rubric_version):
            labels[label.verdict_id].append(label)
        ids: Collection[str] = labels
        if not self.labelled:
            wanted = Wanted(outcomes=("accept", "reject"))
            ids, page = [], reader.verdicts(wanted)
            while page and len(ids) < _LOOKED_AT:
                ids.extend(each.id for each in page)
                page = reader.verdicts(wanted, before=page[-1].key)
        found = []
        for verdict in filter(None, map(reader.verdict, ids)):
            said, takes = labels.get(verdict.id, ()), self.records.takes(ResultHeader.read(to_json(verdict)))
            if takes and verdict.outcome != "abstain" and (decided(said) is not None or not self.labelled):
                asked = reviews.asked(verdict.id)
                found.append(_Candidate(verdict, said, asked and asked.request.drawn_with))
        return sorted(found, key=lambda one: one.point)


def _by_failure(reader: "Reader", candidates: Iterable[_Candidate]) -> dict[str, list[_Candidate]]:
    """The accepts, and the rejects of each series by what they have in common, or by similar faults."""
    from store.failures import explained_by, fault_groups, read_failures
    from store.reading import Series

    groups, rejects = defaultdict[str, list[_Candidate]](list), defaultdict["Series", list[_Candidate]](list)
    for one in candidates:
        if one.verdict.outcome == "accept":
            groups["accepted"].append(one)
        else:
            rejects[Series(one.verdict.source, one.verdict.model, one.verdict.checker)].append(one)
    for series, own in rejects.items():
        common = read_failures(reader, series, _EPOCH, datetime.now(UTC)).common
        left = dict[str, _Candidate]()
        for one in own:
            if cause := explained_by(attributes_of(one.verdict), common):
                groups[f"{cause.name} {cause.value}"].append(one)
            else:
                left[one.verdict.id] = one
        for group in fault_groups([one.verdict for one in [*left.values()][:_GROUPED]]):
            groups[group.reason] += [left.pop(id_) for id_ in group.ids]
        if left:
            groups["others"] += left.values()
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))


def _in_turns(groups: dict[str, list[_Candidate]]) -> Iterator[tuple[str, _Candidate]]:
    for place in range(max(map(len, groups.values()), default=0)):
        yield from ((name, group[place]) for name, group in groups.items() if place < len(group))


def _with_labels(written: Sequence[tuple[_Candidate, float, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The records with what people say. `assay calibrate` uses those that are an even sample of the traffic."""
    least = min((one.drawn_with * share for one, share, _ in written if one.drawn_with), default=1.0)
    for one, share, record in written:
        if (accept := decided(one.labels)) is None:
            yield record
            continue
        # A complaint was not drawn: it is a sample of nothing.
        probability = (one.drawn_with or 1.0) * share
        even = bool(one.drawn_with) and sample_point("calibrate", one.verdict.id) < least / probability
        added = {"label": "accept" if accept else "reject", DRAWN: [probability, even]}
        spans = (each.span for each in one.labels if not accept and each.span)
        words = next((span for span in spans if span in str(record.get("response", ""))), None)
        yield record | added | ({"words": words} if words else {})


def _text(record: Envelope) -> str:
    """Digest of what the model was asked and said; letters' case and white space do not count."""
    own = record.model_dump(mode="json", exclude=_ABOUT_IT)
    return digest(" ".join(orjson.dumps(own, option=orjson.OPT_SORT_KEYS).decode().casefold().split()))
