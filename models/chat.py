"""The model behind an OpenAI-compatible endpoint: asks, reads the reply, and asks for one repair."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import httpx2 as httpx
import openai
import orjson
from pydantic import BaseModel

from models.completions import Completion, completions_of
from models.dialect import SEVERAL, Dialect, GivenUp
from models.endpoint import Endpoint, Exchange, client_options, http_client, request_headers
from models.faults import ExchangeFault, Refused, Transient, quoted
from models.flow import Attempts, BreakerListener
from models.probabilities import probabilities_of
from models.prompts import quoted as quoted_lines
from models.protocol import Answer, Message, ModelFailed, Question, ReplyT, WindowExceeded, YesNo
from models.recording import Journal, request_digest
from models.replies import Unusable, answer_of, lacks_room, read_reply
from models.sampling import SharedRequests
from models.settings import OMIT, EndpointSettings
from models.window import Prompt, Window, prompt_of
from models.worktime import Phase
from schemas import Usage

_SHOWN_REPLY = 16_000
_MOMENT = 1.0
"""Seconds that others wait at most for what the first question learns; endpoints refuse at once."""


class _Alive(BaseModel):
    alive: bool


_PROBE = Question(
    task="probe",
    prompt_version="",
    messages=(Message("user", 'This only asks whether you answer. Reply with the JSON object {"alive": true}.'),),
    reply=_Alive,
    max_tokens=16,
)


@dataclass(slots=True)
class _Turn:
    """One turn of a question on its way."""

    question: Question[Any]
    messages: tuple[Message, ...]
    run: Attempts
    spent: list[Usage]
    """The cost of every request that left for the question."""
    count: int = 1
    """Completions that are wanted."""
    conceded: GivenUp = frozenset()
    """What it does without besides what all do, as it was refused."""
    # As it was sent last, and what came:
    prompt: Prompt = field(default_factory=Prompt)
    tokens: int | None = None
    body: dict[str, Any] = field(default_factory=dict)
    found: tuple[Completion, ...] = ()
    counted: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        return "\n".join(message.content for message in self.messages)


class _PutOtherwise(Transient):
    """The turn can be put in another way."""


class ChatModel(Endpoint):
    """Asks an endpoint."""

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        section: str,
        journal: Journal | None = None,
        on_breaker: BreakerListener | None = None,
    ) -> None:
        super().__init__(settings, section, self._probe, on_breaker)
        self._journal, self._headers = journal, request_headers(settings)
        # The flow retries: it knows the breaker, the back-off and the question's time.
        client = http_client(str(settings.base_url))
        self._client = openai.AsyncOpenAI(**client_options(settings), max_retries=0, http_client=client)
        self._dialect = Dialect(settings, name=self.name)
        self._window = Window(settings.context_tokens, name=self.name)
        self._is_first, self._settled = True, asyncio.Event()
        """Whether there was no question yet; set once the first is answered, fails, or has taken a moment."""
        self._shared = SharedRequests[Completion]()
        self._talks = False
        """True once an answer had no room in a reply of a few tokens."""

    @property
    def name(self) -> str:
        return f"openai/{self._settings.model}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer, within the configured deadline.

        Raises:
            ModelUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            WindowExceeded: the question is longer than the model's window, as far as that is known.
            ModelFailed: `judge_failed` if the endpoint refuses this question or fails on it repeatedly, `judge_slow`
                if it answers others but not this one in time, `judge_unusable` if neither the reply nor the one after
                the repair turn can be used, and the other causes as they say.
        """
        turn, fault = self._turn(question), ""
        async with self._asked(turn):
            while True:
                try:
                    if question.number is not None and SEVERAL not in self._dialect.given_up:
                        same = request_digest(replace(question, number=None))
                        completion = await self._shared.one(same, partial(self._several, turn))
                    else:
                        async for attempt in self._flow.retrying(turn.run):
                            with attempt, self._conceding(turn):
                                (completion,) = await self._send(turn, self._flow.slot(turn.run))
                    reading = read_reply(completion, question, fault)
                    break
                except Unusable as unusable:
                    if question.number is not None:
                        raise _unusable(str(unusable)) from None
                    if fault:
                        raise _unusable(f"after one repair turn: {unusable}") from None
                    fault = str(unusable)
                    turn.messages = (*question.messages, *_repair(question, completion, fault))
                    turn.run = Attempts(turn.run.length, turn.run.seconds)
                except WindowExceeded:
                    if not fault:
                        raise
                    raise _unusable(f"and none fits that asks for another: {fault}") from None
        probabilities = probabilities_of(completion, reading, question)
        return Answer(reading.reply, self._usage(turn.spent), probabilities, reading.complete)

    async def close(self) -> None:
        await self._client.close()

    async def _several(self, turn: _Turn, count: int) -> tuple[Completion, ...]:
        """At most so many completions by one request."""
        turn.count = count
        await self._after_the_first()
        async for attempt in self._flow.retrying(turn.run):
            with attempt, self._conceding(turn):
                found = await self._send(turn, self._flow.slot(turn.run))
        return found

    def _turn(self, question: Question[Any], spent: list[Usage] | None = None) -> _Turn:
        characters = sum(len(message.content) for message in question.messages)
        run = Attempts((question.written, characters), self._settings.deadline_seconds)
        return _Turn(question, question.messages, run, [] if spent is None else spent)

    @asynccontextmanager
    async def _asked(self, turn: _Turn) -> AsyncIterator[None]:
        if turn.question.number is None:
            await self._after_the_first()
        try:
            with self._charged(turn.spent):
                yield
        finally:
            self._settled.set()

    async def _after_the_first(self) -> None:
        """Wait for what the first question learns of the endpoint, so that it does not refuse the same of all."""
        if not self._is_first and not self._settled.is_set():
            with Phase("waits"), suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), _MOMENT)
            self._settled.set()
        self._is_first = False

    @contextmanager
    def _conceding(self, turn: _Turn) -> Iterator[None]:
        """Have the turn put in another way, at once, where the endpoint gives cause to, and else raise why not."""
        try:
            yield
        except Refused as refused:
            if refused.about == "filter":
                said = f"the endpoint's content filter kept the question back: {refused.detail}"
                raise ModelFailed(said, cause="judge_filtered") from None
            if refused.about == "length":
                self._window.refused(turn.prompt, turn.tokens, refused)
            elif more := self._dialect.concession(refused, turn.question, turn.body):
                turn.conceded |= more
            else:
                raise ModelFailed(f"the endpoint refused: {refused.detail}", cause="judge_failed") from None
        else:
            # Some give a single one without a word.
            lacks = {SEVERAL}.intersection(turn.body if len(turn.found) == 1 else ())
            self._dialect.accepted(turn.conceded.union(lacks))
            self._window.count(turn.prompt, turn.counted.prompt_tokens)
            # A model that thinks or talks before its answer has room for that from then on.
            if self._talks or not turn.question.max_tokens or not lacks_room(turn.found[0], turn.question):
                return
            self._talks = True
        turn.run.count, turn.run.pause = 0, 0.0
        raise _PutOtherwise("to be put in another way")

    async def _probe(self, seconds: float) -> None:
        """Ask what any endpoint answers at once, in the form that questions have; whatever it says will do."""
        await self._send(self._turn(_PROBE, self._probes), nullcontext(seconds))

    async def _send(self, turn: _Turn, slot: AbstractAsyncContextManager[float]) -> tuple[Completion, ...]:
        """One exchange, booked however it ends. Raises ExchangeFault if there is no completion."""
        question, most = turn.question, self._settings.max_tokens
        wanted = None if most == OMIT else (not self._talks and question.max_tokens) or most
        turn.prompt = prompt_of(turn.messages, wanted, question.written)
        turn.tokens = self._window.reply_tokens(turn.prompt)
        async with slot as seconds:
            turn.found, turn.counted = (), Usage()
            given_up = self._dialect.given_up | turn.conceded
            turn.body = self._dialect.request(question, turn.messages, turn.tokens, given_up, turn.count)
            try:
                exchange = Exchange(orjson.dumps({**turn.body, **self._settings.extra_body}))
            except orjson.JSONEncodeError:
                raise ModelFailed("the question holds text that is not Unicode", cause="judge_failed") from None
            try:
                async with exchange.within(seconds):
                    # Not `chat.completions.create`, which walks through every message once more: as long as all else.
                    exchange.response = await self._client.post(
                        "/chat/completions",
                        cast_to=httpx.Response,
                        content=exchange.body(),
                        options={"headers": {**self._headers, **exchange.length}},
                    )
                turn.found, turn.counted = self._read(exchange.response, turn)
            finally:
                if not isinstance(sys.exception(), Refused):
                    self._settled.set()
                turn.spent.append(self._cost(turn, exchange))
                self._record(turn, exchange)
            return turn.found

    def _read(self, response: httpx.Response, turn: _Turn) -> tuple[tuple[Completion, ...], Usage]:
        try:
            document: Any = orjson.loads(response.content)
        except orjson.JSONDecodeError:
            document = response.text
        if not response.is_success:
            raise self._fault(response.status_code, response.headers, document, turn.text)
        try:
            error = document.get("error")
            if not error or document.get("choices"):
                return completions_of(document, turn.count)
        except (AttributeError, LookupError, TypeError, ValueError):
            came = quoted(response.text[:2000], secrets=self._secrets, prompt=turn.text)
            kind = str(response.headers.get("content-type", "")).partition(";")[0]
            raise Transient(
                f"the endpoint answered with something that is no chat completion ({kind or 'of no type'}): "
                f"{came or 'nothing'}; check {self._section}.base_url"
            ) from None
        # Some gateways answer so with status 200.
        code = str(error.get("code")) if isinstance(error, dict) else ""
        raise self._fault(int(code) if re.fullmatch("[45][0-9]{2}", code) else 500, {}, error, turn.text)

    def _cost(self, turn: _Turn, exchange: Exchange) -> Usage:
        """What the endpoint counted, or else an estimate."""
        prompt, cached, estimated = turn.counted.prompt_tokens, turn.counted.cached_tokens, 0
        written = turn.counted.completion_tokens or _tokens_of(one.content or "" for one in turn.found)
        # Of a request without a response, the endpoint has read the prompt; not of one that it answers with a fault.
        if not prompt and exchange.has_left and (turn.found or exchange.response is None):
            prompt = _tokens_of(one.content for one in turn.messages)
            estimated = prompt + written
        return Usage(
            calls=int(exchange.has_left),
            prompt_tokens=prompt,
            completion_tokens=written,
            cached_tokens=cached,
            estimated_tokens=estimated,
            seconds=exchange.seconds,
            cost=self._settings.cost(prompt, written, cached),
        )

    def _record(self, turn: _Turn, exchange: Exchange) -> None:
        fault, response = sys.exception(), exchange.response
        if self._journal is None or (response is None and not isinstance(fault, ExchangeFault)):
            return
        text = None if response is None else response.text
        for secret in self._secrets:
            text = text and text.replace(secret, "[key]")
        self._journal.write(
            {
                "type": "exchange",
                "judge": self.name,
                "task": turn.question.task,
                **({} if turn.question is _PROBE else {"digest": request_digest(replace(turn.question, number=None))}),
                "request": {**turn.body, **self._settings.extra_body},
                "status": None if response is None else response.status_code,
                "response": text,
                "error": str(fault) if response is None else None,
                "seconds": exchange.seconds,
            }
        )


def _tokens_of(texts: Iterable[str]) -> int:
    """An estimate for the bill: in most languages a token has four bytes, give or take one."""
    return sum(len(text.encode()) for text in texts) // 4


def _unusable(said: str) -> ModelFailed:
    return ModelFailed(f"no usable reply, {said}", cause="judge_unusable")


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
