"""One endpoint's dialect: the form of structured output, the token limit's name, and which parameters it takes.

Endpoints differ and do not announce it; it is learned from their refusals.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
import structlog
from pydantic import BaseModel

from models.faults import Refused
from models.probabilities import ALTERNATIVES
from models.protocol import Message, Question, YesNo
from models.settings import OMIT, EndpointSettings

SEVERAL = "n"
"""The parameter for several completions at once."""
_MODES = ("json_schema", "json_object", "none")
_BOUNDS = "bounds"
_BOUND_KEYS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"})
_OWN_WORDS = frozenset({"default", "title", "description"})
_FORMAT_REFUSED = re.compile(
    r"response_format|json_schema|json_object|structured output|guided_json|grammar|json schema"
    r"|(?:min|max)(?:Items|Length|imum)",
    re.IGNORECASE,
)
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"
_RENAMED = "name of the token limit"
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})
_OPTIONAL = ("temperature", *_LOGPROBS, _LIMIT, _OTHER_LIMIT, SEVERAL)
"""The parameters that a request may omit."""

GivenUp = frozenset[str]
"""What requests do without: parameters, modes of structured output, the bounds of schemas, the limit's usual name."""

_LOG = structlog.get_logger(__name__)


class Dialect:
    """What an endpoint is known to accept."""

    def __init__(self, settings: EndpointSettings, *, name: str) -> None:
        """`name` is for logs."""
        self._name = name
        self.given_up: GivenUp = frozenset()
        """By the requests that were accepted."""
        self._options: dict[str, Any] = {"model": settings.model}
        if settings.temperature != OMIT:
            self._options["temperature"] = settings.temperature

    def request(
        self,
        question: Question[Any],
        messages: Sequence[Message],
        max_tokens: int | None,
        given_up: GivenUp,
        count: int,
    ) -> dict[str, Any]:
        """The request for so many completions that puts `messages`, which are the question's or continue them."""
        reply: type[BaseModel] = question.reply
        mode, is_word = _mode(given_up), reply is YesNo
        if mode != "json_schema" and not is_word:
            first, *others = messages if messages[0].role == "system" else (Message("system", ""), *messages)
            messages = (Message("system", f"{first.content}\n\n{_instruction(reply)}".strip()), *others)
        request = {
            **self._options,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        if mode != "none" and not is_word:
            request["response_format"] = _format(mode, reply, bounded=_BOUNDS not in given_up)
        if max_tokens is not None:
            request[_OTHER_LIMIT if _RENAMED in given_up else _LIMIT] = max_tokens
        if question.graded is not None or is_word:
            request |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if count > 1:
            request[SEVERAL] = count
        return {name: value for name, value in request.items() if name not in given_up}

    def concession(self, refused: Refused, question: Question[Any], asked: dict[str, Any]) -> GivenUp:
        """What else to give up after the refusal of a request; nothing if it names nothing that can be."""
        reply: type[BaseModel] = question.reply
        if _LIMIT in asked and _OTHER_LIMIT in refused.message:
            return frozenset({_RENAMED})
        form = asked.get("response_format")
        if form is not None and _FORMAT_REFUSED.search(refused.message):
            bounded = form != _format(form["type"], reply, bounded=False)
            return frozenset({_BOUNDS if bounded else form["type"]})
        sent = [parameter for parameter in _OPTIONAL if parameter in asked]
        named = re.search(rf"\b(?:{'|'.join(sent)})\b", refused.message) if sent else None
        if named is None:
            # Some say that they give one choice only, and do not name the parameter.
            return frozenset({SEVERAL}.intersection(asked))
        return _LOGPROBS if named[0] in _LOGPROBS else frozenset({named[0]})

    def accepted(self, given_up: GivenUp) -> None:
        """Put all further requests as one that was not refused."""
        if not given_up <= self.given_up:
            self.given_up |= given_up
            omitted = sorted(self.given_up.intersection(_OPTIONAL))
            _LOG.info("endpoint_requests_adapted", model=self._name, structured=_mode(given_up), omitted=omitted)


def _mode(given_up: GivenUp) -> str:
    return next(mode for mode in _MODES if mode not in given_up)


@lru_cache(maxsize=256)
def _format(mode: str, reply: type[BaseModel], *, bounded: bool) -> dict[str, Any]:
    if mode != "json_schema":
        return {"type": mode}
    schema = _strict(reply.model_json_schema(), _OWN_WORDS if bounded else _OWN_WORDS | _BOUND_KEYS)
    return {"type": mode, "json_schema": {"name": reply.__name__, "strict": True, "schema": schema}}


@lru_cache(maxsize=256)
def _instruction(reply: type[BaseModel]) -> str:
    schema = orjson.dumps(_strict(reply.model_json_schema(), _OWN_WORDS)).decode()
    return f"Reply with a single JSON object and nothing else. It must match this JSON schema:\n{schema}"


def _strict(schema: Any, dropped: frozenset[str]) -> Any:
    """Require every property, and allow no others, as strict structured output demands; without the `dropped` keys."""
    if isinstance(schema, list):
        return [_strict(part, dropped) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _strict(one, dropped) for name, one in part.items()}
        if key in {"properties", "$defs"}
        else _strict(part, dropped)
        for key, part in schema.items()
        if key not in dropped
    }
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept
