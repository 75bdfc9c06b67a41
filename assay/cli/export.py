"""`assay export`: rejected verdicts, or their improvements, as JSON lines, of the store or of the topics."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import click
import orjson
from pydantic import ValidationError

from assay.cli.front_door import config_option, configuration, out_option, quiet_logs, run_errors, writing
from assay.messages import oldest_first, opened_store
from checkers.wording import plain
from models.wording import counted
from schemas import Generation, Improvement, Task, Unreadable, read_record, to_json
from schemas.base import as_utc
from streams.lookup import RecordGone, RecordLookup, ResultHeader, StoredRecord
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

if TYPE_CHECKING:
    from store.reading import Reader


class _Moment(click.ParamType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
        except ValueError:
            self.fail(f"{value!r} is no time; expected RFC 3339, such as 2026-11-16T08:00:00Z", param, ctx)


@click.group()
def export() -> None:
    """Export rejected outputs, to improve models."""


@export.command("rejected")
@click.option(
    "--format",
    "form",
    type=click.Choice(["verdicts", "corrections", "preferences"]),
    default="verdicts",
    show_default=True,
    help="Records with their verdicts; or, of improved responses, examples for fine-tuning or preference pairs.",
)
@click.option("--source", metavar="S", help="Only records of this source.")
@click.option("--model", metavar="M", help="Only records of this model.")
@click.option("--checker", metavar="C", help="Only verdicts of this checker.")
@click.option(
    "--since", type=_Moment(), metavar="T", help="Only what was rejected or improved at this time (RFC 3339) or later."
)
@click.option("--until", type=_Moment(), metavar="T", help="Only what was rejected or improved before this time.")
@out_option("lines")
@config_option
def rejected(
    *,
    form: "Form",
    source: str | None,
    model: str | None,
    checker: str | None,
    since: datetime | None,
    until: datetime | None,
    out: Path | None,
    config_file: Path | None,
) -> None:
    """Write the rejected outputs as JSON lines, each once; a summary goes to standard error.

    They are read from the store where there is one (store.url), else from the topics, and the records from theirs.
    The summary names records that their topic no longer holds. Their verdicts have null for the record; corrections
    and preferences leave them out.
    """
    loaded = configuration(config_file)
    quiet_logs()
    with run_errors():

        def takes(header: "ResultHeader") -> bool:
            return (
                source in {None, header.source}
                and model in {None, header.model}
                and checker in {None, header.checker}
                and (since is None or header.at >= since)
                and (until is None or header.at < until)
            )

        wanted = Export(loaded.streams, form, takes, store=loaded.store.url)
        with writing(out) as target:
            asyncio.run(_write(wanted, target))
    for line in wanted.summary():
        click.echo(plain(line), err=True)


async def _write(wanted: "Export", target: BinaryIO) -> None:
    async for line in wanted.lines():
        target.write(line)
    target.flush()


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

_NOT_IMPROVED = "left out, as the response could not be improved"
_NO_PROMPT = "left out, as the record holds no prompt"
_GONE = "whose record is no longer on its topic"


class Export:
    """One reading of the store, or of the topic that holds what a form needs; counts while lines are read."""

    def __init__(
        self, settings: StreamSettings, form: Form, takes: Callable[[ResultHeader], bool], *, store: str | None = None
    ) -> None:
        """`takes` says whether the message with a header is exported; `store`: its address, to be read in its place."""
        self._settings = settings
        self._form = form
        self._takes = takes
        self._store = store
        self._reader: Reader | None = None
        self._topic = settings.topics.rejected if form == "verdicts" else settings.topics.improved
        self._counts: Counter[str] = Counter()
        self._names: dict[str, list[str]] = {_NO_PROMPT: [], _GONE: []}
        """The first records of each."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; only ids are kept in memory.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
            StreamError: the store does not answer.
        """
        seen: set[str] = set()
        async with AsyncExitStack() as stack:
            if self._store is not None:
                self._reader = stack.enter_context(opened_store(self._store))
            lookup = await stack.enter_async_context(RecordLookup(self._settings).running())
            messages = await stack.enter_async_context(aclosing(self._messages()))
            async for message in messages:
                try:
                    header = ResultHeader.read(message)
                    if not self._takes(header):
                        continue
                    if header.id in seen:
                        self._counts["repeated message"] += 1
                        continue
                    example = await self._example(header, message, lookup)
                except Unreadable:
                    self._counts["unreadable"] += 1
                    continue
                seen.add(header.id)
                self._counts["selected message"] += 1
                if example is not None:
                    self._counts["line"] += 1
                    yield orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE)

    async def _messages(self) -> AsyncGenerator[bytes, None]:
        if (reader := self._reader) is None:
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

    async def _record(self, header: ResultHeader, lookup: RecordLookup) -> StoredRecord | None:
        data = self._reader and header.record_id and self._reader.record(header.source, header.record_id)
        if data:
            return StoredRecord(data, read_record(data, max_bytes=len(data)))
        try:
            return await lookup.record(header.origin, header.source, header.record_id)
        except RecordGone:
            self._count(_GONE, header)
            return None

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        counts = self._counts
        lines, selected = (counted(counts[noun], noun) for noun in ("line", "selected message"))
        yield f"{lines} from {selected} {'in the store' if self._store else f'on {self._topic}'}"
        for cause in (_NOT_IMPROVED, _NO_PROMPT, _GONE):
            if counts[cause]:
                names = self._names.get(cause, [])
                more = f" and {counts[cause] - len(names)} more" if counts[cause] > len(names) else ""
                told = f": {', '.join(names)}{more}" if names else ""
                yield f"  {counts[cause]} {cause}{told}"
        if repeats := counts["repeated message"]:
            yield f"  {counted(repeats, 'repeated message')} left out"
        if counts["unreadable"]:
            yield f"  {counted(counts['unreadable'], 'message')} left out that could not be read"

    async def _example(self, header: ResultHeader, message: bytes, lookup: RecordLookup) -> dict[str, Any] | None:
        improvement = None if self._form == "verdicts" else _improvement(message)
        if improvement is not None and (improvement.status != "improved" or not improvement.after):
            self._counts[_NOT_IMPROVED] += 1
            return None
        found = await self._record(header, lookup)
        if improvement is None:
            # Both as they stand on their topics or in the store, byte for byte.
            record = None if found is None else orjson.Fragment(found.data)
            return {"record": record, "verdict": orjson.Fragment(message)}
        if found is None:
            return None
        prompt = prompt_of(found.record) if isinstance(found.record, Generation) else None
        if prompt is None:
            self._count(_NO_PROMPT, header)
            return None
        return _trained_on(self._form, prompt, improvement)

    def _count(self, cause: str, header: ResultHeader) -> None:
        self._counts[cause] += 1
        if len(self._names[cause]) < _MOST_NAMES:
            self._names[cause].append(f"{header.source}/{header.record_id}")


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
    """The record's prompt with what belongs to it, or one made from its task and texts, or None where none can be made.

    Texts that the prompt quotes already are not repeated. The reference of an answer is the true answer, and would
    give it away; it is left out, also where a prompt stands without a task, which may be either.
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
