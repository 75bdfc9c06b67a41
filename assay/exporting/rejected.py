"""`assay export rejected`: rejected verdicts, or what became of them, as JSON lines from the topics as they are now."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson
from pydantic import ValidationError

from assay.exporting.prompts import prompt_of
from assay.exporting.report import Report
from assay.exporting.selection import Selection
from schemas import Generation, Improvement, Unreadable
from streams.heads import Head, original, read_head
from streams.lookup import RecordLookup
from streams.settings import StreamSettings, TopicSettings
from streams.topic_reader import read_topic

Form: TypeAlias = Literal["verdicts", "corrections", "preferences"]
"""`verdicts`: each rejected record beside its verdict. `corrections`: prompt and improved response, in the chat format
of OpenAI-compatible fine-tuning. `preferences`: prompt, improved and rejected response, as TRL's trainers take them."""


def topic_of(form: Form, topics: TopicSettings) -> str:
    """The topic that is read for `form`."""
    return topics.rejected if form == "verdicts" else topics.improved


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One reading of a topic."""

    settings: StreamSettings
    form: Form
    selection: Selection
    report: Report
    """Kept as lines come."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; of what was read only the ids are kept.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
        """
        seen: set[str] = set()
        async with (
            _looking_up(self.settings) as lookup,
            aclosing(read_topic(self.settings.kafka, self.report.topic)) as messages,
        ):
            async for message in messages:
                try:
                    head = read_head(message.value)
                    if not self.selection.takes(head):
                        continue
                    if head.id in seen:
                        self.report.repeats += 1
                        continue
                    example = await self._example(head, message.value, lookup)
                except Unreadable:
                    self.report.unreadable += 1
                    continue
                seen.add(head.id)
                self.report.selected += 1
                if example is not None:
                    self.report.lines += 1
                    yield orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE)

    async def _example(self, head: Head, message: bytes, lookup: RecordLookup) -> dict[str, Any] | None:
        improvement = None if self.form == "verdicts" else _improvement(message)
        if improvement is not None and (improvement.status != "improved" or not improvement.after):
            self.report.not_improved += 1
            return None
        found = await original(lookup, head, self.settings)
        name = f"{head.source}/{head.record_id}"
        if found is None:
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


@asynccontextmanager
async def _looking_up(settings: StreamSettings) -> AsyncIterator[RecordLookup]:
    lookup = RecordLookup(settings.kafka)
    try:
        await lookup.start()
        yield lookup
    finally:
        await lookup.stop()
