"""An endpoint: its address and key, faults of an exchange, and what it takes, which its refusals tell."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import orjson
import structlog
from pydantic import BaseModel

from models.protocol import Message, ModelFailed, Question, WindowExceeded, YesNo
from models.settings import OMIT, EndpointSettings
from models.wording import on_a_line

if TYPE_CHECKING:
    import openai


def client_options(settings: EndpointSettings) -> dict[str, Any]:
    """Arguments of an `openai` client: `base_url`, `api_key` and `default_query`."""
    address = urlsplit(str(settings.base_url))
    key = settings.api_key.get_secret_value() if settings.api_key else "none"  # the package wants one
    base_url, query = address._replace(query="").geturl(), dict(parse_qsl(address.query))
    return {"base_url": base_url, "api_key": key, "default_query": query}


def request_headers(settings: EndpointSettings) -> "dict[str, str | openai.Omit]":
    """Headers to give with each request; without a key the client's own `Authorization` is omitted."""
    from openai import Omit

    headers: dict[str, str | Omit] = {} if settings.api_key else {"Authorization": Omit()}
    for name, value in settings.extra_headers.items():
        headers["Authorization" if name.lower() == "authorization" else name] = value.get_secret_value()
    return headers


MAX_RETRY_AFTER = 60.0  # seconds; a longer pause that an endpoint asks for is shortened to this
_PAYLOAD_TOO_LARGE = 413
_REFUSED = frozenset({400, 413, 422})  # the request will never be accepted
_TIMED_OUT = frozenset({408, 504, 524})  # a gateway waited for the model as long as it ever does
_PASSING = _TIMED_OUT | {409, 425, 429}
_CODES = ("code", "type")
_READ, _QUOTED, _COMPARED = 2000, 200, 32

# Codes of Azure OpenAI, OpenAI and Alibaba; and of OpenAI, Azure OpenAI and llama.cpp.
_FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "data_inspection_failed"}
_TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_SAID_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|(?:prompt|input|context) (?:is )?too long|token count.*exceeds"
    r"|max_new_tokens|reduce the length|too many (?:input )?tokens",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing_hard_limit", re.IGNORECASE)
# The limit that a refusal names. Counts are elsewhere, or before a plus sign.
_WINDOW = re.compile(
    r"(?:[<>]=? |(?:maximum|context|limit|window)[^\d<>]{0,40})(\d[\d,]*)\b(?! \+)|(\d[\d,]*) maximum", re.IGNORECASE
)
_SMALLEST_WINDOW = 256  # tokens: a refusal with a smaller number is about something else

Passing = Literal["failed", "timed_out", "unreachable", "throttled"]
"""`timed_out`: no complete response in time. `unreachable`: no connection, so that nothing was asked. `throttled`: the
endpoint works, and asks for fewer requests."""


@dataclass(eq=False)
class ExchangeFault(Exception):
    """An exchange that brought no completion."""

    detail: str


@dataclass(eq=False)
class Transient(ExchangeFault):
    """May pass by itself: an overloaded or failing endpoint, a closed connection."""

    kind: Passing = field(default="failed", kw_only=True)
    retry_after: float | None = field(default=None, kw_only=True)  # the pause in seconds that the endpoint asks for


class EndpointMisconfigured(ExchangeFault):
    """A wrong key, model or address: no question can succeed until the configuration is corrected."""


@dataclass(eq=False, kw_only=True)
class Refused(ExchangeFault):
    """The endpoint will never accept this request."""

    about: Literal["filter", "length", "form"] = "form"
    message: str = field(default="", repr=False)  # the endpoint's words in full, never to be shown
    window: int | None = None  # the tokens that they name


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a response asks to wait, 0 to `MAX_RETRY_AFTER`, by `retry-after-ms` or else `retry-after`."""
    seconds = math.nan
    with suppress(ValueError, TypeError, OverflowError):
        moment = parsedate_to_datetime(headers.get("retry-after") or "")
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    for name, unit in (("retry-after", 1), ("retry-after-ms", 1000)):
        with suppress(ValueError):
            stated = float(headers.get(name) or "") / unit
            seconds = stated if math.isfinite(stated) else seconds
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_RETRY_AFTER)


def quoted(message: str, *, secrets: Iterable[str], prompt: str) -> str:
    """An endpoint's message as one line of at most 200 characters, without keys or parts of the prompt."""
    line = " ".join(message.split())
    for secret in secrets:
        line = line.replace(secret, "[key]")
    line = on_a_line(line, _QUOTED)
    known = " ".join(prompt.split())
    windows = range(0, max(len(line) - _COMPARED, 0) + 1, 4)
    if line and any(line[start : start + _COMPARED] in known for start in windows):
        return "[withheld: it repeats the prompt]"
    return line


_ALTERNATIVES = 5  # log-probabilities at each place: two words and their spellings; the most that some endpoints give
_MODES = ("json_schema", "json_object", "none")
_BOUNDS = "bounds"
_BOUND_KEYS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"})
_OWN_WORDS = frozenset({"default", "title", "description"})
_FORMAT_REFUSED = re.compile(
    r"response_format|json_schema|json_object|structured output|guided_json|grammar|json schema"
    r"|(?:min|max)(?:Items|Length|imum)",
    re.IGNORECASE,
)
_ONE_OBJECT = "Reply with a single JSON object and nothing else. It must match this JSON schema:\n"
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"
_RENAMED = "name of the token limit"
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})
_OPTIONAL = ("temperature", *_LOGPROBS, _LIMIT, _OTHER_LIMIT)

GivenUp = frozenset[str]
"""What requests do without: parameters, modes of structured output, the bounds of schemas, the limit's usual name."""

_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,2}|[!-/:-@\[-`{-~]")  # of ASCII; blanks belong to what follows
_BYTES_OF_A_TOKEN = 2  # UTF-8, not ASCII: most scripts have more; those that a model hardly knows have one or two
_MARGIN = 1.1
_OF_A_TURN = 8  # tokens around each turn
_FOR_THE_REPLY = 4  # at least one in so many tokens of the window is left to a reply of unknown length
_SAFE = 0.98  # what stands around the texts stays when those are cut
_NEXT = 0.8  # so much of what does not fit is said to, where the window's size is not known

_LOG = structlog.get_logger(__name__)


class Dialect:
    """What an endpoint is known to accept, as its refusals tell; without a window's size, everything fits."""

    def __init__(self, settings: EndpointSettings, *, name: str, section: str) -> None:
        """`section` is what the configuration calls the `settings`."""
        self._settings, self._name, self._section, self._window = settings, name, section, settings.context_tokens
        self.given_up: GivenUp = frozenset({"temperature"} if settings.temperature == OMIT else ())

    def request(
        self, question: Question[Any], messages: Sequence[Message], wanted: int | None, conceded: GivenUp
    ) -> dict[str, Any]:
        """The request that puts `messages`, which are the question's or continue them; raises WindowExceeded.

        The reply's limit is `wanted` (None: no limit), or what the window leaves.
        """
        given_up = self.given_up | conceded
        reply: type[BaseModel] = question.reply
        mode, is_word, max_tokens = _mode(given_up), reply is YesNo, self._fitting(messages, wanted, question.written)
        if mode != "json_schema" and not is_word:
            first, *others = messages if messages[0].role == "system" else (Message("system", ""), *messages)
            schema = orjson.dumps(_strict(reply.model_json_schema(), _OWN_WORDS)).decode()
            messages = (Message("system", f"{first.content}\n\n{_ONE_OBJECT}{schema}".strip()), *others)
        request: dict[str, Any] = {"model": self._settings.model, "temperature": self._settings.temperature}
        request["messages"] = [{"role": one.role, "content": one.content} for one in messages]
        if mode != "none" and not is_word:
            request["response_format"] = _format(mode, reply, bounded=_BOUNDS not in given_up)
        if max_tokens is not None:
            request[_OTHER_LIMIT if _RENAMED in given_up else _LIMIT] = max_tokens
        if question.graded is not None or is_word:
            request |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        return {name: value for name, value in request.items() if name not in given_up}

    def fault(
        self, status: int, headers: Mapping[str, str], error: object, shown: Callable[[str], str]
    ) -> ExchangeFault:
        """The fault that an error response tells of; `shown` gives its words as messages may repeat them."""
        body: Any = error[0] if isinstance(error, list) and error else error
        body = body if isinstance(body, dict) else {"message": body}
        body = body["error"] if isinstance(body.get("error"), dict) else body
        message = str(body.get("message") or body.get("detail") or body.get("error") or "")[:_READ]
        coded = [part.get(name) for part in (body, body.get("innererror")) if isinstance(part, dict) for name in _CODES]
        codes = {code for code in coded if isinstance(code, str)}
        detail = f"status {status}: {shown(message)}".removesuffix(": ")
        is_filtered, is_too_long = bool(codes & _FILTERED), bool(codes & _TOO_LONG)
        # OpenAI allows log-probabilities to some keys only; servers send the code of a full window with any status.
        if status in _REFUSED or is_filtered or is_too_long or (status == 403 and "logprobs" in message.lower()):
            is_too_long = is_too_long or status == _PAYLOAD_TOO_LARGE or bool(_SAID_TOO_LONG.search(message))
            named = [int((one[1] or one[2]).replace(",", "")) for one in _WINDOW.finditer(message)]
            limits = [one for one in (body.get("n_ctx"), *named) if isinstance(one, int) and one >= _SMALLEST_WINDOW]
            return Refused(
                detail,
                about="filter" if is_filtered else "length" if is_too_long else "form",
                message=f"{body.get('param') or ''} {message}",
                window=next(iter(limits), None),
            )
        section, settings = self._section, self._settings
        key = "extra_headers" if settings.extra_headers and not settings.api_key else "api_key"
        if status == 429 and any(map(_QUOTA.search, (message, *codes))):
            return EndpointMisconfigured(f"{detail}; the account behind {section}.{key} has nothing left")
        if status >= 500 or status in _PASSING:
            kind: Passing = "throttled" if status == 429 else "timed_out" if status in _TIMED_OUT else "failed"
            return Transient(detail, kind=kind, retry_after=retry_after(headers, datetime.now(UTC)))
        places = {401: [key], 403: [key, "model"]}.get(status, ["base_url", "model"])
        wrong = [f"{section}.{place}" for place in places if place != "model" or settings.model]
        return EndpointMisconfigured(f"{detail}; check {' and '.join(wrong)}")

    def concession(
        self, refused: Refused, question: Question[Any], messages: Sequence[Message], asked: dict[str, Any]
    ) -> GivenUp:
        """What else to give up after the refusal of a request; raises ModelFailed if that names nothing that can be."""
        if refused.about == "filter":
            said = f"the endpoint's content filter kept the question back: {refused.detail}"
            raise ModelFailed(said, cause="judge_filtered")
        if refused.about == "length":
            limit = asked.get(_LIMIT, asked.get(_OTHER_LIMIT))
            window = refused.window or int(_NEXT * _estimate(messages))
            if _SMALLEST_WINDOW <= window < (self._window or window + 1):
                self._window = window
                _LOG.info("endpoint_window_learned", model=self._name, tokens=window)
            # It may fit with a lower limit of the reply; as it was sent, it is not taken to fit again.
            if (self._fitting(messages, limit, question.written) or 0) >= (limit or 0):
                raise _exceeded(messages, "window", _NEXT)
            return frozenset()
        if _LIMIT in asked and _OTHER_LIMIT in refused.message:
            return frozenset({_RENAMED})
        form = asked.get("response_format")
        if form is not None and _FORMAT_REFUSED.search(refused.message):
            reply: type[BaseModel] = question.reply
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


def _mode(given_up: GivenUp) -> str:
    return next(mode for mode in _MODES if mode not in given_up)


@lru_cache(maxsize=256)
def _format(mode: str, reply: type[BaseModel], *, bounded: bool) -> dict[str, Any]:
    if mode != "json_schema":
        return {"type": mode}
    schema = _strict(reply.model_json_schema(), _OWN_WORDS if bounded else _OWN_WORDS | _BOUND_KEYS)
    return {"type": mode, "json_schema": {"name": reply.__name__, "strict": True, "schema": schema}}


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
