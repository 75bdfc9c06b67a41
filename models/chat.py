"""Models behind an address: an OpenAI-compatible endpoint, whose reply may be repaired once, and a service."""

import asyncio
import logging
import re
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2 as httpx
import openai
import orjson

from models.endpoint import Dialect, Passing, Refused, Transient, client_options, quoted, request_headers
from models.flow import Attempts, BreakerListener, Flow
from models.meter import Journal, request_digest
from models.prompts import quoted as quoted_lines
from models.protocol import Answer, Message, ModelError, ModelFailed, Question, ReplyT, YesNo
from models.replies import Completion, Unusable, answer_of, completion_of, probabilities_of, read_reply
from models.settings import OMIT, EndpointSettings
from models.work import Phase
from schemas import Usage

_CONNECT_SECONDS = 10.0
_MOST_BYTES = 16_000_000  # of a response: the parse of a sentence of 10,000 characters has some hundred for each
_SHOWN_REPLY = 16_000
_MOMENT = 1.0  # seconds that others wait at most for what the first question learns; endpoints refuse at once
_DEADLINE_TIMEOUTS = 1.25  # time limit of a question with retries and the repair turn, in time limits of a request
_TALK_TOKENS = 400  # before a short answer of a model that talks; a loop takes minutes on a small server
_PROBE = Question("probe", "", (Message("user", "This only asks whether you answer. Reply yes."),), YesNo, max_tokens=4)


@dataclass(slots=True)
class AskedTurn:
    """One turn of a question on its way, and the request that was sent last."""

    question: Question[Any]
    messages: tuple[Message, ...]
    run: Attempts
    spent: list[Usage]  # the cost of every request that left for the question
    given_up: frozenset[str] = frozenset()  # what it does without besides what all do, as it was refused
    is_brief: bool = False  # the limit of the reply was the question's own
    is_free: bool = False  # that limit does not count for it
    body: dict[str, Any] = field(default_factory=dict)
    has_left: bool = False  # else there was no connection: nothing was asked, and nothing is to be paid
    response: httpx.Response | None = None
    completion: Completion | None = None

    async def stream(self, content: bytes) -> AsyncIterator[bytes]:
        """The request's body, as it leaves."""
        self.has_left = True
        yield content


class ChatModel:
    """Asks an endpoint; belongs to one event loop."""

    _repairs = True

    def __init__(
        self, settings: EndpointSettings, *, section: str, journal: Journal | None, on_breaker: BreakerListener | None
    ) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings, self._section, self._journal = settings, section, journal
        self._secrets, self._headers = settings.secrets, request_headers(settings)
        self._client = _client_of(settings)
        self._flow = Flow(self._probe, settings, f"{section} {settings.model or 'service'}", on_breaker)
        self._dialect = Dialect(settings, name=self.name, section=section)
        self._probes = list[Usage]()  # the cost of probes since a question ended; the next that ends is charged with it
        # Set once a request was not refused, or a question has ended: what it learned of refusals, all others know.
        self._first: asyncio.Event | None = None
        self._room: int | None = 0  # tokens before a short answer; None if it thinks: as many as the setting allows

    @property
    def name(self) -> str:
        return f"openai/{self._settings.model}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer, within the configured deadline.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            WindowExceeded: the question is longer than the model's window, as far as that is known.
            ModelFailed: the endpoint refuses this question, fails on it repeatedly, or answers others but not this one
                in time; or neither the reply nor the one after the repair turn can be used.
        """
        turn, fault = self._turn(question, []), ""
        if self._first is not None and not self._first.is_set():
            with Phase("waits"), suppress(TimeoutError):
                await asyncio.wait_for(self._first.wait(), _MOMENT)
        self._first = first = self._first or asyncio.Event()
        try:
            while True:  # until there is an answer to the question, put in another way or repeated for its repair
                turn.run = Attempts(turn.run.length, turn.run.seconds)
                try:
                    async for attempt in turn.run.retrying():
                        with attempt:
                            completion = await self._send(turn, self._flow.slot(turn.run))
                    self._dialect.accepted(turn.given_up)
                    reading = read_reply(completion, question, fault)
                    break
                except Refused as refused:
                    turn.given_up |= self._dialect.concession(refused, question, turn.messages, turn.body)
                except Unusable as unusable:
                    if fault or question.number is not None or not self._repairs:
                        failed = f"no usable reply, {'after one repair turn: ' if fault else ''}{unusable}"
                        raise ModelFailed(failed, cause="judge_unusable", said=completion.content or "") from None
                    fault = str(unusable)
                    turn.messages = (*question.messages, *_repair(question, completion, fault))
                except ModelFailed as failure:
                    said = turn.completion and turn.completion.content
                    if failure.begun or not turn.is_brief or (said and self._room):
                        raise
                    # Without text, it thinks; with some, one reply without a limit tells.
                    self._room, turn.is_free = (self._room, True) if said else (None, False)
        except (ModelError, asyncio.CancelledError) as error:
            # A question that is abandoned has its cost, too.
            error.usage = self._usage(turn)  # type: ignore[union-attr]
            raise
        finally:
            first.set()
        return Answer(reading.reply, self._usage(turn), probabilities_of(completion, reading, question))

    async def close(self) -> None:
        await self._client.close()

    @property
    def _address(self) -> str:
        return f"{str(self._client.base_url).rstrip('/')}/chat/completions"

    def _turn(self, question: Question[Any], spent: list[Usage]) -> AskedTurn:
        characters = sum(len(message.content) for message in question.messages)
        run = Attempts((question.written, characters), _DEADLINE_TIMEOUTS * self._settings.timeout_seconds)
        return AskedTurn(question, question.messages, run, spent)

    def _usage(self, turn: AskedTurn) -> Usage:
        # The time of the exchanges, without the waits between them.
        usage = Usage.total([*turn.spent, *self._probes], seconds=sum(one.seconds for one in turn.spent))
        self._probes.clear()
        return usage

    async def _probe(self, seconds: float) -> None:
        await self._send(self._turn(_PROBE, self._probes), nullcontext(seconds))

    async def _send(self, turn: AskedTurn, slot: AbstractAsyncContextManager[float]) -> Completion:
        """One exchange, booked however it ends. Raises ExchangeFault if there is no completion."""
        async with slot as seconds:
            turn.body = {**self._body(turn), **self._settings.extra_body}
            turn.has_left, turn.response, turn.completion, begun = False, None, None, time.monotonic()
            try:
                content = orjson.dumps(turn.body)
            except orjson.JSONEncodeError:
                raise ModelFailed("the question holds text that is not Unicode", cause="judge_failed") from None
            headers = {**self._headers, "Content-Length": str(len(content))}
            try:
                async with asyncio.timeout(seconds):
                    # Not `chat.completions.create`, which walks through every message once more: as long as all else.
                    turn.response = await self._client.post(
                        self._address,
                        cast_to=httpx.Response,
                        content=turn.stream(content),
                        options={"headers": headers},
                    )
                turn.completion = self._read(turn, turn.response)
                if turn.is_free:
                    said = turn.completion.content or ""
                    self._room = _TALK_TOKENS if answer_of(said) == said.strip() else None
                return turn.completion
            except openai.APIStatusError as error:
                turn.response = response = error.response
                shown = partial(self._shown, turn)
                raise self._dialect.fault(response.status_code, response.headers, _document(response), shown) from None
            except TimeoutError:
                raise Transient(f"no answer within {seconds:.3g} seconds", kind="timed_out") from None
            except (openai.APIConnectionError, OSError) as error:
                # The package's own words are the same for all of them.
                said = str(error.__cause__ or error)[:200] or type(error.__cause__).__name__
                kind: Passing = "failed" if turn.has_left else "unreachable"
                how = "the connection broke" if turn.has_left else "cannot connect"
                raise Transient(f"{how}: {said}", kind=kind) from None
            finally:
                if self._first is not None and not isinstance(sys.exception(), Refused):
                    self._first.set()
                turn.spent.append(self._cost(turn, time.monotonic() - begun))
                self._record(turn)

    def _body(self, turn: AskedTurn) -> dict[str, Any]:
        """The request in JSON, without the configured `extra_body`; raises WindowExceeded."""
        question, most = turn.question, self._settings.max_tokens
        turn.is_brief = question.max_tokens is not None and most != OMIT and self._room is not None and not turn.is_free
        own = (question.max_tokens or 0) + (self._room or 0)
        wanted = own if turn.is_brief else None if most == OMIT else most
        return self._dialect.request(question, turn.messages, wanted, turn.given_up)

    def _read(self, turn: AskedTurn, response: httpx.Response) -> Completion:
        """The completion; raises ExchangeFault."""
        document = _document(response)
        try:
            error = document.get("error")
            if not error or document.get("choices"):
                return completion_of(document)
        except (AttributeError, LookupError, TypeError, ValueError):
            kind = str(response.headers.get("content-type", "")).partition(";")[0]
            raise Transient(
                f"the endpoint answered with something that is no chat completion ({kind or 'of no type'}): "
                f"{self._shown(turn, response.text[:2000]) or 'nothing'}; check {self._section}.base_url"
            ) from None
        # Some gateways answer so with status 200.
        code = str(error.get("code")) if isinstance(error, dict) else ""
        status = int(code) if re.fullmatch("[45][0-9]{2}", code) else 500
        raise self._dialect.fault(status, {}, error, partial(self._shown, turn))

    def _shown(self, turn: AskedTurn, said: str) -> str:
        """What an endpoint says, to be repeated in messages and logs."""
        prompt = "\n".join(message.content for message in turn.messages)
        return quoted(said, secrets=self._secrets, prompt=prompt)

    def _cost(self, turn: AskedTurn, seconds: float) -> Usage:
        """What the endpoint counted, or else an estimate."""
        completion, estimated = turn.completion or Completion(None), 0
        prompt, cached = completion.counted.prompt_tokens, completion.counted.cached_tokens
        written = completion.counted.completion_tokens or _tokens_of([completion.content or ""])
        # Of a request without a response, the endpoint has read the prompt; not of one that it answers with a fault.
        if not prompt and turn.has_left and (turn.completion or turn.response is None):
            prompt = _tokens_of(one.content for one in turn.messages)
            estimated = prompt + written
        tokens = {"prompt_tokens": prompt, "completion_tokens": written, "cached_tokens": cached}
        cost = self._settings.cost_of(prompt, written, cached)
        return Usage(calls=int(turn.has_left), estimated_tokens=estimated, seconds=seconds, cost=cost, **tokens)

    def _record(self, turn: AskedTurn) -> None:
        fault, response, question = sys.exception(), turn.response, replace(turn.question, number=None)
        if self._journal is None or (response is None and not isinstance(fault, Exception)):
            return
        text = None if response is None else response.text
        for secret in self._secrets:
            text = text and text.replace(secret, "[key]")
        line: dict[str, Any] = {"type": "exchange", "judge": self.name, "task": question.task, "request": turn.body}
        line |= {"response": text, "status": response and response.status_code, "seconds": turn.spent[-1].seconds}
        line["error"] = None if response else str(fault)
        self._journal.write(line if turn.question is _PROBE else {**line, "digest": request_digest(question)})


class ServiceModel(ChatModel):
    """Asks a service: `question.data` are POSTed with the configured `extra_body`, and nothing is repaired."""

    _repairs = False

    @property
    def name(self) -> str:
        return f"service/{self._settings.model or urlsplit(str(self._settings.base_url)).netloc}"

    @property
    def _address(self) -> str:
        return str(self._client.base_url).rstrip("/")

    def _body(self, turn: AskedTurn) -> dict[str, Any]:
        question = turn.question
        if question.data is None and question is not _PROBE:
            detail = f"a service reads no prompts, and '{question.task}' is a question in words; configure an endpoint"
            raise ModelFailed(detail, cause="judge_failed")
        return dict(question.data or {})

    def _read(self, turn: AskedTurn, response: httpx.Response) -> Completion:
        return Completion(response.text)

    def _shown(self, turn: AskedTurn, said: str) -> str:
        return ""  # it may quote the data

    def _cost(self, turn: AskedTurn, seconds: float) -> Usage:
        return Usage(calls=int(turn.has_left), seconds=seconds)


def _client_of(settings: EndpointSettings) -> openai.AsyncOpenAI:
    """A client for the settings' address and key, which bounds responses, follows no redirect, and retries nothing."""
    # A line for each request would drown the service's own.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    http = httpx.AsyncClient(
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        # The flow limits the requests; a connection that is kept saves the next one a handshake.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # Certificates take as long to read as a hundred exchanges: only for endpoints that have one.
        verify=str(settings.base_url).startswith("https:"),
        event_hooks={"response": [_read]},
    )
    return openai.AsyncOpenAI(**client_options(settings), max_retries=0, http_client=http)


async def _read(response: httpx.Response) -> None:
    """Read a response, up to a size, whether it came compressed or not."""
    raw, content = cast("httpx.AsyncByteStream", response.stream), bytearray()
    decoded = httpx.Response(response.status_code, headers=response.headers, stream=raw, request=response.request)
    async for part in decoded.aiter_bytes():
        content += part
        if len(content) > _MOST_BYTES:
            raise Refused(f"its answer has more than {_MOST_BYTES} bytes")
    await raw.aclose()
    response.headers.pop("Content-Encoding", None)
    response.stream = httpx.ByteStream(bytes(content))


def _document(response: httpx.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return response.text


def _tokens_of(texts: Iterable[str]) -> int:
    """An estimate for the bill: in most languages a token has four bytes, give or take one."""
    return sum(len(text.encode()) for text in texts) // 4


def _repair(question: Question[Any], completion: Completion, fault: str) -> tuple[Message, Message]:
    # The fault may quote the reply or the material.
    form = (
        "Answer the question above once more with one word, yes or no."
        if question.reply is YesNo
        else "Answer the question above once more, in full, in the form that was asked for, as JSON and nothing else."
    )
    said = f"Your reply cannot be used. What is wrong with it is quoted here:\n{quoted_lines(fault)}\n{form}"
    reply = (answer_of(completion.content or "") or "(no text)")[:_SHOWN_REPLY]
    return Message("assistant", reply), Message("user", said)
