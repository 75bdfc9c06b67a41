"""Records made of spans and log records: of each choice of a call, of each tool that it calls, of each retrieval."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from cachetools import TTLCache

from schemas import Envelope, Generation, Retrieval, ToolCall, Trace, to_json
from schemas.records import Matched
from streams.otlp import names
from streams.otlp.decoding import Item
from streams.otlp.messages import (
    ChatMessage,
    NotTaken,
    SkipReason,
    as_text,
    failures,
    found_under,
    messages_of,
    parts_text,
    tools_of,
)
from streams.otlp.settings import OtlpSettings

_KEPT_SECONDS = 60.0
"""Documents wait so long for the calls of their trace: a call ends, and is sent, after them."""

_KEPT_CHARACTERS = 64_000_000
_TRACE_CHARACTERS = 1000
"""Counted for each trace besides its documents: some ten thousand are kept at most with short ones."""

_MOST_CALLS = 64
"""Of one span: more are an attack, or a loop."""

Documents: TypeAlias = list[tuple[int, list[str]]]
"""The texts that a trace has found, with the time."""

Found: TypeAlias = Literal["documents", "tools", "called"]
"""What a trace has: documents, what its tools answered, and ids and names of calls that are records."""


@dataclass(frozen=True, slots=True)
class Made:
    """The records made of a request, and how many items became none by reason."""

    records: list[Envelope] = field(default_factory=list)
    left_out: Counter[SkipReason] = field(default_factory=Counter)


class RecordMaker:
    """Makes records of requests, and keeps documents for a while for the calls of their trace."""

    def __init__(self, settings: OtlpSettings, *, max_bytes: int) -> None:
        """`max_bytes`: the longest record that is read."""
        self._settings = settings
        self._max_bytes = max_bytes
        self._fields = {name: (*settings.attributes.get(name, ()), *own) for name, own in names.FIELDS.items()}
        self._documents: TTLCache[tuple[str, Found], Documents] = TTLCache(
            _KEPT_CHARACTERS, _KEPT_SECONDS, getsizeof=_size
        )

    def make(self, items: Iterable[Item]) -> Made:
        """The records of a request; the same ones, with the same ids, if it comes again."""
        made = Made()
        # What a call is based on ended before it.
        for item in sorted(items, key=lambda item: item.ended):
            try:
                records = self._records(item)
                if any(len(to_json(record)) > self._max_bytes for record in records):
                    raise NotTaken("oversized")
            except NotTaken as none:
                made.left_out[none.reason] += 1
            except (ValueError, OverflowError, TypeError):
                made.left_out["invalid"] += 1
            else:
                made.records.extend(records)
        return made

    def _records(self, item: Item) -> Sequence[Envelope]:
        if _is_own(item):
            raise NotTaken("own")
        kinds = (names.GENERATIONS, self._generations), (names.RETRIEVALS, self._retrieval), (names.TOOLS, self._tool)
        make = next((make for operations, make in kinds if _is(item, operations)), None)
        if make is None:
            raise NotTaken("other")
        if not item.has_ids:
            raise NotTaken("unreadable")
        if item.incomplete:
            raise NotTaken("truncated")
        return make(item)

    def _generations(self, item: Item) -> list[Envelope]:
        answered = messages_of(item.attributes, names.OUTPUT)
        responses = self._responses(item, answered)
        said = messages_of(item.attributes, names.INPUT)
        if any(message.other for message in said):
            raise NotTaken("not_text")
        asked = max((at for at, message in enumerate(said) if message.role == "user" and message.texts), default=None)
        last = None if asked is None else said[asked].text
        prompt = self._field(item, "prompt") or last or _plain(item, names.INPUT_TEXT, names.INPUT_TYPE)
        envelope = self._envelope(item) | {"prompt": prompt}
        known = {"task": "answer", "contexts": self._contexts(item, said[:asked], said)}
        records: list[Envelope] = [
            Generation(**envelope, **known, kind="generation", id=_id(item, choice), response=response)
            for choice, response in enumerate(responses)
            if response
        ]
        told = next(filter(None, responses), "")
        calls = [call for message in answered for call in message.calls]
        made = [("call", {"name": call.name, "arguments": call.text}) for call in calls]
        if told:
            made += [("failed", one | {"response": told}) for one in failures(said[asked or 0 :])]
        if made:
            envelope |= {"tools": tools_of(item.attributes), "contexts": self._known(item, said, asked)}
            self._keep(item, "called", [text for call in calls for text in (call.id, call.name)])
        for at, (what, fields) in enumerate(made[:_MOST_CALLS], start=1):
            records.append(ToolCall(**envelope, **fields, kind="tool_call", id=f"{_id(item)}-{what}-{at}"))
        return records

    def _responses(self, item: Item, answered: list[ChatMessage]) -> list[str]:
        if response := self._field(item, "response"):
            return [response]
        if any(message.other for message in answered):
            raise NotTaken("not_text")
        if any(responses := [message.text for message in answered]):
            return responses
        if any(message.calls for message in answered):
            return []
        if response := _plain(item, names.OUTPUT_TEXT, names.OUTPUT_TYPE):
            return [response]
        raise NotTaken("no_content")

    def _known(self, item: Item, said: list[ChatMessage], asked: int | None) -> list[str]:
        """All that the model knew besides the question: arguments may be based on any of it."""
        texts = parts_text(item.attributes.get(names.SYSTEM, []))
        texts += [text for at, message in enumerate(said) if at != asked for text in message.texts]
        texts += [result.text for message in said for result in message.results]
        texts += self._found_before(item, "documents") + self._found_before(item, "tools")
        return list(dict.fromkeys(filter(None, texts)))

    def _contexts(self, item: Item, before: list[ChatMessage], said: list[ChatMessage]) -> list[str]:
        told = [result.text for message in said for result in message.results]
        if found := self._found_before(item, "documents") or told or self._found_before(item, "tools"):
            return found
        if self._settings.contexts != "prompt" or item.attributes.get(names.COMPACTED):
            return []
        texts = parts_text(item.attributes.get(names.SYSTEM, []))
        return texts + [text for message in before if message.role != "assistant" for text in message.texts]

    def _found_before(self, item: Item, what: Found) -> list[str]:
        kept = self._documents.get((item.trace_id, what), ())
        return [text for ended, texts in kept if ended <= item.began for text in texts]

    def _keep(self, item: Item, what: Found, texts: list[str]) -> None:
        kept = [*self._documents.get((item.trace_id, what), ()), (item.ended, texts)]
        if _size(kept) < _KEPT_CHARACTERS:
            self._documents[item.trace_id, what] = kept

    def _tool(self, item: Item) -> list[Envelope]:
        name, arguments, result = (self._field(item, one) for one in ("tool", "arguments", "result"))
        if result:
            self._keep(item, "tools", [result])
        called = {one for _, kept in self._documents.get((item.trace_id, "called"), ()) for one in kept}
        # A call that its model's span has shown needs no second record; a span that names none is one of its name.
        if not name or not arguments or (item.attributes.get(names.TOOL_CALL_ID) or name) in called:
            raise NotTaken("context" if result else "other")
        known = self._known(item, [], None)
        call = {"name": name, "arguments": arguments, "contexts": known, "result": result}
        return [ToolCall(**self._envelope(item), **call, kind="tool_call", id=_id(item))]

    def _retrieval(self, item: Item) -> list[Envelope]:
        documents = _documents(item.attributes)
        if not documents:
            raise NotTaken("no_content")
        self._keep(item, "documents", [document["text"] for document in documents])
        query = next(filter(None, (item.attributes.get(name) for name in names.QUERY)), None)
        matched, *others = documents
        if not query or "score" not in matched:
            raise NotTaken("context")
        candidates = tuple(Matched(**each) for each in others if "score" in each)
        search = {"id": _id(item), "query": query, "matched": Matched(**matched), "candidates": candidates}
        return [Retrieval(**self._envelope(item), **search, kind="retrieval", store="knowledge")]

    def _envelope(self, item: Item) -> dict[str, Any]:
        response_id = item.attributes.get(names.RESPONSE_ID)
        metadata = {name: value for name in names.METADATA if (value := _found(item, name)) is not None}
        return {
            "source": self._field(item, "source") or "unknown",
            "model": self._field(item, "model") or "unknown",
            "session": self._field(item, "session"),
            "tenant": self._field(item, "tenant"),
            "metadata": metadata,
            "trace": Trace(trace_id=item.trace_id, span_id=item.span_id, response_id=response_id or None),
            "occurred_at": datetime.fromtimestamp((item.ended or item.began) / 1e9, UTC),
        }

    def _field(self, item: Item, field: names.Field) -> str | None:
        found = next(filter(None, (_found(item, name) for name in self._fields[field])), None)
        return None if found is None else as_text(found)


def _found(item: Item, name: str) -> Any:
    found = item.attributes.get(name)
    return item.resource.get(name) if found is None else found


def _id(item: Item, choice: int = 0) -> str:
    return f"{item.trace_id}-{item.span_id}" + (f"-{choice}" if choice else "")


def _is(item: Item, operations: Mapping[str, frozenset[str]]) -> bool:
    for name, values in operations.items():
        if isinstance(found := item.attributes.get(name), str):
            return found in values
    return False


def _is_own(item: Item) -> bool:
    """True for what assay itself asked: its judge's calls would be judged, and the calls for that again."""
    said = (item.scope, item.attributes.get(names.PROVIDER), _found(item, names.SERVICE))
    return any(isinstance(name, str) and (name == "assay" or name.startswith(("assay.", "assay-"))) for name in said)


def _plain(item: Item, name: str, type_name: str) -> str | None:
    """The text under `name` unless it is JSON."""
    value = item.attributes.get(name)
    return value if isinstance(value, str) and item.attributes.get(type_name) != "application/json" else None


def _documents(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The documents that have a text, under the first name that has any."""
    for value in found_under(attributes, names.DOCUMENTS):
        # Traceloop's are within an object.
        found = value.get("documents") if isinstance(value, dict) else value
        if not isinstance(found, list):
            raise NotTaken("unreadable")
        if documents := [document for at, each in enumerate(found) if (document := _document(each, at))]:
            return documents
    return []


def _document(value: Any, at: int) -> dict[str, Any] | None:
    """Its `id`, `text` and `score`, as far as they are known."""
    inner = value.get("document", value) if isinstance(value, dict) else None
    if not isinstance(inner, dict):
        raise NotTaken("unreadable")
    text, score = inner.get("content", inner.get("page_content")), inner.get("score")
    # A record of a memory may hold anything.
    if text is None or not (text := as_text(text)):
        return None
    return {"id": str(inner.get("id") or at), "text": text} | ({} if score is None else {"score": score})


def _size(kept: Documents) -> int:
    return _TRACE_CHARACTERS + sum(len(text) for _, texts in kept for text in texts)
