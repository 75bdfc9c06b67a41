"""Rows of Langfuse's and Phoenix's exports as the calls and retrievals that they tell of."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from assay.convert import Row
from schemas import Envelope, Unreadable
from schemas.base import as_utc
from streams.otlp.decoding import Item, Request
from streams.otlp.records import Made, RecordMaker
from streams.otlp.settings import OtlpSettings

_HEX = re.compile("[0-9a-f]+")
_DEEPEST = 12
_LANGFUSE_OPERATIONS = {"GENERATION": "chat", "RETRIEVER": "retrieval"}
_TEXTS = ("content", "page_content", "pageContent", "text")


@dataclass(frozen=True, slots=True)
class _Told:
    """The contents of a row."""

    ids: tuple[Any, Any]
    times: tuple[Any, Any]
    attributes: Mapping[str, Any]
    source: Any = None


def _langfuse(row: Row) -> _Told:
    """A row of observations, named as in its files (`trace_id`) or as its API answers (`traceId`)."""

    def get(*names: str) -> Any:
        return next((row[name] for name in names if row.get(name) not in (None, "")), None)

    operation = _LANGFUSE_OPERATIONS.get(str(get("type")).upper(), "")
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": get("provided_model_name", "providedModelName", "model"),
        "gen_ai.conversation.id": get("session_id", "sessionId"),
        "gen_ai.prompt.name": get("prompt_name", "promptName"),
        "gen_ai.prompt.version": get("prompt_version", "promptVersion"),
        "service.version": get("version", "release"),
        "deployment.environment.name": get("environment"),
    }
    asked, answered = (_unpacked(row.get(name)) for name in ("input", "output"))
    if operation == "retrieval":
        attributes["gen_ai.retrieval.query.text"] = asked if isinstance(asked, str) else None
        attributes["gen_ai.retrieval.documents"] = [_document(each) for each in _list(answered, "documents")]
    else:
        for name, value in (("input", asked), ("output", answered)):
            is_text = isinstance(value, str)
            attributes[f"{name}.value" if is_text else f"gen_ai.{name}.messages"] = (
                value if is_text or value is None else _list(value, "messages")
            )
    return _Told(
        (get("trace_id", "traceId"), get("id")),
        (get("start_time", "startTime"), get("end_time", "endTime")),
        attributes,
        source=get("trace_name", "traceName", "name"),
    )


def _phoenix(row: Row) -> _Told:
    """A span as its API answers, or a row of its data frame of spans (`context.span_id`, `attributes.…`)."""
    attributes = {"openinference.span.kind": row.get("span_kind")}
    context = row.get("context")
    context = context if isinstance(context, dict) else {}
    for name, value in row.items():
        if name == "attributes" or name.startswith("attributes."):
            attributes.update(_flat(name, _unpacked(value)))
    ids = [context.get(name) or row.get(f"context.{name}") for name in ("trace_id", "span_id")]
    attributes = {name.removeprefix("attributes."): value for name, value in attributes.items()}
    return _Told((ids[0], ids[1]), (row.get("start_time"), row.get("end_time")), attributes)


_READERS: Mapping[str, Callable[[Row], "_Told"]] = {"langfuse": _langfuse, "phoenix": _phoenix}
EXPORTS = tuple(_READERS)


class Export:
    """The rows of one export, all of them: what a call is based on may stand behind it."""

    def __init__(self, name: str, settings: OtlpSettings, *, source: str | None, max_bytes: int) -> None:
        """`source`: of rows that name none; `max_bytes`: the longest record that is read."""
        self._read = _READERS[name]
        self._source = source or name
        self._maker = RecordMaker(settings, max_bytes=max_bytes, documents={})
        self._items: list[Item] = []
        self._ids: dict[str, str] = {}
        """Ids of records that are not made of ids of OpenTelemetry, by those that stand for them."""

    def add(self, row: Row) -> None:
        """Take a row; raises `Unreadable` if it is none of the export."""
        told = self._read(row)
        if not all(isinstance(each, str) and each for each in told.ids):
            raise Unreadable("invalid_record", "the row names no trace, or no span or observation in it")
        began, ended = (_nanoseconds(time) for time in told.times)
        item = Item(
            trace_id=_hexadecimal(told.ids[0], 32),
            span_id=_hexadecimal(told.ids[1], 16),
            began=began,
            ended=ended or began,
            attributes={name: value for name, value in told.attributes.items() if value is not None},
            resource={"service.name": told.source or self._source},
            scope="",
            incomplete=False,
        )
        if (item.trace_id, item.span_id) != told.ids:
            self._ids[f"{item.trace_id}-{item.span_id}"] = "-".join(told.ids)
        self._items.append(item)

    def made(self) -> Made:
        """The records of all rows, and what became none."""
        made = self._maker.make(Request(self._items, unreadable=0))
        return Made([self._named(record) for record in made.records], made.left_out)

    def _named(self, record: Envelope) -> Envelope:
        trace, span, *choice = record.id.split("-")
        own = self._ids.get(f"{trace}-{span}")
        return record if own is None else record.model_copy(update={"id": "-".join([own, *choice]), "trace": None})


def _hexadecimal(identifier: str, digits: int) -> str:
    """The id, or one made of it where it is none of OpenTelemetry's."""
    plain = identifier.replace("-", "").lower()
    is_one = len(plain) == digits and _HEX.fullmatch(plain)
    return plain if is_one else hashlib.sha256(plain.encode()).hexdigest()[:digits]


def _nanoseconds(value: Any) -> int:
    if value is None or value == "":
        return 0
    if isinstance(value, int | float):
        # As data frames write times.
        return int(value * 1_000_000)
    try:
        moment = as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(str(value)))
    except ValueError:
        raise Unreadable("invalid_record", f"{str(value)[:40]!r} is no time") from None
    return int(moment.timestamp() * 1_000_000) * 1000


def _unpacked(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _list(value: Any, name: str) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get(name), list):
        value = value[name]
    return value if isinstance(value, list) else [] if value is None else [value]


def _document(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"content": value}
    if not isinstance(value, dict):
        return {}
    text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    return {"id": value.get("id"), "score": value.get("score"), "content": text}


def _flat(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inner is None or depth > _DEEPEST:
        yield name, value
    else:
        for key, each in inner:
            yield from _flat(f"{name}.{key}", each, depth + 1)
