"""One exchange with an OpenAI-compatible endpoint, through the `openai` package."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

import httpx2
import openai
import orjson

from checkers.oracle.faults import Misconfigured, Refused, Throttled, TimedOut, Transient, Unreachable, quoted
from checkers.oracle.recording import Journal
from checkers.oracle.replies import Completion
from checkers.oracle.retry import retry_after
from checkers.oracle.settings import EndpointSettings
from checkers.oracle.transport import BODY, AiohttpClient

_UNTOLD = "X-Stainless-"
_REFUSALS = frozenset({400, 413, 422})
_PASSING = frozenset({408, 409, 425})
_SHOWN = 200


class Endpoint:
    """Sends chat requests and sorts what comes back; neither retries nor waits. Belongs to one event loop."""

    def __init__(self, settings: EndpointSettings, *, journal: Journal | None = None) -> None:
        self._key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._journal = journal
        self._client = openai.AsyncOpenAI(
            # The package wants one even where the endpoint does not.
            api_key=self._key or "none",
            base_url=settings.base_url,
            # Retries are ours: they know the breaker, the limits and the question's deadline.
            max_retries=0,
            http_client=AiohttpClient(connections=settings.concurrency),
        )
        # Headers about this machine serve no endpoint, and making them takes time.
        self._headers: dict[str, str | openai.Omit] = {
            name: openai.Omit() for name in self._client.default_headers if name.startswith(_UNTOLD)
        }
        self._headers["x-stainless-retry-count"] = self._headers["x-stainless-read-timeout"] = openai.Omit()
        self._url = f"{self._client.base_url}chat/completions"

    async def complete(self, request: Mapping[str, Any], *, label: Mapping[str, str], seconds: float) -> Completion:
        """The completion of a chat request, within `seconds`; `label` says in recordings whose it is.

        Raises:
            ExchangeFault: there is none; the class says what is to be done about it.
        """
        begun = time.monotonic()
        try:
            body = orjson.dumps(request)
        except TypeError:
            raise Refused("the question holds text that is not Unicode", message="") from None
        try:
            response = await self._client.post(
                self._url,
                cast_to=httpx2.Response,
                content=body,
                # Nothing is repeated on this level; making a fresh idempotency key for each request only takes time.
                options={"headers": self._headers, "timeout": seconds, "idempotency_key": "none"},
            )
        except openai.APIStatusError as error:
            response = error.response
        except openai.APIConnectionError as error:
            fault = _connection_fault(error, seconds)
            self._record(body, label, begun, error=fault.detail)
            raise fault from None
        data: bytes = response.extensions[BODY]
        self._record(body, label, begun, status=response.status_code, raw=data)
        if response.status_code != 200:
            self._sort_status(response.status_code, response.headers, data, body)
        return self._completion(data, body)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _completion(self, data: bytes, body: bytes) -> Completion:
        try:
            document = orjson.loads(data)
            if "choices" not in document and "error" in document:
                # Some gateways answer 200 with an error inside.
                code = document["error"].get("code")
                self._sort_status(code if isinstance(code, int) else 500, {}, data, body)
            choice = document["choices"][0]
            message = choice["message"]
            usage = document.get("usage") or {}
            content = message.get("content")
            return Completion(
                content=content if isinstance(content, str) else None,
                finish_reason=choice.get("finish_reason"),
                refused=bool(message.get("refusal")),
                called_tools=bool(message.get("tool_calls") or message.get("function_call")),
                prompt_tokens=_count(usage, "prompt_tokens"),
                completion_tokens=_count(usage, "completion_tokens"),
            )
        except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError):
            raise Transient("the endpoint answered with something that is no chat completion") from None

    def _sort_status(self, status: int, headers: Mapping[str, str], data: bytes, body: bytes) -> NoReturn:
        message = _error_message(data)
        shown = quoted(message, secret=self._key, prompt=body.decode())
        detail = f"status {status}: {shown}" if shown else f"status {status}"
        wait = retry_after(headers, datetime.now(UTC))
        if status == 429:
            raise Throttled(detail, retry_after=wait)
        if status >= 500 or status in _PASSING:
            raise Transient(detail, retry_after=wait)
        if status in _REFUSALS:
            raise Refused(detail, message=message)
        raise Misconfigured(detail)

    def _record(
        self,
        body: bytes,
        label: Mapping[str, str],
        begun: float,
        *,
        status: int | None = None,
        raw: bytes | None = None,
        error: str | None = None,
    ) -> None:
        if self._journal is None:
            return
        self._journal.write(
            {
                "type": "exchange",
                **label,
                "request": orjson.Fragment(body),
                "status": status,
                "response": None if raw is None else self._without_key(raw.decode("utf-8", "replace")),
                "error": error,
                "seconds": time.monotonic() - begun,
            }
        )

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _connection_fault(error: openai.APIConnectionError, seconds: float) -> Transient:
    if isinstance(error, openai.APITimeoutError):
        return TimedOut(f"no answer within {seconds:.3g} seconds")
    reason = f"{error.__cause__}"[:_SHOWN] or "no reason given"
    if isinstance(error.__cause__, httpx2.ConnectError):
        return Unreachable(f"cannot connect: {reason}")
    return Transient(f"the connection broke: {reason}")


def _error_message(data: bytes) -> str:
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data[:2000].decode("utf-8", "replace")
    error = document.get("error", document) if isinstance(document, dict) else document
    message = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    parameter = error.get("param") if isinstance(error, dict) else None
    return f"{message} ({parameter})" if parameter else str(message)


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0
