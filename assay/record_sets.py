"""`assay export records`: a data set of the store's verdicts, with people's labels, drawn evenly over failures."""

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from agents.routing import sample_point
from assay.agreement import decided, with_label
from assay.cli.export import REPEATED, Export
from assay.messages import opened_store
from models.wording import counted
from schemas import Envelope, Label, Verdict, attributes_of, digest
from streams.lookup import ResultHeader

if TYPE_CHECKING:
    from store.reading import Reader

_LOOKED_AT: Final = 10_000
"""Verdicts, the latest, where those without a label are wanted as well."""
_GROUPED: Final = 1000
"""Rejects of a series whose faults are compared; the others are a group."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ABOUT_IT: Final = {*Envelope.model_fields, "kind", "contexts", "samples"}
"""Fields of a record that are not its own text."""


class _Candidate(NamedTuple):
    verdict: Verdict
    labels: list[Label]
    drawn_with: float | None
    """The probability that people were asked about it; None where it was not drawn."""


class RecordSet(Export):
    """One reading of the store; `wanted` has the other options of the command and the rubric's version, too."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, in a random order that is the same each time; by failure from each group in turns.

        Raises:
            StreamError: the store does not answer.
        """
        lines, seen, reached = list[tuple[_Candidate, str, dict[str, Any]]](), set[str](), Counter[str]()
        async with AsyncExitStack() as stack:
            reader = stack.enter_context(opened_store(self._store))
            candidates = self._candidates(reader)
            groups = _by_failure(reader, candidates) if self._wanted["by"] else {"all": candidates}
            for name, one in _in_turns(groups):
                if len(lines) == self._wanted["limit"]:
                    break
                reached[name] += 1
                if (found := await self.record(_header(one.verdict), reader, stack)) is None:
                    continue
                keys = {f"{one.verdict.source}\x1f{one.verdict.record_id}"}
                keys |= {_text(found.record)} if self._wanted["distinct"] else set()
                if seen.isdisjoint(keys):
                    lines.append((one, name, orjson.loads(found.data)))
                else:
                    self._counts[REPEATED] += 1
                seen |= keys
        written = Counter(name for _, name, _ in lines)
        self._groups = {name: (written[name], len(group)) for name, group in groups.items()}
        drawn = [one.drawn_with and one.drawn_with * reached[name] / len(groups[name]) for one, name, _ in lines]
        least = min(filter(None, drawn), default=1.0)
        for (one, _, record), drawn_with in zip(lines, drawn, strict=True):
            line = with_label(record, one.verdict.id, one.labels, drawn_with=drawn_with, least=least)
            yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        yield f"{counted(sum(written for written, _ in self._groups.values()), 'record')} from the store"
        for name, (written, verdicts) in self._groups.items() if self._wanted["by"] else ():
            yield f"  {written} of {counted(verdicts, 'verdict')}: {name[:200]}"
        yield from self.skipped()

    def _candidates(self, reader: "Reader") -> list[_Candidate]:
        from store.reading import Wanted
        from store.reviews import Reviews

        reviews, labels = Reviews(reader.engine), defaultdict[str, list[Label]](list)
        for label in reviews.by_experts(self._wanted["rubric_version"]):
            labels[label.verdict_id].append(label)
        ids: Collection[str] = labels
        if not self._wanted["labelled"]:
            wanted = Wanted(outcomes=("accept", "reject"))
            ids, page = [], reader.verdicts(wanted)
            while page and len(ids) < _LOOKED_AT:
                ids.extend(each.id for each in page)
                page = reader.verdicts(wanted, before=page[-1].key)
        found = []
        for verdict in filter(None, map(reader.verdict, ids)):
            said = labels.get(verdict.id, [])
            is_wanted = verdict.outcome != "abstain" and self.takes(_header(verdict))
            if is_wanted and not (self._wanted["labelled"] and decided(said) is None):
                asked = reviews.asked(verdict.id)
                found.append(_Candidate(verdict, said, asked and asked.request.drawn_with))
        return sorted(found, key=lambda one: sample_point("records", one.verdict.id))


def _by_failure(reader: "Reader", candidates: Iterable[_Candidate]) -> dict[str, list[_Candidate]]:
    """The accepts, and the rejects of each series by what they have in common, or by similar faults."""
    from store.failures import explained_by, fault_groups, read_failures
    from store.reading import Series

    groups, rejects = defaultdict[str, list[_Candidate]](list), defaultdict["Series", dict[str, _Candidate]](dict)
    for one in candidates:
        if one.verdict.outcome == "accept":
            groups["accepted"].append(one)
        else:
            rejects[Series(one.verdict.source, one.verdict.model, one.verdict.checker)][one.verdict.id] = one
    for series, left in rejects.items():
        common = read_failures(reader, series, _EPOCH, datetime.now(UTC)).common
        for one in [*left.values()]:
            if cause := explained_by(attributes_of(one.verdict), common):
                groups[f"{cause.name} {cause.value}"].append(left.pop(one.verdict.id))
        for group in fault_groups([one.verdict for one in [*left.values()][:_GROUPED]]):
            groups[group.reason] += [left.pop(id_) for id_ in group.ids]
        groups["others"] += left.values()
    return {name: group for name, group in sorted(groups.items(), key=lambda pair: -len(pair[1])) if group}


def _in_turns(groups: dict[str, list[_Candidate]]) -> Iterator[tuple[str, _Candidate]]:
    for row in zip_longest(*groups.values()):
        yield from ((name, one) for name, one in zip(groups, row, strict=True) if one is not None)


def _header(verdict: Verdict) -> ResultHeader:
    return ResultHeader.model_validate(verdict.model_dump())


def _text(record: Envelope) -> str:
    """Digest of what the model was asked and said; letters' case and white space do not count."""
    own = record.model_dump(mode="json", exclude=_ABOUT_IT)
    return digest(" ".join(orjson.dumps(own, option=orjson.OPT_SORT_KEYS).decode().casefold().split()))
