"""One endpoint's dialect: the form of structured output, the token limit's name, and which parameters it takes.

Endpoints differ and do not announce it; it is learned from their first refusal.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
import structlog
from pydantic import BaseModel

from models.faults import Refusal
from models.probabilities import ALTERNATIVES
from models.protocol import Message, Question, YesNo
from models.settings import OMIT, EndpointSettings

Mode = Literal["json_schema", "json_object", "none"]

_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "none")
_STEP_DOWN: dict[Mode, Mode] = {"json_schema": "json_object", "json_object": "none"}
_FORMAT_REFUSED = re.compile(
    r"response_format|json_schema|json_object|structured output|guided_json|grammar|json schema"
    r"|(?:min|max)(?:Items|Length|imum)",
    re.IGNORECASE,
)
_BOUNDS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"})
"""Keywords of schemas that some endpoints refuse."""
_OTHER_LIMIT = "max_completion_tokens"
SEVERAL = "n"
"""The parameter for several completions at once."""
_OPTIONAL = ("temperature", "logprobs", "top_logprobs", "max_tokens", _OTHER_LIMIT, SEVERAL)
"""The parameters that a request may omit."""
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Manner:
    """The form of requests."""

    mode: Mode
    bounded: bool = True
    """True if schemas say how many entries and characters a reply must have."""
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    omitted: frozenset[str] = frozenset()
    """Parameters that are not sent."""


class Dialect:
    """The forms that an endpoint is known to accept."""

    def __init__(self, settings: EndpointSettings, *, name: str) -> None:
        """`name` is for logs."""
        self._name = name
        self._learns_format = settings.structured == "auto"
        self.manner = Manner("json_schema" if settings.structured == "auto" else settings.structured)
        """That of the last request that was accepted."""
        self._options: dict[str, Any] = {"model": settings.model}
        if settings.temperature != OMIT:
            self._options["temperature"] = settings.temperature
        self._forms: dict[type[BaseModel], _ReplyFormat] = {}

    def request(
        self,
        question: Question[Any],
        messages: tuple[Message, ...],
        max_tokens: int | None,
        manner: Manner,
        completions: int = 1,
    ) -> dict[str, Any]:
        """The request that puts `messages`, which are the question's or continue them, in this manner."""
        is_word = question.reply is YesNo
        form = self._form(question.reply)
        if manner.mode != "json_schema" and not is_word:
            messages = _with_instruction(messages, form.instruction)
        request = {
            **self._options,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        if manner.mode != "none" and not is_word:
            request["response_format"] = form.formats[manner.mode] if manner.bounded else form.unbounded[manner.mode]
        if max_tokens is not None:
            request[manner.limit_key] = max_tokens
        if question.graded is not None or is_word:
            request |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if completions > 1:
            request[SEVERAL] = completions
        return {name: value for name, value in request.items() if name not in manner.omitted}

    @property
    def gives_several(self) -> bool:
        """True unless the endpoint is known to give one completion at a time."""
        return SEVERAL not in self.manner.omitted

    def gave_one(self) -> None:
        """The endpoint gave one completion although it was asked for several, and did not refuse."""
        self.accepted(replace(self.manner, omitted=self.manner.omitted | {SEVERAL}))

    def added_characters(self, question: Question[Any], manner: Manner | None = None) -> int:
        """Characters that requests in this manner, or the known one, have besides the messages."""
        has_none = question.reply is YesNo or (manner or self.manner).mode == "json_schema"
        return 0 if has_none else len(self._form(question.reply).instruction)

    def concede(self, refusal: Refusal, asked: dict[str, Any], manner: Manner | None) -> Manner | None:
        """Another manner in which to send what was `asked`, after the endpoint's refusal; None if there is none."""
        manner = manner or self.manner
        said = f"{refusal.message} {refusal.parameter}"
        if "max_tokens" in asked and _OTHER_LIMIT in said:
            return replace(manner, limit_key="max_completion_tokens")
        form = asked.get("response_format", {})
        used: Mode = form.get("type", "none")
        if used != "none" and _FORMAT_REFUSED.search(said):
            if manner.bounded and form != _without_bounds(form):
                return replace(manner, bounded=False)
            if self._learns_format:
                return replace(manner, mode=_STEP_DOWN[used])
        # Some say that they give one choice only, and do not name the parameter.
        parameter = _refused_parameter(refusal, asked) or (SEVERAL if SEVERAL in asked else None)
        if parameter is None:
            return None
        return replace(manner, omitted=manner.omitted | (_LOGPROBS if parameter in _LOGPROBS else {parameter}))

    def accepted(self, manner: Manner | None) -> None:
        """Put all further requests in the manner of one that was not refused."""
        if manner is not None and manner != self.manner:
            self.manner = manner
            omitted = sorted(manner.omitted)
            _LOG.info("endpoint_requests_adapted", model=self._name, structured=manner.mode, omitted=omitted)

    def _form(self, reply: type[BaseModel]) -> "_ReplyFormat":
        form = self._forms.get(reply)
        if form is None:
            form = self._forms[reply] = _ReplyFormat(reply)
        return form


def _refused_parameter(refusal: Refusal, asked: dict[str, Any]) -> str | None:
    """The parameter that the response names as refused, or else the first in its words."""
    sent = [parameter for parameter in _OPTIONAL if parameter in asked]
    if refusal.parameter in sent:
        return refusal.parameter
    places = {one: re.search(rf"\b{one}\b", refusal.message) for one in sent}
    named = [(found.start(), one) for one, found in places.items() if found]
    return min(named)[1] if named else None


class _ReplyFormat:
    def __init__(self, reply: type[BaseModel]) -> None:
        schema = _strict(reply.model_json_schema())
        json_schema = {"name": reply.__name__, "strict": True, "schema": schema}
        self.formats: dict[Mode, dict[str, Any]] = {
            "json_schema": {"type": "json_schema", "json_schema": json_schema},
            "json_object": {"type": "json_object"},
        }
        self.unbounded = {mode: _without_bounds(form) for mode, form in self.formats.items()}
        self.instruction = (
            "Reply with a single JSON object and nothing else. It must match this JSON schema:\n"
            f"{orjson.dumps(schema).decode()}"
        )


def _strict(schema: Any) -> Any:
    """Require every property, and allow no others and no defaults, as strict structured output demands.

    Our names and docstrings add nothing to the prompt.
    """
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _strict(one) for name, one in part.items()} if key in {"properties", "$defs"} else _strict(part)
        for key, part in schema.items()
        if key not in {"default", "title", "description"}
    }
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _without_bounds(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_bounds(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_bounds(one) for name, one in part.items()}
        if key in {"properties", "$defs"}
        else _without_bounds(part)
        for key, part in schema.items()
        if key not in _BOUNDS
    }


def _with_instruction(messages: tuple[Message, ...], instruction: str) -> tuple[Message, ...]:
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{instruction}"), *messages[1:])
    return (Message("system", instruction), *messages)
