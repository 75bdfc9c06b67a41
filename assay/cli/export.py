"""`assay export`: rejected verdicts, their improvements, or labelled records, as JSON lines."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import click
import orjson
from pydantic import ValidationError

from assay.cli.common import configured, out_option, selection, writing
from assay.config import Configuration
from assay.messages import oldest_first, opened_store
from checkers.wording import plain
from models.wording import counted
from schemas import Generation, Improvement, Task, Unreadable, read_record, to_json
from streams.errors import BrokerUnavailable
from streams.lookup import RecordGone, RecordLookup, ResultHeader, StoredRecord
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

if TYPE_CHECKING:
    from store.reading import Reader


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
def rejected(*, loaded: Configuration, form: "Form", out: Path | None, **wanted: Any) -> None:
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
    latest 10,000 accepts and rejects are looked at. Needs a store (store.url); records that it does not keep are read
    from their topic.
    """
    from assay.record_sets import RecordSet

    wanted["rubric_version"] = loaded.labels.rubric_version
    _run(RecordSet(loaded.streams, wanted, store=loaded.store.url), out)


def _run(chosen: "Export", out: Path | None) -> None:
    async def write(target: BinaryIO) -> None:
        async for line in chosen.lines():
            target.write(line)
        target.flush()

    with writing(out) as target:
        asyncio.run(write(target))
    for line in chosen.summary():
        click.echo(plain(line), err=True)


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

REPEATED = "skipped: the same is there already"
"""A cause, of which no record is named."""
_NOT_IMPROVED = "skipped: the response could not be improved"
_NO_PROMPT = "skipped: the record holds no prompt"
_GONE = "whose record is no longer on its topic"
_AWAY = "whose record the store does not hold, and no broker answers"


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
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        """The first records of each cause."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; only ids are kept in memory.

        Raises:
            StreamError: the store or, without one, the broker does not answer, or topics are missing.
        """
        seen: set[str] = set()
        async with AsyncExitStack() as stack:
            reader = None if self._store is None else stack.enter_context(opened_store(self._store))
            messages = self._of_topic() if reader is None else self._of_store(reader)
            async for message in await stack.enter_async_context(aclosing(messages)):
                try:
                    header = ResultHeader.read(message)
                    if not self.takes(header):
                        continue
                    if header.id in seen:
                        self._counts[REPEATED] += 1
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

    def takes(self, header: ResultHeader) -> bool:
        """Whether the message with a header is exported."""
        named = all(self._wanted[name] in {None, getattr(header, name)} for name in ("source", "model", "checker"))
        since, until = self._wanted["since"], self._wanted["until"]
        return named and (since is None or header.at >= since) and (until is None or header.at < until)

    async def _of_topic(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(read_topic(self._settings.kafka, self._topic)) as messages:
            async for message in messages:
                yield message.value

    async def _of_store(self, reader: "Reader") -> AsyncGenerator[bytes, None]:
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
            self._counts[_NOT_IMPROVED] += 1
            return None
        found = await self.record(header, reader, stack)
        if improvement is None:
            # Both as they are on their topics or in the store, byte for byte.
            record = None if found is None else orjson.Fragment(found.data)
            return {"record": record, "verdict": orjson.Fragment(message)}
        if found is None:
            return None
        prompt = prompt_of(found.record) if isinstance(found.record, Generation) else None
        if prompt is None:
            self._count(_NO_PROMPT, header)
            return None
        return _trained_on(self._form, prompt, improvement)

    async def record(self, header: ResultHeader, reader: "Reader | None", stack: AsyncExitStack) -> StoredRecord | None:
        """The record of a verdict or an improvement; None, and it is counted, where it cannot be had."""
        if reader and header.record_id and (data := reader.record(header.source, header.record_id)):
            return StoredRecord(data, read_record(data, max_bytes=len(data)))
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
            self._count(_GONE, header)
            return None
        self._count(_AWAY, header)
        return None

    def _count(self, cause: str, header: ResultHeader) -> None:
        self._counts[cause] += 1
        if len(self._names[cause]) < _MOST_NAMES:
            self._names[cause].append(f"{header.source}/{header.record_id}")

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        counts = self._counts
        lines, selected = (counted(counts[noun], noun) for noun in ("line", "selected message"))
        yield f"{lines} from {selected} {'in the store' if self._store else f'on {self._topic}'}"
        yield from self.skipped()
        if counts["unreadable"]:
            yield f"  {counted(counts['unreadable'], 'message')} skipped that could not be read"

    def skipped(self) -> Iterator[str]:
        """What is not in the lines, and why."""
        counts = self._counts
        for cause in (_NOT_IMPROVED, _NO_PROMPT, _GONE, _AWAY, REPEATED):
            if counts[cause]:
                names = self._names[cause]
                more = f" and {counts[cause] - len(names)} more" if counts[cause] > len(names) else ""
                named = f": {', '.join(names)}{more}" if names else ""
                yield f"  {counts[cause]} {cause}{named}"


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
