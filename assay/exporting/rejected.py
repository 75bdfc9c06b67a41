"""`assay export rejected`: rejected verdicts, or what became of them, as JSON lines from the topics as they are now."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson
from pydantic import ValidationError

from assay.exporting.prompts import prompt_of
from assay.exporting.report import Report
from assay.exporting.selection import Selection
from schemas import Generation, Improvement, Unreadable
from streams.lookup import RecordGone, RecordLookup, ResultHeader
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
