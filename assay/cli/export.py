"""`assay export`: rejected outputs, and data sets of the store's verdicts with people's labels, as JSON lines."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import click
import orjson
from pydantic import TypeAdapter

from agents.routing import sample_point
from assay.cli.common import NUMBER, configured, out_option, selection, writing
from assay.config import Configuration
from assay.messages import oldest_first, opened_store
from checkers.wording import plain
from models.wording import counted
from schemas import (
    Envelope,
    Generation,
    Improvement,
    Label,
    Verdict,
    attributes_of,
    digest,
    read_record,
    to_json,
    valid_labels,
)
from schemas.records import Task
from streams.errors import BrokerUnavailable
from streams.lookup import RecordGone, RecordLookup
from streams.topic_reader import TopicView

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

_LOOKED_AT: Final = 10_000
"""Verdicts, the latest, where those without a label are wanted as well."""
_GROUPED: Final = 1000
"""Rejects of a series whose faults are compared; the others are a group."""
DRAWN: Final = "assay_drawn"
"""Field of a labelled record with its sampling rate and whether it is in the even sample."""
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
    _write(lambda run: _rejected(run, form), loaded, wanted, out)


@export.command("records")
@click.option("--labelled", is_flag=True, help="Only records that people labelled (labels.rubric_version).")
@click.option("--distinct", is_flag=True, help="Only one of records with the same text.")
@click.option("--by", type=click.Choice(["failure"]), help="Draw evenly over what rejects have in common.")
@click.option("--limit", type=NUMBER, metavar="N", help="Only N records, drawn at random.")
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
    _write(_records, loaded, wanted, out)


class _ExportRun:
    """One reading of the store, or of topics: what is wanted, how records are found, and what is skipped."""

    def __init__(self, loaded: Configuration, wanted: Mapping[str, Any], stack: AsyncExitStack) -> None:
        """`wanted`: the options of the command."""
        self.loaded, self.wanted, self._stack = loaded, wanted, stack
        self.reader: Reader | None = None
        self.summary: list[str] = []
        """Printed before what is skipped."""
        self._lookup: RecordLookup | None = None
        self._away = False
        self._skipped = defaultdict[str, list[str]](list)
        """Names of records by cause; only ids are kept in memory."""

    def open_store(self) -> "Reader":
        self.reader = self._stack.enter_context(opened_store(self.loaded.store.url))
        return self.reader

    def takes(self, each: Verdict | Improvement) -> bool:
        named = all(self.wanted[name] in {None, getattr(each, name)} for name in ("source", "model", "checker"))
        at = each.checked_at if isinstance(each, Verdict) else each.improved_at
        since, until = self.wanted["since"], self.wanted["until"]
        return named and (since is None or at >= since) and (until is None or at < until)

    async def record(self, each: Verdict | Improvement) -> tuple[bytes, Envelope] | None:
        """The record of a verdict or an improvement; None, and it is noted, where it cannot be had."""
        if self.reader and (data := self.reader.record(each.source, each.record_id)):
            return data, read_record(data, max_bytes=len(data))
        try:
            if self._lookup is None and not self._away:
                lookup = RecordLookup(self.loaded.streams)
                self._lookup = await self._stack.enter_async_context(lookup.running())
            if self._lookup is not None:
                return await self._lookup.record(each.origin, each.source, each.record_id)
        except BrokerUnavailable:
            if self.reader is None:
                raise
            self._away = True
        except RecordGone:
            self.skip("whose record is no longer on its topic", each)
            return None
        self.skip("whose record the store does not hold, and no broker answers", each)
        return None

    def skip(self, cause: str, each: Verdict | Improvement) -> None:
        self._skipped[cause].append(f"{each.source}/{each.record_id}")

    def lines(self) -> Iterator[str]:
        """The summary, a line at a time; quotes names that producers chose."""
        yield from self.summary
        for cause, names in sorted(self._skipped.items()):
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            yield f"  {len(names)} {cause}: {', '.join(names[:_MOST_NAMES])}{more}"


def _write(
    lines: Callable[[_ExportRun], AsyncGenerator[object, None]],
    loaded: Configuration,
    wanted: Mapping[str, Any],
    out: Path | None,
) -> None:
    async def write() -> list[str]:
        async with AsyncExitStack() as stack:
            run = _ExportRun(loaded, wanted, stack)
            async for line in await stack.enter_async_context(aclosing(lines(run))):
                target.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            return [*run.lines()]

    with writing(out) as target:
        told = asyncio.run(write())
        target.flush()
    for line in told:
        click.echo(plain(line), err=True)


async def _rejected(run: _ExportRun, form: Form) -> AsyncGenerator[object, None]:
    """The rejected verdicts, or what became of them, oldest first, each once."""
    selected = written = 0
    topics, reads_store = run.loaded.streams.topics, run.loaded.store.url is not None
    topic, noun = (topics.rejected, "verdict") if form == "verdicts" else (topics.improved, "improvement")
    read: TypeAdapter[Verdict | Improvement] = TypeAdapter(Verdict if form == "verdicts" else Improvement)
    view = TopicView(run.loaded.streams.kafka, [topic], read)
    async with aclosing(_of_store(run.open_store(), form) if reads_store else view.messages()) as found:
        async for each in found:
            if run.takes(each):
                selected += 1
                if (example := await _example(run, form, each)) is not None:
                    written += 1
                    yield example
    told = [f"{counted(selected, noun)} in the store"] if reads_store else view.summary(noun, selected)
    run.summary = [f"{counted(written, 'line')} written", *told]


async def _of_store(reader: "Reader", form: Form) -> AsyncGenerator[Verdict | Improvement, None]:
    for each in oldest_first(reader, outcomes=("reject",)):
        for found in [reader.verdict(each.id)] if form == "verdicts" else reader.improvements(each.id):
            if found is not None:
                yield found


async def _example(run: _ExportRun, form: Form, each: Verdict | Improvement) -> object | None:
    """A line; None, and it is noted why, where there is none."""
    if isinstance(each, Verdict):
        found = await run.record(each)
        return {"record": found and orjson.Fragment(found[0]), "verdict": orjson.Fragment(to_json(each))}
    if each.status != "improved" or not each.after:
        run.skip("skipped: the response could not be improved", each)
        return None
    if (found := await run.record(each)) is None:
        return None
    if (prompt := prompt_of(found[1]) if isinstance(found[1], Generation) else None) is None:
        run.skip("skipped: the record holds no prompt", each)
        return None
    asked = [{"role": "user", "content": prompt}]
    better = [{"role": "assistant", "content": each.after}]
    if form == "corrections":
        return {"messages": asked + better}
    return {"prompt": asked, "chosen": better, "rejected": [{"role": "assistant", "content": each.before}]}


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


async def _records(run: _ExportRun) -> AsyncGenerator[object, None]:
    """Records in a random order that is the same each time; by failure from each group in turns."""
    lines, seen, reached = list[tuple[_Candidate, str, dict[str, Any]]](), set[str](), Counter[str]()
    reader, wanted = run.open_store(), run.wanted
    candidates = _candidates(run, reader)
    groups = _by_failure(reader, candidates) if wanted["by"] else {"all": candidates}
    turns = (zip(groups, row, strict=True) for row in zip_longest(*groups.values()))
    for name, one in (pair for row in turns for pair in row):
        if one is None:
            continue
        if len(lines) == wanted["limit"]:
            break
        reached[name] += 1
        if (found := await run.record(one.verdict)) is None:
            continue
        data, read = found
        keys = {f"{one.verdict.source}\x1f{one.verdict.record_id}"} | ({_text(read)} if wanted["distinct"] else set())
        if seen.isdisjoint(keys):
            lines.append((one, name, orjson.loads(data)))
        else:
            run.skip("skipped: the same is there already", one.verdict)
        seen |= keys
    written = Counter(name for _, name, _ in lines)
    by_group = [
        f"  {written[name]} of {counted(len(group), 'verdict')}: {name[:200]}" for name, group in groups.items()
    ]
    run.summary = [f"{counted(len(lines), 'record')} from the store", *(by_group if wanted["by"] else ())]
    drawn = [one.drawn_with and one.drawn_with * reached[name] / len(groups[name]) for one, name, _ in lines]
    least = min(filter(None, drawn), default=1.0)
    for (one, _, record), drawn_with in zip(lines, drawn, strict=True):
        yield _with_label(one, record, drawn_with=drawn_with, least=least)


def _candidates(run: _ExportRun, reader: "Reader") -> list[_Candidate]:
    from store.reading import Wanted
    from store.reviews import Reviews

    reviews, labels = Reviews(reader.engine), defaultdict[str, list[Label]](list)
    for label in reviews.by_experts(run.loaded.labels.rubric_version):
        labels[label.verdict_id].append(label)
    ids: Collection[str] = labels
    if not run.wanted["labelled"]:
        wanted = Wanted(outcomes=("accept", "reject"))
        ids, page = [], reader.verdicts(wanted)
        while page and len(ids) < _LOOKED_AT:
            ids.extend(each.id for each in page)
            page = reader.verdicts(wanted, before=page[-1].key)
    found = []
    for verdict in filter(None, map(reader.verdict, ids)):
        said = labels.get(verdict.id, [])
        is_wanted = verdict.outcome != "abstain" and run.takes(verdict)
        if is_wanted and not (run.wanted["labelled"] and _decided(said) is None):
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
        common = read_failures(reader, series, datetime.fromtimestamp(0, UTC), datetime.now(UTC)).common
        for one in [*left.values()]:
            if cause := explained_by(attributes_of(one.verdict), common):
                groups[f"{cause.name} {cause.value}"].append(left.pop(one.verdict.id))
        for group in fault_groups([one.verdict for one in [*left.values()][:_GROUPED]]):
            groups[group.reason] += [left.pop(id_) for id_ in group.ids]
        groups["others"] += left.values()
    return {name: group for name, group in sorted(groups.items(), key=lambda pair: -len(pair[1])) if group}


def _text(record: Envelope) -> str:
    """Digest of what the model was asked and said; letters' case and white space do not count."""
    own = record.model_dump(mode="json", exclude=_ABOUT_IT)
    return digest(" ".join(orjson.dumps(own, option=orjson.OPT_SORT_KEYS).decode().casefold().split()))


def _decided(labels: Iterable[Label]) -> bool | None:
    """Whether an output is good, by people's labels of one verdict; None if they are of two minds or say nothing."""
    values = [each.value or 0.0 for each in valid_labels(labels).values()]
    mean = sum(values) / len(values) if values else 0.5
    return None if mean == 0.5 else mean > 0.5


def _with_label(one: _Candidate, record: dict[str, Any], *, drawn_with: float | None, least: float) -> dict[str, Any]:
    """The record with what people say of its verdict, if they are of one mind; a complaint has no `drawn_with`.

    Records with a higher sampling rate are skipped at random until all have the `least`.
    """
    if (accept := _decided(one.labels)) is None:
        return record
    even = drawn_with is not None and sample_point("calibrate", one.verdict.id) < least / drawn_with
    added = {"label": "accept" if accept else "reject", DRAWN: [drawn_with or 1.0, even]}
    spans = [each.span for each in one.labels if each.span and each.span in str(record.get("response", ""))]
    return record | added | ({"words": spans[0]} if spans and not accept else {})
