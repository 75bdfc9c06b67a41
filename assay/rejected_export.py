"""`assay export rejected`: rejected verdicts, or their improvements, as JSON lines from the topics as they are now."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any, Literal, TypeAlias

import orjson
from pydantic import ValidationError

from models.wording import counted
from schemas import Generation, Improvement, Task, Unreadable
from streams.lookup import RecordGone, RecordLookup, ResultHeader
from streams.settings import StreamSettings
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

_NOT_IMPROVED = "left out, as the response could not be improved"
_NO_PROMPT = "left out, as the record holds no prompt"
_GONE = "whose record is no longer on its topic"


class Export:
    """One reading of the topic that holds what a form needs; counts while lines are read."""

    def __init__(self, settings: StreamSettings, form: Form, takes: Callable[[ResultHeader], bool]) -> None:
        """`takes` says whether the message with a header is exported."""
        self._settings = settings
        self._form = form
        self._takes = takes
        self._topic = settings.topics.rejected if form == "verdicts" else settings.topics.improved
        self._counts: Counter[str] = Counter()
        self._names: dict[str, list[str]] = {_NO_PROMPT: [], _GONE: []}
        """The first records of each."""

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """JSON lines, oldest first, each verdict or improvement once; only ids are kept in memory.

        Raises:
            BrokerUnavailable: no broker answered.
            TopicsMissing: naming the command that creates them.
        """
        seen: set[str] = set()
        async with (
            RecordLookup(self._settings).running() as lookup,
            aclosing(read_topic(self._settings.kafka, self._topic)) as messages,
        ):
            async for message in messages:
                try:
                    header = ResultHeader.read(message.value)
                    if not self._takes(header):
                        continue
                    if header.id in seen:
                        self._counts["repeated message"] += 1
                        continue
                    example = await self._example(header, message.value, lookup)
                except Unreadable:
                    self._counts["unreadable"] += 1
                    continue
                seen.add(header.id)
                self._counts["selected message"] += 1
                if example is not None:
                    self._counts["line"] += 1
                    yield orjson.dumps(example, option=orjson.OPT_APPEND_NEWLINE)

    def summary(self) -> Iterator[str]:
        """The counts, a line at a time; quotes names that producers chose."""
        counts = self._counts
        lines, selected = (counted(counts[noun], noun) for noun in ("line", "selected message"))
        yield f"{lines} from {selected} on {self._topic}"
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
        try:
            found = await lookup.record(header.origin, header.source, header.record_id)
        except RecordGone:
            found = None
            self._count(_GONE, header)
        if improvement is None:
            # Both as they stand on their topics, byte for byte.
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
