"""`assay export`: rejected outputs, and data sets of the store's verdicts with people's labels, as JSON lines."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import click
import orjson
from pydantic import ValidationError

from agents.routing import sample_point
from assay.cli.common import configured, out_option, selection, writing
from assay.config import Configuration
from assay.messages import oldest_first, opened_store
from checkers.wording import plain
from models.wording import counted
from schemas import (
    Envelope,
    Generation,
    Improvement,
    Label,
    Task,
    Unreadable,
    Verdict,
    attributes_of,
    digest,
    read_record,
    to_json,
    valid_labels,
)
from streams.errors import BrokerUnavailable
from streams.lookup import RecordGone, RecordLookup, ResultHeader
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

if TYPE_CHECKING:
    from store.reading import Reader

Form: TypeAlias = Literal["verdicts", "corrections", "preferences"]
"""`verdicts`: rejected records with their verdicts. `corrections`: prompt and improved response, in the chat format of
OpenAI-compatible fine-tuning. `preferences`: prompt, improved and rejected response, in the format of TRL's
trainers."""

_INSTRUCTIONS: dict[Task, str] = {
    "summary": "Summarise this text.",
    "answer": "Answer from these passages.",
    "paraphrase": "Say this in other words.",
}
_MOST_NAMES = 10
"""Skipped records of a cause that are named."""

_REPEATED = "skipped: the same is there already"
"""A cause, of which no record is named."""
_NOT_IMPROVED = "skipped: the response could not be improved"
_NO_PROMPT = "skipped: the record holds no prompt"
_GONE = "whose record is no longer on its topic"
_AWAY = "whose record the store does not hold, and no broker answers"

_LOOKED_AT: Final = 10_000
"""Verdicts, the latest, where those without a label are wanted as well."""
_GROUPED: Final = 1000
"""Rejects of a series whose faults are compared; the others are a group."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DRAWN: Final = "assay_drawn"
"""Field of a labelled record with its sampling rate and whether it is in the even sample."""

_HALF = 0.5
_ABOUT_IT: Final = {*Envelope.model_fields, "kind", "contexts", "samples"}
"""Fields of a record that are not its own text."""


@click.group()
def export() -> None:
    """Export outputs, to improve models and judges."""


@export.command("rejected")
@click.option(
    "--format",
    "form",
    type=click.Choice(["verdicts", "corrections", "preferences"]),
    default="verdicts",
    show_default=True,
    help="Records with their verdicts; or, of improved responses, examples for fine-tuning or preference pairs.",
)
@selection
@out_option("lines")
@configured
def rejected(*, loaded: Configuration, form: Form, out: Path | None, **wanted: Any) -> None:
    """Write the rejected outputs as JSON lines, each once; a summary goes to standard error.

    With a store (store.url) they are read from it, and so are the records that it keeps (store.records): no broker is
    needed then. Other records, and without a store everything, are read from the topics. The summary names records
    that cannot be read. Their verdicts have null for the record; corrections and preferences skip them.
    """
    _run(Export(loaded.streams, wanted, store=loaded.store.url, form=form), out)


@export.command("records")
@click.option("--labelled", is_flag=True, help="Only records that people labelled (labels.rubric_version).")
@click.option("--distinct", is_flag=True, help="Only one of records with the same text.")
@click.option("--by", type=click.Choice(["failure"]), help="Draw evenly over what rejects have in common.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only N records, drawn at random.")
@selection
@out_option("lines")
@configured
def records(*, loaded: Configuration, out: Path | None, **wanted: Any) -> None:
    """Write records of the store's verdicts as JSON lines; a summary goes to standard error.

    Those that people labelled have the field "label", "accept" or "reject", and perhaps "words", which are at fault:
    for `assay calibrate`, the examples of a criterion, and `assay check` in CI. With --by failure, accepts, the rejects
    of each line of `assay failures`, and those of each group of similar faults take turns. Without --labelled the
    latest 10,000 accepts and rejects are looked at. A store is needed (store.url); records that it does not keep are
    read from their topic.
    """
    wanted["rubric_version"] = loaded.labels.rubric_version
    _run(RecordSet(loaded.streams, wanted, store=loaded.store.url), out)


def _run(chosen: "Export", out: Path | None) -> None:
    with writing(out) as target:

        async def write() -> None:
            async for line in chosen.lines():
                target.write(line)

        asyncio.run(write())
        target.flush()
    for line in chosen.summary():
        click.echo(plain(line), err=True)


class Export:
    """One reading of the store, or of the topic that holds what a form needs; counts while lines are read."""

    def __init__(
        self, settings: StreamSettings, wanted: Mapping[str, Any], *, store: str | None, form: Form = "verdicts"
    ) -> None:
        """`wanted`: see `selection`; `store`: its address, to be read instead of a topic."""
        self._settings = settings
        self._form = form
        self._wanted = wanted
        self._store = store
        self._topic = settings.topics.rejected if form == "verdicts" else settings.topics.improved
        self._lookup: RecordLookup | None = None
        self._away = False
        self._counts: Counter[str] = Counter()
        self._skipped = defaultdict[str, list[str]](list)
        """Names of records by cause."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; only ids are kept in memory.

        Raises:
            StreamError: the store or, without one, the broker does not answer, or topics are missing.
        """
        seen: set[str] = set()
        async with AsyncExitStack() as stack:
            reader = None if self._store is None else stack.enter_context(opened_store(self._store))
            async for message in await stack.enter_async_context(aclosing(self._messages(reader))):
                try:
                    header = ResultHeader.read(message)
                    if not self._takes(header):
                        continue
                    if header.id in seen:
                        self._skipped[_REPEATED].append("")
                        continue
                    example = await self._example(header, message, reader, stack)
                except Unreadable:
                    self._counts["unreadable"] += 1
                    continue
                seen.add(header.id)
                self._counts["selected message"] += 1
                if example is not None:
                    self._counts["line"] += 1
                    yield orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE)

    def _takes(self, header: ResultHeader) -> bool:
        """Whether the message with a header is exported."""
        named = all(self._wanted[name] in {None, getattr(header, name)} for name in ("source", "model", "checker"))
        since, until = self._wanted["since"], self._wanted["until"]
        return named and (since is None or header.at >= since) and (until is None or header.at < until)

    async def _messages(self, reader: "Reader | None") -> AsyncGenerator[bytes, None]:
        if reader is None:
            async with aclosing(read_topic(self._settings.kafka, self._topic)) as messages:
                async for message in messages:
                    yield message.value
            return
        for each in oldest_first(reader, outcomes=("reject",)):
            if self._form != "verdicts":
                for improvement in reader.improvements(each.id):
                    yield to_json(improvement)
            elif (verdict := reader.verdict(each.id)) is not None:
                yield to_json(verdict)

    async def _example(
        self, header: ResultHeader, message: bytes, reader: "Reader | None", stack: AsyncExitStack
    ) -> dict[str, Any] | None:
        improvement = None if self._form == "verdicts" else _improvement(message)
        if improvement is not None and (improvement.status != "improved" or not improvement.after):
            self._skipped[_NOT_IMPROVED].append("")
            return None
        found = await self._record(header, reader, stack)
        if improvement is None:
            # Both as they are on their topics or in the store, byte for byte.
            record = None if found is None else orjson.Fragment(found[0])
            return {"record": record, "verdict": orjson.Fragment(message)}
        if found is None:
            return None
        prompt = prompt_of(found[1]) if isinstance(found[1], Generation) else None
        if prompt is None:
            self._skip(_NO_PROMPT, header)
            return None
        return _trained_on(self._form, prompt, improvement)

    async def _record(
        self, header: ResultHeader, reader: "Reader | None", stack: AsyncExitStack
    ) -> tuple[bytes, Envelope] | None:
        """The record of a verdict or an improvement; None, and it is counted, where it cannot be had."""
        if reader and header.record_id and (data := reader.record(header.source, header.record_id)):
            return data, read_record(data, max_bytes=len(data))
        try:
            if self._lookup is None and not self._away:
                self._lookup = await stack.enter_async_context(RecordLookup(self._settings).running())
            if self._lookup is not None:
                return await self._lookup.record(header.origin, header.source, header.record_id)
        except BrokerUnavailable:
            if reader is None:
                raise
            self._away = True
        except RecordGone:
            self._skip(_GONE, header)
            return None
        self._skip(_AWAY, header)
        return None

    def _skip(self, cause: str, header: ResultHeader) -> None:
        self._skipped[cause].append(f"{header.source}/{header.record_id}")

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        counts = self._counts
        lines, selected = (counted(counts[noun], noun) for noun in ("line", "selected message"))
        yield f"{lines} from {selected} {'in the store' if self._store else f'on {self._topic}'}"
        yield from self._skipped_lines()
        if counts["unreadable"]:
            yield f"  {counted(counts['unreadable'], 'message')} skipped that could not be read"

    def _skipped_lines(self) -> Iterator[str]:
        """What is not in the lines, and why."""
        for cause, names in sorted(self._skipped.items()):
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            named = f": {', '.join(names[:_MOST_NAMES])}{more}" if names[0] else ""
            yield f"  {len(names)} {cause}{named}"


def _trained_on(form: Form, prompt: str, improvement: Improvement) -> dict[str, Any]:
    asked = [{"role": "user", "content": prompt}]
    better = [{"role": "assistant", "content": improvement.after}]
    if form == "corrections":
        return {"messages": asked + better}
    return {"prompt": asked, "chosen": better, "rejected": [{"role": "assistant", "content": improvement.before}]}


def _improvement(message: bytes) -> Improvement:
    try:
        return Improvement.model_validate_json(message)
    except ValidationError as error:
        raise Unreadable("invalid_record", f"no improvement: {error.error_count()} faults") from None


def prompt_of(record: Generation) -> str | None:
    """The record's prompt with its texts, or one made from its task and texts, or None where none can be made.

    Texts that the prompt quotes are not repeated. The reference of an answer is the true answer and would give it
    away; it is not used, nor is that of a prompt without a task, which may be an answer.
    """
    prompt = (record.prompt or "").strip()
    task = record.task if prompt else record.effective_task
    given = (*record.contexts, *((record.reference,) if record.reference and task in {"summary", "paraphrase"} else ()))
    texts = [text for text in given if text.strip() and text.strip() not in prompt]
    if not prompt:
        if not texts:
            return None
        prompt = _INSTRUCTIONS[record.effective_task]
    return "\n\n".join([prompt, *texts])


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
                if (found := await self._record(_header(one.verdict), reader, stack)) is None:
                    continue
                data, read = found
                keys = {f"{one.verdict.source}\x1f{one.verdict.record_id}"}
                keys |= {_text(read)} if self._wanted["distinct"] else set()
                if seen.isdisjoint(keys):
                    lines.append((one, name, orjson.loads(data)))
                else:
                    self._skipped[_REPEATED].append("")
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
        yield from self._skipped_lines()

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
            is_wanted = verdict.outcome != "abstain" and self._takes(_header(verdict))
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


def decided(labels: Iterable[Label]) -> bool | None:
    """Whether an output is good, by people's labels of one verdict; None if they are of two minds or say nothing."""
    values = [each.value or 0.0 for each in valid_labels(labels).values()]
    mean = sum(values) / len(values) if values else _HALF
    return None if mean == _HALF else mean > _HALF


def with_label(
    record: dict[str, Any], verdict_id: str, labels: Collection[Label], *, drawn_with: float | None, least: float
) -> dict[str, Any]:
    """The record with what people say of its verdict, if they are of one mind; a complaint has no `drawn_with`.

    Records with a higher sampling rate are skipped at random until all have the `least`.
    """
    if (accept := decided(labels)) is None:
        return record
    even = drawn_with is not None and sample_point("calibrate", verdict_id) < least / drawn_with
    added = {"label": "accept" if accept else "reject", DRAWN: [drawn_with or 1.0, even]}
    spans = [each.span for each in labels if each.span and each.span in str(record.get("response", ""))]
    return record | added | ({"words": spans[0]} if spans and not accept else {})
