"""What one endpoint takes: its dialect (structured output, the token limit's name, parameters) and its model's window.

Endpoints differ and do not announce it; it is learned from their refusals.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
import structlog
from pydantic import BaseModel

from models.endpoint import SMALLEST_WINDOW, Refused
from models.protocol import Message, ModelFailed, Question, WindowExceeded, YesNo
from models.replies import ALTERNATIVES
from models.settings import OMIT, EndpointSettings

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
_OPTIONAL = ("temperature", *_LOGPROBS, _LIMIT, _OTHER_LIMIT)
"""The parameters that a request may omit."""

GivenUp = frozenset[str]
"""What requests do without: parameters, modes of structured output, the bounds of schemas, the limit's usual name."""

_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,2}|[!-/:-@\[-`{-~]")
"""Stretches of ASCII that are a token each, or part of a longer one; blanks belong to what follows."""
_BYTES_OF_A_TOKEN = 2
"""UTF-8 bytes a token, not ASCII: most scripts have more; those that a model hardly knows have one or two."""
_MARGIN = 1.1
_OF_A_TURN = 8  # tokens around each turn: role and separators of the chat template
_FOR_THE_REPLY = 4  # at least one in so many tokens of the window is left to a reply of unknown length
_SAFE = 0.98  # what stands around the texts stays when those are cut
_NEXT = 0.8  # so much of what does not fit is said to, where the window's size is not known

_LOG = structlog.get_logger(__name__)


class Dialect:
    """What an endpoint is known to accept; without a window's size, everything fits."""

    def __init__(self, settings: EndpointSettings, *, name: str) -> None:
        """`name` is for logs."""
        self._name, self._window = name, settings.context_tokens
        self.given_up: GivenUp = frozenset()
        """By the requests that were accepted."""
        self._options: dict[str, Any] = {"model": settings.model}
        if settings.temperature != OMIT:
            self._options["temperature"] = settings.temperature

    def request(
        self, question: Question[Any], messages: Sequence[Message], wanted: int | None, conceded: GivenUp
    ) -> dict[str, Any]:
        """The request that puts `messages`, which are the question's or continue them.

        The reply's limit is `wanted` (None: no limit), or what the window leaves; raises WindowExceeded if that is too
        little.
        """
        given_up = self.given_up | conceded
        reply: type[BaseModel] = question.reply
        mode, is_word, max_tokens = _mode(given_up), reply is YesNo, self._fitting(messages, wanted, question.written)
        if mode != "json_schema" and not is_word:
            first, *others = messages if messages[0].role == "system" else (Message("system", ""), *messages)
            messages = (Message("system", f"{first.content}\n\n{_instruction(reply)}".strip()), *others)
        turns = [{"role": message.role, "content": message.content} for message in messages]
        request: dict[str, Any] = {**self._options, "messages": turns}
        if mode != "none" and not is_word:
            request["response_format"] = _format(mode, reply, bounded=_BOUNDS not in given_up)
        if max_tokens is not None:
            request[_OTHER_LIMIT if _RENAMED in given_up else _LIMIT] = max_tokens
        if question.graded is not None or is_word:
            request |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        return {name: value for name, value in request.items() if name not in given_up}

    def concession(
        self, refused: Refused, question: Question[Any], messages: Sequence[Message], asked: dict[str, Any]
    ) -> GivenUp:
        """What else to give up after the refusal of a request; raises ModelFailed if it names nothing that can be."""
        if refused.about == "filter":
            said = f"the endpoint's content filter kept the question back: {refused.detail}"
            raise ModelFailed(said, cause="judge_filtered")
        if refused.about == "length":
            self._shorten(refused, question, messages, asked.get(_LIMIT) or asked.get(_OTHER_LIMIT))
            return frozenset()
        reply: type[BaseModel] = question.reply
        if _LIMIT in asked and _OTHER_LIMIT in refused.message:
            return frozenset({_RENAMED})
        form = asked.get("response_format")
        if form is not None and _FORMAT_REFUSED.search(refused.message):
            bounded = form != _format(form["type"], reply, bounded=False)
            return frozenset({_BOUNDS if bounded else form["type"]})
        named = [one for one in _OPTIONAL if one in asked and re.search(rf"\b{one}\b", refused.message)]
        if not named:
            raise ModelFailed(f"the endpoint refused: {refused.detail}", cause="judge_failed")
        return _LOGPROBS if named[0] in _LOGPROBS else frozenset(named[:1])

    def accepted(self, given_up: GivenUp) -> None:
        """Put all further requests as one that was not refused."""
        if not given_up <= self.given_up:
            self.given_up |= given_up
            omitted = sorted(self.given_up.intersection(_OPTIONAL))
            _LOG.info("endpoint_requests_adapted", model=self._name, structured=_mode(self.given_up), omitted=omitted)

    def _fitting(self, messages: Sequence[Message], wanted: int | None, written: int) -> int | None:
        if self._window is None:
            return wanted
        estimate, reserved = _estimate(messages), written or self._window // _FOR_THE_REPLY
        reserved = reserved if wanted is None else min(reserved, wanted)
        left = int(self._window - estimate)
        if left < reserved:
            raise _exceeded(messages, f"window of {self._window} tokens", (self._window - reserved) / estimate)
        return None if wanted is None else min(wanted, left)

    def _shorten(
        self, refused: Refused, question: Question[Any], messages: Sequence[Message], sent: int | None
    ) -> None:
        """Learn the window's size from a refusal because of the length of a question, with this limit of the reply.

        Raises WindowExceeded unless it may fit with a lower limit: as it was sent, it is not taken to fit again.
        """
        known, window = self._window, refused.window or int(_NEXT * _estimate(messages))
        if window >= SMALLEST_WINDOW and window < (known or window + 1):
            self._window = window
            _LOG.info("endpoint_window_learned", model=self._name, tokens=window)
        if (self._fitting(messages, sent, question.written) or 0) >= (sent or 0):
            raise _exceeded(messages, "window", _NEXT)


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


def _estimate(messages: Sequence[Message]) -> float:
    """Tokens, with what stands around the messages; rather too many than too few."""
    text = "".join(one.content for one in messages)
    others = len(text.encode(errors="replace")) - len(text.encode("ascii", "ignore"))
    return _MARGIN * (len(_TOKEN.findall(text)) + others / _BYTES_OF_A_TOKEN) + _OF_A_TURN * len(messages)


def _exceeded(messages: Sequence[Message], window: str, share: float) -> WindowExceeded:
    """The refusal of a question of which a share fits."""
    characters = sum(len(one.content) for one in messages)
    detail = f"the question, of {characters} characters, is longer than the model's {window} allows"
    return WindowExceeded(detail, characters=max(int(_SAFE * share * characters), 0), asked=characters)
