"""The model behind an OpenAI-compatible endpoint: asks, reads the reply, and asks for one repair."""

import asyncio
import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
import openai
import orjson
from pydantic import BaseModel

from models.completions import Completion, Completions, ErrorInside, NoCompletion, read_completions
from models.concurrent import gather_or_cancel
from models.dialect import SEVERAL, Dialect, GivenUp
from models.endpoint import BoundedClient, client_options, request_headers, secrets_of, time_limit
from models.faults import EndpointMisconfigured, ExchangeFault, Refused, Transient, passing, quoted, read_refusal
from models.flow import Attempts, BreakerListener, Flow
from models.probabilities import probabilities_of
from models.prompts import quoted as quoted_lines
from models.protocol import (
    Answer,
    Message,
    ModelError,
    ModelFailed,
    Question,
    ReplyT,
    Samples,
    Sampling,
    WindowExceeded,
    YesNo,
)
from models.recording import Journal, request_digest
from models.replies import ReadReply, Unusable, answer_of, lacks_room, read_reply, usable_or_none
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
    seconds: float
    """Left for the question."""
    spent: list[Usage] = field(default_factory=list)
    """The cost of every request that left for the question."""
    count: int = 1
    """Completions that are wanted."""
    given_up: GivenUp | None = None
    """None: what is known when it is sent."""
    tokens: int | None = None
    """The limit of the reply."""
    body: dict[str, Any] = field(default_factory=dict)
    """The request as it was sent last."""
    sent_in: GivenUp = frozenset()


class ChatModel:
    """Asks an endpoint; belongs to one event loop."""

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        section: str,
        journal: Journal | None = None,
        on_breaker: BreakerListener | None = None,
    ) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings, self._section, self._journal = settings, section, journal
        self._secrets = secrets_of(settings)
        self._headers = request_headers(settings)
        # The flow retries: it knows the breaker, the back-off and the question's time.
        client = BoundedClient(str(settings.base_url))
        self._client = openai.AsyncOpenAI(**client_options(settings), max_retries=0, http_client=client)
        # A line for each request would drown the service's own.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._flow = Flow(self._probe, settings, name=f"{section} {settings.model}", on_breaker=on_breaker)
        self._dialect = Dialect(settings, name=self.name)
        self._settled = asyncio.Event()
        """Set once the first question has ended, or a moment has passed: till then all others wait."""
        self._is_first = True
        self._talks = False
        """True once an answer had no room in a reply of a few tokens."""
        self._window = Window(settings.context_tokens, name=self.name)
        self._probes: list[Usage] = []
        """The cost of probes since a question ended; the next that ends is charged with it."""

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
        turn = _Turn(question, question.messages, self._settings.deadline_seconds)
        with self._charged(turn.spent):
            (completion,) = await self._completed(turn)
            try:
                reading = read_reply(completion, question)
            except Unusable as unusable:
                completion, reading = await self._repaired(turn, completion, str(unusable))
        usage, probabilities = self._usage(turn.spent), probabilities_of(completion, reading, question)
        return Answer(reading.reply, usage, probabilities, reading.complete)

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        """The replies, in one request where the endpoint gives several; raises as `ask` does.

        A reply that cannot be used, was cut off or declined is None, and is not repaired.
        """
        question, count, seconds = sampling.question, sampling.count, self._settings.deadline_seconds
        spent: list[Usage] = []
        with self._charged(spent):
            found: list[Completion] = []
            if count > 1 and self._dialect.gives_several:
                found += await self._completed(_Turn(question, question.messages, seconds, spent, count))
            missing = [_Turn(question, question.messages, seconds, spent) for _ in range(count - len(found))]
            for completions in await gather_or_cancel(map(self._completed, missing)):
                found += completions
            replies = tuple(usable_or_none(one, question) for one in found)
        return Answer(replies, self._usage(spent))

    async def close(self) -> None:
        await self._client.close()

    async def _repaired(self, turn: _Turn, completion: Completion, fault: str) -> tuple[Completion, ReadReply[Any]]:
        question = turn.question
        turns = (*question.messages, *_repair(question, completion, fault))
        try:
            (completion,) = await self._completed(_Turn(question, turns, turn.seconds, turn.spent))
            return completion, read_reply(completion, question, fault)
        except Unusable as again:
            fault = f"after one repair turn: {again}"
        except WindowExceeded:
            fault = f"and none fits that asks for another: {fault}"
        raise ModelFailed(f"no usable reply, {fault}", cause="judge_unusable")

    async def _completed(self, turn: _Turn) -> tuple[Completion, ...]:
        """The completions of a turn; what the endpoint refuses of it is given up, and what it lacks room for is given.

        Raises as `ask`.
        """
        await self._after_the_first()
        question = turn.question
        try:
            while True:
                limit = None if self._talks else question.max_tokens
                wanted = None if self._settings.max_tokens == OMIT else limit or self._settings.max_tokens
                added = self._dialect.added_characters(question, self._given_up(turn))
                prompt = prompt_of(turn.messages, added)
                turn.tokens = self._window.reply_tokens(prompt, wanted, question.written)
                run = Attempts((question.written, prompt.characters + added), turn.seconds)
                try:
                    found: Completions = await self._flow.retrying(run)(self._exchange, turn, run)
                except Refused as refused:
                    self._concede(turn, refused, prompt, wanted)
                    continue
                finally:
                    turn.seconds = run.seconds
                is_one = SEVERAL in turn.body and len(found.choices) == 1
                if is_one or turn.given_up is not None:
                    self._dialect.accepted(turn.sent_in | ({SEVERAL} if is_one else set()))
                self._window.count(prompt, found.prompt_tokens)
                # A model that thinks or talks before its answer has room for that from then on.
                if not limit or not lacks_room(found.choices[0], question):
                    return found.choices
                self._talks = True
        finally:
            self._settled.set()

    async def _after_the_first(self) -> None:
        """Wait for what the first question learns of the endpoint, so that it does not refuse the same of all."""
        if self._is_first:
            self._is_first = False
        elif not self._settled.is_set():
            with Phase("waits"), suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), _MOMENT)
            self._settled.set()

    def _given_up(self, turn: _Turn) -> GivenUp:
        return self._dialect.given_up if turn.given_up is None else turn.given_up

    def _concede(self, turn: _Turn, refused: Refused, prompt: Prompt, wanted: int | None) -> None:
        """Return if the turn can be put in another way; else raise why not."""
        refusal, question, tokens = refused.refusal, turn.question, turn.tokens
        if refusal.is_too_long:
            self._window.refused(prompt, tokens, refusal)
            left = tokens and self._window.reply_tokens(prompt, wanted, question.written)
            if not tokens or not left or left >= tokens:
                raise self._window.exceeded(prompt, wanted, question.written) from None
            # It was the reply that was given too much of the window.
            return
        if refusal.is_filtered:
            said = f"the endpoint's content filter kept the question back: {refused.detail}"
            raise ModelFailed(said, cause="judge_filtered") from None
        if turn.sent_in != self._given_up(turn):
            # Another question has learned meanwhile.
            return
        turn.given_up = self._dialect.concede(refusal, question, turn.body, turn.sent_in)
        if turn.given_up is None:
            raise ModelFailed(f"the endpoint refused: {refused.detail}", cause="judge_failed") from None

    async def _probe(self, seconds: float) -> None:
        """Ask what any endpoint answers at once, in the form that questions have; whatever it says will do."""
        tokens = None if self._settings.max_tokens == OMIT else _PROBE.max_tokens
        await self._send(_Turn(_PROBE, _PROBE.messages, seconds, self._probes, tokens=tokens), seconds)

    async def _exchange(self, turn: _Turn, run: Attempts) -> Completions:
        async with self._flow.slot(run) as seconds:
            return await self._send(turn, seconds)

    async def _send(self, turn: _Turn, seconds: float) -> Completions:
        """One exchange, booked however it ends. Raises ExchangeFault if there is no completion."""
        begun = time.monotonic()
        turn.sent_in = self._given_up(turn)
        turn.body = self._dialect.request(turn.question, turn.messages, turn.tokens, turn.sent_in, turn.count)
        came: httpx.Response | None = None
        found: Completions | None = None
        failure: BaseException | None = None
        try:
            # Not `chat.completions.create`, which walks through every message once more: as long as all else takes.
            content = orjson.dumps({**turn.body, **self._settings.extra_body})
            options: Any = {"headers": self._headers, "timeout": time_limit(seconds)}
            came = await self._client.post(
                "/chat/completions", cast_to=httpx.Response, content=content, options=options
            )
            found = self._read(came, turn)
            return found
        except openai.APIStatusError as error:
            came = error.response
            raise self._fault(came.status_code, came.headers, error.body, turn) from None
        except orjson.JSONEncodeError:
            raise Refused("the question holds text that is not Unicode") from None
        except BaseException as error:
            failure = error
            raise
        finally:
            if not isinstance(sys.exception(), Refused):
                self._settled.set()
            taken = time.monotonic() - begun
            turn.spent.append(self._cost(turn, came, found, failure, taken))
            self._record(turn, came, failure, taken)

    def _read(self, response: httpx.Response, turn: _Turn) -> Completions:
        try:
            return read_completions(response.content, turn.count)
        except ErrorInside as inside:
            raise self._fault(inside.status, {}, inside.error, turn) from None
        except NoCompletion:
            came = self._quoted(response.content[:2000].decode("utf-8", "replace"), turn)
            kind = str(response.headers.get("content-type", "")).partition(";")[0]
            raise Transient(
                f"the endpoint answered with something that is no chat completion ({kind or 'of no type'}): "
                f"{came or 'nothing'}; check {self._section}.base_url"
            ) from None

    def _quoted(self, text: str, turn: _Turn) -> str:
        return quoted(text, secrets=self._secrets, prompt="\n".join(message.content for message in turn.messages))

    def _fault(self, status: int, headers: Mapping[str, str], error: object, turn: _Turn) -> ExchangeFault:
        refusal = read_refusal(status, error)
        shown = self._quoted(refusal.message, turn)
        detail = f"status {status}: {shown}" if shown else f"status {status}"
        # OpenAI allows log-probabilities to some keys only; for a question without them the key is good.
        for_these_keys = status == 403 and "logprobs" in turn.body and "logprobs" in refusal.message.lower()
        if refusal.is_final or for_these_keys:
            return Refused(detail, refusal)
        key = "extra_headers" if self._settings.extra_headers and not self._settings.api_key else "api_key"
        if refusal.is_of_quota:
            return EndpointMisconfigured(f"{detail}; the account behind {self._section}.{key} has nothing left")
        if fault := passing(status, detail, headers):
            return fault
        at_fault = {401: [key], 403: [key, "model"]}.get(status, ["base_url", "model"])
        return EndpointMisconfigured(f"{detail}; check {' and '.join(f'{self._section}.{one}' for one in at_fault)}")

    def _cost(
        self,
        turn: _Turn,
        came: httpx.Response | None,
        found: Completions | None,
        failure: BaseException | None,
        seconds: float,
    ) -> Usage:
        """What the endpoint reports, or else an estimate."""
        if found is None and came is None and not getattr(failure, "has_left", False):
            return Usage(seconds=seconds)
        prompt = written = cached = 0
        if found is not None:
            characters = sum(len(one.content or "") for one in found.choices)
            written, cached = found.completion_tokens or characters // 4, found.cached_tokens
            prompt = found.prompt_tokens
        counted = prompt > 0
        # Of a request without an answer, the endpoint has read the prompt; not of one that it answers with a fault.
        if not prompt and (found is not None or (came is None and not isinstance(failure, Refused))):
            prompt = self._window.estimated(prompt_of(turn.messages))
        return Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=written,
            cached_tokens=cached,
            estimated_tokens=0 if counted else prompt + written,
            seconds=seconds,
            cost=self._settings.cost(prompt, written, cached),
        )

    def _record(self, turn: _Turn, came: httpx.Response | None, failure: BaseException | None, seconds: float) -> None:
        fault = failure if isinstance(failure, ExchangeFault) and came is None else None
        if self._journal is None or (came is None and fault is None):
            return
        text = None if came is None else came.content.decode("utf-8", "replace")
        for secret in self._secrets if text is not None else ():
            text = str(text).replace(secret, "[key]")
        line = {"type": "exchange", "judge": self.name, "task": turn.question.task}
        if turn.question is not _PROBE:
            line["digest"] = request_digest(turn.question)
        self._journal.write(
            {
                **line,
                "request": {**turn.body, **self._settings.extra_body},
                "status": None if came is None else came.status_code,
                "response": text,
                "error": None if fault is None else fault.detail,
                "seconds": seconds,
            }
        )

    @contextmanager
    def _charged(self, spent: list[Usage]) -> Iterator[None]:
        """Add what was spent to any error within: a question that is abandoned has its cost, too."""
        try:
            yield
        except (ModelError, asyncio.CancelledError) as error:
            error.usage = self._usage(spent)  # type: ignore[union-attr]
            raise

    def _usage(self, spent: list[Usage]) -> Usage:
        # The time of the exchanges, without the waits between them.
        usage = Usage.total([*spent, *self._probes], seconds=sum(one.seconds for one in spent))
        self._probes.clear()
        return usage


def _repair(question: Question[Any], completion: Completion, fault: str) -> tuple[Message, Message]:
    # The fault may quote the reply or the material. Markers around it would be copied.
    form = (
        "Answer the question above once more with one word, yes or no."
        if question.reply is YesNo
        else "Answer the question above once more, in full, in the form that was asked for, as JSON and nothing else."
    )
    said = f"Your reply cannot be used. What is wrong with it is quoted here:\n{quoted_lines(fault)}\n{form}"
    reply = (answer_of(completion.content or "") or "(no text)")[:_SHOWN_REPLY]
    return Message("assistant", reply), Message("user", said)
