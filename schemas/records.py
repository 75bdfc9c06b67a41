"""Records: outputs of deployed models as producers put them on the outputs topic; a class a kind, and their reading."""

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal, Self, get_args

import orjson
from pydantic import (
    ConfigDict,
    FailFast,
    Field,
    JsonValue,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from schemas.base import (
    Name,
    OptionalTrace,
    Text,
    Timestamp,
    Unreadable,
    Wire,
    content_id,
    explain,
    nearest,
    shown,
    strict_json,
)

# Stop at the first bad item: a list may have a million of them.
Texts = Annotated[tuple[Text, ...], FailFast()]

_TEXT_KEYS = ("text", "page_content", "content")
"""Where retrievers put a passage: most of them, LangChain, Haystack."""
_DOCUMENT_KEYS = ("source", "document", "id")
"""Where they put its document, in the passage's metadata or next to its text."""


class Passage(str):
    """The text of a passage, with the name of its document; empty where the producer gave none."""

    __slots__ = ("document",)
    document: str


def _passage(value: Any, validated: Callable[[Any], str]) -> str:
    if not isinstance(value, dict):
        return validated(value)
    text = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    if text is None:
        raise ValueError(f"an object needs its text as a string under {', '.join(_TEXT_KEYS)}")
    passage = Passage(validated(text))
    places = (place for place in (value.get("metadata"), value) if isinstance(place, dict))
    given = (place.get(key) for place in places for key in _DOCUMENT_KEYS)
    passage.document = next((str(name) for name in given if isinstance(name, str | int) and str(name).strip()), "")
    return passage


_OBJECTS = [{"type": "object", "properties": {key: {"type": "string"}}, "required": [key]} for key in _TEXT_KEYS]
_Given = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, *_OBJECTS]})]
_PassageText = Annotated[Text, WrapValidator(_passage, json_schema_input_type=_Given)]
Passages = Annotated[tuple[_PassageText, ...], FailFast()]

_MISSPELT_LIKENESS = 0.885
"""`context` for `contexts`, `refrence`, `Prompt`, but not `sessionId` for `session`."""
_LONGEST_NAME = 24

_FLAGS = {"iserror": True, "success": False, "succeeded": False, "ok": False}
"""What these fields are of a call that failed."""
_STATUS = {str(code): code >= 400 for code in range(200, 600)}
_STATUS |= dict.fromkeys(("error", "failed", "failure", "fail", "timeout"), True)
_STATUS |= dict.fromkeys(("ok", "success", "succeeded", "successful", "completed", "done"), False)
_ERROR_LINE = re.compile(r"\s*[\w.]{0,80}(?:error|exception)\b[^:\n]{0,80}:|\s*traceback \(", re.IGNORECASE)
"""How programs report an error: `TimeoutError: no answer`."""


class Envelope(Wire):
    """The fields that every record has, whatever its kind."""

    id: Name = ""
    """Unique within `source`; derived from the content if absent."""
    occurred_at: Timestamp = Field(default_factory=lambda: datetime.now(UTC))
    """Time when the output was produced; the time of reading if absent."""
    source: Name
    """The application or feature that produced the output."""
    model: Name
    """The subject: the deployed model that produced the output."""
    tenant: Name | None = None
    session: Name | None = None
    trace: OptionalTrace = None
    """The call that produced the output, in the producer's traces; one that is wrong is left out."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def misspelt(self) -> dict[str, str]:
        """Unknown fields that are nearly a known one that the record lacks, by that one."""
        extra = self.model_extra
        return misspelt(type(self), dict.fromkeys((*extra, *self.model_fields_set))) if extra else {}

    @model_validator(mode="after")
    def _derive_id(self) -> Self:
        if not self.id:
            # Only what the producer gave, not what was filled in: the same bytes give the same id again.
            given = self.model_dump(mode="json", exclude_unset=True)
            object.__setattr__(self, "id", content_id("rec", given))
        return self


Task = Literal["summary", "answer", "paraphrase"]
"""`summary`: of the reference. `answer`: to the prompt, from the contexts. `paraphrase`: of the reference."""


MOST_TURNS = 20
"""Turns of a session that a record may be compared with."""


class Turn(Wire):
    """An earlier output of a session, with the prompt that it answered; small, however long the output is."""

    record_id: Name
    prompt: Text | None = None
    """The first 500 code points."""
    response: Text
    """The first 2,000 code points."""


class Generation(Envelope):
    """A free-text response, with the texts that it can be checked against."""

    kind: Literal["generation"]
    response: Text
    task: Task | None = None
    """If absent: `answer` if there is a prompt, contexts or samples, else `summary`."""
    prompt: Text | None = None
    reference: Text | None = None
    """The source article, or the true answer."""
    contexts: Passages = ()
    """Retrieved passages that the response should be based on. Of an object as retrievers return it, with a score and
    metadata perhaps, its text counts; the name of its document, as `source`, `document` or `id`, goes into the
    verdict's attributes."""
    samples: Texts = ()
    """Further responses of the same subject to the same prompt, to check self-consistency."""
    _earlier: tuple[Turn, ...] = PrivateAttr(default=())

    @property
    def earlier(self) -> tuple[Turn, ...]:
        """The turns before it in its session, the oldest first; no part of the message, a reader adds them."""
        return self._earlier

    def after(self, earlier: tuple[Turn, ...]) -> Self:
        """The same record behind these turns."""
        copy = self.model_copy()
        copy.__pydantic_private__ = {"_earlier": earlier}
        return copy

    @property
    def turn(self) -> Turn:
        """What it adds to its session."""
        return Turn(record_id=self.id, prompt=self.prompt and self.prompt[:500], response=self.response[:2000])

    @property
    def effective_task(self) -> Task:
        """The task, derived from the other fields if absent."""
        if self.task is not None:
            return self.task
        return "answer" if self.prompt or self.contexts or self.samples else "summary"


class Paraphrase(Envelope):
    """The subject's decision whether two sentences mean the same."""

    kind: Literal["paraphrase"]
    sentence1: Text
    sentence2: Text
    answer: bool
    """True if the subject says that the sentences mean the same."""
    prompt: Text | None = None


class ListedEntity(Wire):
    """An entity, with its class if there is one."""

    model_config = ConfigDict(serialize_by_alias=True)
    entity: Text
    kind: Text = Field(default="", alias="class")


class Extraction(Envelope):
    """The entities that the subject found in a text, each alone or with its class."""

    kind: Literal["extraction"]
    text: Text
    entities: Annotated[tuple[Text | ListedEntity, ...], FailFast()]
    prompt: Text | None = None

    @property
    def listed(self) -> tuple[ListedEntity, ...]:
        return tuple(one if isinstance(one, ListedEntity) else ListedEntity(entity=one) for one in self.entities)


class Labelling(Envelope):
    """The label that the subject gave to a datapoint under a rubric."""

    kind: Literal["labelling"]
    datapoint: JsonValue
    rubric: Name
    """Name of the rubric."""
    label: int | bool | Text
    prompt: Text | None = None


class Matched(Wire):
    """A stored text that a vector search returned."""

    id: Name
    text: Text
    score: float
    """The store's similarity or distance."""


class Retrieval(Envelope):
    """A search result of a knowledge store or of a semantic cache."""

    kind: Literal["retrieval"]
    store: Literal["knowledge", "cache"]
    query: Text
    matched: Matched
    """The text that was used."""
    metric: Name | None = None
    """Name of the store's metric, such as `cosine` or `l2`."""
    candidates: Annotated[tuple[Matched, ...], FailFast()] = ()
    """The other search results, the closest first."""
    prompt: Text | None = None


class ProbeStatement(Wire):
    """The rule that a probe was made from."""

    premise: Text
    conclusion: Text
    """The sentence that the premise is said to entail."""
    domain: Name | None = None
    distribution: Literal["head", "tail"] | None = None
    """`tail`: the statement is less likely than those of the `head`."""


class Probe(Envelope):
    """A question on a rare fact, the expected answer and the subject's answer."""

    kind: Literal["probe"]
    statement: ProbeStatement
    template: int
    """Number of the template that the question was made with."""
    question: Text
    expected: Text
    answer: Text
    reasoning: Text | None = None
    """The subject's words before its answer, if it was asked to reason first."""
    prompt: Text | None = None


class Tool(Wire):
    """A tool that the subject could call."""

    name: Text
    description: Text | None = None
    parameters: dict[str, JsonValue] | None = None
    """JSON Schema of the arguments; they are not compared with one if it is absent."""


class ToolCall(Envelope):
    """A call of a tool by the subject, and perhaps what came of it."""

    kind: Literal["tool_call"]
    name: Text
    arguments: dict[str, JsonValue] | Text
    """An object, or the text that the subject wrote in its place, word for word."""
    tools: Annotated[tuple[Tool, ...], FailFast()] = ()
    """The tools that it could call; if there are none, neither the name nor the schema is tested."""
    prompt: Text | None = None
    contexts: Passages = ()
    """What else the subject knew: instructions, earlier turns, results of earlier calls, passages."""
    result: JsonValue = None
    """What the tool returned."""
    is_error: bool | None = None
    """True if the tool failed; if absent, it is read from the result."""
    response: Text | None = None
    """What the subject told the user afterwards."""

    @property
    def failed(self) -> bool | None:
        """True if the tool failed; None if that is not known."""
        return has_failed(self.result) if self.is_error is None else self.is_error


_AnyKind = Generation | Paraphrase | Extraction | Labelling | Retrieval | Probe | ToolCall
Record = Annotated[_AnyKind, Field(discriminator="kind")]
"""A record of any kind; `kind` discriminates."""

RECORD_TYPES: tuple[type[Envelope], ...] = get_args(_AnyKind)
RECORD_KINDS: tuple[str, ...] = tuple(get_args(one.model_fields["kind"].annotation)[0] for one in RECORD_TYPES)

_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def read_record(data: bytes | None, *, max_bytes: int) -> Envelope:
    """The record in `data`, which is scanned for what JSON parsers accept silently; raises `Unreadable`."""
    if not data or data.isspace():
        raise Unreadable("empty", "the message is empty; expected a JSON object with a 'kind'")
    if len(data) > max_bytes:
        raise Unreadable("oversized", f"{len(data)} bytes; allowed are {max_bytes} (records.max_bytes)")
    document = strict_json(data)
    kind = document.get("kind")
    if kind not in RECORD_KINDS:
        what = f"allowed are {', '.join(RECORD_KINDS)}"
        if kind is None:
            raise Unreadable("invalid_record", f"'kind' is missing; {what}")
        raise Unreadable("unknown_kind", f"kind {shown(kind)}; {what}")
    try:
        return _RECORD.validate_json(data, strict=True)
    except ValidationError as error:
        hint = misspelt_hint(misspelt(RECORD_TYPES[RECORD_KINDS.index(kind)], document))
        raise Unreadable("invalid_record", "; ".join(filter(None, (explain(error), hint)))) from None


def has_failed(result: JsonValue) -> bool | None:
    """Whether a tool's result, or an answer, says by its structure that the call failed; None if it does not say.

    An error flag, an error, a status of words or of HTTP, or a text that begins as programs report errors.
    """
    if isinstance(result, str):
        if _ERROR_LINE.match(result):
            return True
        with suppress(orjson.JSONDecodeError):
            result = orjson.loads(result)
    fields = result if isinstance(result, dict) else {}
    known = {name.lower().replace("_", ""): value for name, value in fields.items()}
    said = [known[name] is failed for name, failed in _FLAGS.items() if isinstance(known.get(name), bool)]
    said += [bool(known[name]) for name in ("error", "errors", "exception") if name in known]
    status = (str(known.get(name)).lower() for name in ("status", "statuscode", "httpstatus"))
    said += [_STATUS[word] for word in status if word in _STATUS]
    return any(said) if said else None


def misspelt(kind: type[Envelope], fields: Collection[str]) -> dict[str, str]:
    """Those of `fields` that are nearly a field of `kind` that is not among them, by that field."""
    # A record may have a hundred thousand unknown fields.
    unknown = islice((name for name in fields if name not in kind.model_fields), 64)
    near = {_nearest_field(kind, name): name for name in unknown if len(name) <= _LONGEST_NAME}
    return {known: name for known, name in near.items() if known and known not in fields}


def misspelt_hint(found: dict[str, str]) -> str:
    """A sentence for the producer on what `misspelt` found; empty if it found nothing."""
    said = [f"{name!r} (did you mean {known!r}?)" for known, name in islice(found.items(), 3)]
    return f"the record has the unknown field{'s' * (len(said) > 1)} {', '.join(said)}" if said else ""


@lru_cache(maxsize=1024)
def _nearest_field(kind: type[Envelope], name: str) -> str | None:
    return nearest(name, kind.model_fields, likeness=_MISSPELT_LIKENESS)
