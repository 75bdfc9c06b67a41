"""One exchange with an OpenAI-compatible endpoint, through the `openai` package."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NoReturn

import aiohttp
import openai
import orjson

from models.bounded_client import BoundedClient
from models.connection import client_options, request_headers, secrets_of
from models.faults import (
    REFUSED_STATUSES,
    EndpointMisconfigured,
    ExchangeFault,
    Refused,
    TimedOut,
    Transient,
    Unreachable,
    passing,
    quoted,
)
from models.recording import Journal
from models.refusals import read_refusal
from models.replies import Completion
from models.retry import retry_after
from models.settings import EndpointSettings

_CONNECT_SECONDS = 10.0
_BROKEN_OFF = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons of gateways, and of DeepSeek, where the model did not come to an end."""
_SHOWN = 200


class Endpoint:
    """Sends chat requests and sorts what comes back; neither retries nor waits. Belongs to one event loop."""

    def __init__(self, settings: EndpointSettings, *, section: str, journal: Journal | None = None) -> None:
        """`section` is what the configuration calls these settings."""
        self._section = section
        self._key = "extra_headers" if settings.extra_headers and not settings.api_key else "api_key"
        self._secrets = secrets_of(settings)
        self._headers = {"Content-Type": "application/json", **request_headers(settings)}
        self._journal = journal
        # A line for each request would drown the service's own.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._client = openai.AsyncOpenAI(
            **client_options(settings),
            # Retries are ours: they know the breaker, the limits and the question's deadline.
            max_retries=0,
            http_client=BoundedClient(
                follow_redirects=False,
                # Certificates take as long to read as a hundred exchanges: only for endpoints that have one.
                verify=str(settings.base_url).startswith("https:"),
            ),
        )

    async def complete(self, request: Mapping[str, Any], *, label: Mapping[str, str], seconds: float) -> Completion:
        """The completion of a chat request, within `seconds`; recordings carry `label`.

        Raises:
            ExchangeFault: there is none; the class says what to do about it.
        """
        try:
            content = orjson.dumps(request)
        except orjson.JSONEncodeError:
            raise Refused("the question holds text that is not Unicode") from None
        begun = time.monotonic()
        timeout = openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        try:
            # The client's own timeouts are for each step of an exchange. Its `create` would look for files and dates in
            # every part of the request, which takes as long as all the rest, and write its JSON slowly.
            async with asyncio.timeout(seconds):
                data = await self._client.post(
                    "/chat/completions",
                    cast_to=bytes,
                    content=content,
                    options={"timeout": timeout, "headers": self._headers},
                )
        except openai.APIStatusError as error:
            self._record(request, label, begun, status=error.status_code, response=error.response.content)
            self._sort_status(error.status_code, error.response.headers, error.body, request)
        except (openai.APIConnectionError, aiohttp.ClientError, TimeoutError) as error:
            fault = _connection_fault(error, seconds)
            self._record(request, label, begun, error=fault.detail)
            raise fault from None
        self._record(request, label, begun, status=200, response=data)
        return self._completion(data, request)

    async def close(self) -> None:
        await self._client.close()

    def _completion(self, data: bytes, request: Mapping[str, Any]) -> Completion:
        try:
            document = orjson.loads(data)
            if document.get("error") and not document.get("choices"):
                # Some gateways answer 200 with an error inside.
                self._sort_status(_status_in(document["error"]), {}, document["error"], request)
            choices = [document["choices"][0], *document["choices"][1 : request.get("n", 1)]]
            first, *others = map(_choice, choices)
            usage = document.get("usage") or {}
            return replace(
                first,
                prompt_tokens=_count(usage, "prompt_tokens"),
                completion_tokens=_count(usage, "completion_tokens"),
                others=tuple(others),
            )
        except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError):
            raise Transient("the endpoint answered with something that is no chat completion") from None

    def _sort_status(
        self, status: int, headers: Mapping[str, str], error: object, request: Mapping[str, Any]
    ) -> NoReturn:
        refusal = read_refusal(status, error)
        prompt = "\n".join(turn["content"] for turn in request["messages"])
        shown = quoted(refusal.message, secrets=self._secrets, prompt=prompt)
        detail = f"status {status}: {shown}" if shown else f"status {status}"
        if status in REFUSED_STATUSES or refusal.is_filtered or refusal.has_code_of_window:
            raise Refused(detail, refusal)
        if status == 403 and "logprobs" in request and "logprobs" in refusal.message.lower():
            # OpenAI allows them to some keys only; for a question without them the key is good.
            raise Refused(detail, refusal)
        if fault := passing(status, detail, retry_after=retry_after(headers, datetime.now(UTC))):
            raise fault
        at_fault = {401: [self._key], 403: [self._key, "model"]}.get(status, ["base_url", "model"])
        raise EndpointMisconfigured(f"{detail}; check {' and '.join(f'{self._section}.{one}' for one in at_fault)}")

    def _record(
        self,
        request: Mapping[str, Any],
        label: Mapping[str, str],
        begun: float,
        *,
        status: int | None = None,
        response: bytes | None = None,
        error: str | None = None,
    ) -> None:
        if self._journal is None:
            return
        text = None if response is None else response.decode("utf-8", "replace")
        if text is not None:
            for secret in self._secrets:
                text = text.replace(secret, "[key]")
        exchange = {"request": request, "status": status, "response": text, "error": error}
        self._journal.write({"type": "exchange", **label, **exchange, "seconds": time.monotonic() - begun})


def _choice(choice: Any) -> Completion:
    """One of a document's choices, without its tokens; raises what a document of another shape raises."""
    reason = str(choice.get("finish_reason") or "")
    if reason in _BROKEN_OFF:
        raise Transient("the endpoint broke its reply off")
    message = choice.get("message")
    if message is None and reason.startswith("content_filter"):
        message = {}
    return Completion(
        content=_text(message.get("content")),
        finish_reason=reason,
        refused=bool(message.get("refusal")),
        called_tools=bool(message.get("tool_calls") or message.get("function_call")),
        prompt_tokens=0,
        completion_tokens=0,
        logprobs=choice.get("logprobs"),
    )


def _connection_fault(error: Exception, seconds: float) -> ExchangeFault:
    # The client takes every broken connection for a timeout; what aiohttp said of it stands further down.
    chain: list[BaseException] = [error]
    while cause := chain[-1].__cause__:
        chain.append(cause)
    told = next((one for one in chain if isinstance(one, aiohttp.ClientError | TimeoutError | ExchangeFault)), error)
    if isinstance(told, ExchangeFault):
        return told
    if isinstance(told, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Unreachable(f"cannot connect: {told}"[:_SHOWN])
    if isinstance(told, TimeoutError):
        return TimedOut(f"no answer within {seconds:.3g} seconds")
    return Transient(f"the connection broke: {told}"[:_SHOWN])


def _status_in(error: object) -> int:
    """The status that an error inside a success tells; a failure of the endpoint's if it tells none."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if code.isdecimal() and 400 <= int(code) < 600 else 500


def _text(content: object) -> str | None:
    """A message's text, which some gateways give in parts, with thought among them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content if isinstance(content, str) else None


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0
