"""`assay export rejected`: rejected verdicts, or their improvements, as JSON lines from the topics as they are now."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

import orjson
from pydantic import ValidationError

from models.wording import counted
from schemas import Generation, Improvement, Task, Unreadable
from streams.lookup import RecordGone, RecordLookup, ResultHeader
from streams.settings import StreamSettings, TopicSettings
from streams.topic_reader import read_topic

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


def topic_of(form: Form, topics: TopicSettings) -> str:
    """The topic that holds what `form` needs."""
    return topics.rejected if form == "verdicts" else topics.improved


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which verdicts and improvements are exported: those for which all that is not None holds."""

    source: str | None = None
    model: str | None = None
    checker: str | None = None
    since: datetime | None = None
    """This moment, or later."""
    until: datetime | None = None
    """Before this moment."""

    def takes(self, header: ResultHeader) -> bool:
        """True if a message with this header is selected."""
        return (
            self.source in {None, header.source}
            and self.model in {None, header.model}
            and self.checker in {None, header.checker}
            and (self.since is None or header.at >= self.since)
            and (self.until is None or header.at < self.until)
        )


@dataclass(slots=True)
class NamedRecords:
    """A number of records, and the names of the first."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        self.count += 1
        if len(self.names) < _MOST_NAMES:
            self.names.append(name)

    def __str__(self) -> str:
        more = f" and {self.count - len(self.names)} more" if self.count > len(self.names) else ""
        return f"{', '.join(self.names)}{more}"


@dataclass(slots=True)
class Report:
    """Counts of what was read, kept while lines are written."""

    topic: str
    selected: int = 0
    """Different messages that the selection takes."""
    lines: int = 0
    repeats: int = 0
    """Messages with the id of an earlier one."""
    unreadable: int = 0
    not_improved: int = 0
    gone: NamedRecords = field(default_factory=NamedRecords)
    """Records that their topic does not hold any more, or whose place is not known."""
    without_prompt: NamedRecords = field(default_factory=NamedRecords)
    """Records that do not tell what the model was asked."""

    def summary(self) -> Iterator[str]:
        """The summary, a line at a time; quotes names that producers chose."""
        yield f"{counted(self.lines, 'line')} from {counted(self.selected, 'selected message')} on {self.topic}"
        if self.not_improved:
            yield f"  {self.not_improved} left out, as the response could not be improved"
        if self.without_prompt.count:
            yield f"  {self.without_prompt.count} left out, as the record holds no prompt: {self.without_prompt}"
        if self.gone.count:
            yield f"  {self.gone.count} whose record is no longer on its topic: {self.gone}"
        if self.repeats:
            yield f"  {counted(self.repeats, 'repeated message')} left out"
        if self.unreadable:
            yield f"  {counted(self.unreadable, 'message')} left out that could not be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export: reads a topic once."""

    settings: StreamSettings
    form: Form
    selection: Selection
    report: Report
    """Filled while lines are read."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; only ids are kept in memory.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
        """
        seen: set[str] = set()
        async with (
            RecordLookup(self.settings).running() as lookup,
            aclosing(read_topic(self.settings.kafka, self.report.topic)) as messages,
        ):
            async for message in messages:
                try:
                    header = ResultHeader.read(message.value)
                    if not self.selection.takes(header):
                        continue
                    if header.id in seen:
                        self.report.repeats += 1
                        continue
                    example = await self._example(header, message.value, lookup)
                except Unreadable:
                    self.report.unreadable += 1
                    continue
                seen.add(header.id)
                self.report.selected += 1
                if example is not None:
                    self.report.lines += 1
                    yield orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE)

    async def _example(self, header: ResultHeader, message: bytes, lookup: RecordLookup) -> dict[str, Any] | None:
        improvement = None if self.form == "verdicts" else _improvement(message)
        if improvement is not None and (improvement.status != "improved" or not improvement.after):
            self.report.not_improved += 1
            return None
        name = f"{header.source}/{header.record_id}"
        try:
            found = await lookup.record(header.origin, header.source, header.record_id)
        except RecordGone:
            found = None
            self.report.gone.add(name)
        if improvement is None:
            # Both as they stand on their topics, byte for byte.
            record = None if found is None else orjson.Fragment(found.data)
            return {"record": record, "verdict": orjson.Fragment(message)}
        if found is None:
            return None
        prompt = prompt_of(found.record) if isinstance(found.record, Generation) else None
        if prompt is None:
            self.report.without_prompt.add(name)
            return None
        return _trained_on(self.form, prompt, improvement)


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
