"""The model behind an OpenAI-compatible endpoint: asks, reads the reply, and asks for one repair."""

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

import httpx2 as httpx
import openai
import orjson
from pydantic import BaseModel

from models.completions import Completion, completion_of, status_in, token_count
from models.concurrent import gather_or_cancel
from models.dialect import SEVERAL, Dialect, Manner
from models.endpoint import (
    CONNECT_SECONDS,
    BoundedClient,
    client_options,
    connection_fault,
    has_left,
    request_headers,
    secrets_of,
)
from models.faults import (
    REFUSED_STATUSES,
    EndpointMisconfigured,
    ExchangeFault,
    Refused,
    Transient,
    passing,
    quoted,
    read_refusal,
    retry_after,
)
from models.fencing import fence, fence_tag
from models.flow import BreakerListener, Flow, Size, TimeLimit
from models.probabilities import probabilities_of_true
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
)
from models.recording import Journal, request_digest
from models.replies import ReadReply, Unusable, answer_of, read_reply
from models.sampling import CAUSES_OF_ONE_REPLY
from models.settings import OMIT, EndpointSettings
from models.window import Window
from models.worktime import Phase
from schemas import Usage

_SHOWN_REPLY = 16_000
_MILLION = 1_000_000
_MOMENT = 0.5
"""Seconds; no endpoint takes longer to refuse a parameter."""


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
class _Tally:
    """The cost of every request that left for one question."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reckoned_tokens: int = 0
    seconds: float = 0.0
    """Time of the exchanges, without the waits between them."""

    def add(self, other: "_Tally") -> None:
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.reckoned_tokens += other.reckoned_tokens


@dataclass(slots=True)
class _Request:
    """One turn of a question on its way."""

    question: Question[Any]
    messages: tuple[Message, ...]
    tally: _Tally
    count: int = 1
    """Completions that are wanted."""
    manner: Manner | None = None
    """How it is to be put; None: in the way that is known to be accepted when it is sent."""
    tokens: int | None = None
    """The limit of the reply."""
    body: dict[str, Any] = field(default_factory=dict)
    """The request as it was sent last."""
    sent_in: Manner | None = None
    status: int | None = None
    """Of the response to it, if there was one."""
    response: bytes | None = None
    fault: str | None = None
    """The reason why there was none."""


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
        self._settings = settings
        self._section = section
        self._journal = journal
        self._secrets = secrets_of(settings)
        self._headers = request_headers(settings)
        self._client = openai.AsyncOpenAI(
            **client_options(settings),
            # Repeats are the flow's: it knows the breaker, the pauses and the question's time.
            max_retries=0,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            http_client=BoundedClient(str(settings.base_url)),
        )
        # A line for each request would drown the service's own.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._flow = Flow.of(self, settings, name=f"{section} {settings.model}", on_breaker=on_breaker)
        self._dialect = Dialect(settings, name=self.name)
        self._learning = asyncio.Lock()
        self._settled = asyncio.Event()
        """Set once the first question was accepted, or was not refused for a moment: till then the others wait."""
        self._is_first = True
        self._moment: asyncio.TimerHandle | None = None
        self._window = Window(settings.context_tokens, name=self.name)
        self._probes = _Tally()
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
        tally = _Tally()
        try:
            completion, reading = await self._converse(question, tally)
        except (ModelError, asyncio.CancelledError) as error:
            # One that is left has cost what it has cost.
            error.usage = self._usage(tally)  # type: ignore[union-attr]
            raise
        probabilities = None
        if question.graded is not None and completion.logprobs is not None:
            probabilities = _probabilities(completion, reading, question.graded)
        return Answer(reading.reply, self._usage(tally), probabilities, reading.complete)

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        """The replies, in one request where the endpoint gives several; raises as `ask` does.

        A reply that cannot be used, was cut off or declined is None, and is not repaired.
        """
        tally = _Tally()
        try:
            completions = await self._several(sampling.question, sampling.count, tally)
            replies = tuple(_reply(one, sampling.question) for one in completions)
        except (ModelError, asyncio.CancelledError) as error:
            error.usage = self._usage(tally)  # type: ignore[union-attr]
            raise
        return Answer(replies, self._usage(tally))

    async def close(self) -> None:
        await self._client.close()

    async def _converse(self, question: Question[ReplyT], tally: _Tally) -> tuple[Completion, ReadReply[ReplyT]]:
        limit = TimeLimit(self._settings.deadline_seconds)
        completion = await self._complete(_Request(question, question.messages, tally), limit)
        try:
            return completion, _usable(completion, question)
        except Unusable as unusable:
            fault = str(unusable)
        try:
            repair = (*question.messages, *_repair(completion, fault))
            completion = await self._complete(_Request(question, repair, tally), limit)
            return completion, _usable(completion, question)
        except Unusable as unusable:
            fault = f"after one repair turn: {unusable}"
        except WindowExceeded:
            fault = f"and none fits that asks for another: {fault}"
        raise ModelFailed(f"no usable reply, {fault}", cause="judge_unusable")

    async def _several(self, question: Question[Any], count: int, tally: _Tally) -> list[Completion]:
        found: list[Completion] = []
        if count > 1 and self._dialect.gives_several:
            first = await self._complete(
                _Request(question, question.messages, tally, count), TimeLimit(self._settings.deadline_seconds)
            )
            found = [first, *first.others]
        missing = [
            self._complete(_Request(question, question.messages, tally), TimeLimit(self._settings.deadline_seconds))
            for _ in range(count - len(found))
        ]
        return [*found, *await gather_or_cancel(missing)]

    async def _complete(self, request: _Request, limit: TimeLimit) -> Completion:
        """The completion; what the endpoint refuses is learned by one question, while others that it refuses wait."""
        if self._is_first:
            self._is_first = False
        elif not self._settled.is_set():
            with Phase("waits"):
                await self._settled.wait()
        try:
            try:
                return await self._put(request, limit)
            except Refused as refused:
                refusal = refused
            async with self._learning:
                if request.sent_in is self._dialect.manner:
                    request.manner = self._conceded(refusal, request)
                # Else somebody learned it meanwhile.
                while True:
                    try:
                        return await self._put(request, limit)
                    except Refused as refused:
                        request.manner = self._conceded(refused, request)
        finally:
            self._settled.set()

    async def _put(self, request: _Request, limit: TimeLimit) -> Completion:
        question, messages = request.question, request.messages
        wanted = None if self._settings.max_tokens == OMIT else question.max_tokens or self._settings.max_tokens
        added = self._dialect.added_characters(question, request.manner)
        characters = added + sum(len(message.content) for message in messages)
        while True:
            request.tokens = tokens = self._window.reply_tokens(messages, wanted, added, question.written)
            try:
                completion: Completion = await self._flow.run(
                    request, size=Size(question.written, characters), limit=limit
                )
            except Refused as refused:
                if not refused.refusal.is_too_long:
                    raise
                self._window.refused(messages, tokens, added, refused.refusal)
                left = None
                if tokens is not None:
                    left = self._window.reply_tokens(messages, wanted, added, question.written)
                if left is None or tokens is None or left >= tokens:
                    raise self._window.exceeded(messages, wanted, added, question.written) from None
                # It was the reply that was given too much of the window.
            else:
                self._dialect.accepted(request.sent_in)
                if SEVERAL in request.body and not completion.others:
                    self._dialect.gave_one()
                self._window.count(messages, completion.prompt_tokens, added)
                return completion

    def _conceded(self, refused: Refused, request: _Request) -> Manner:
        if refused.refusal.is_filtered:
            said = f"the endpoint's content filter kept the question back: {refused.detail}"
            raise ModelFailed(said, cause="judge_filtered") from None
        conceded = self._dialect.concede(refused.refusal, request.body, request.sent_in)
        if conceded is None:
            raise ModelFailed(f"the endpoint refused: {refused.detail}", cause="judge_failed") from None
        return conceded

    async def probe(self, seconds: float) -> None:
        """Ask what any endpoint answers at once, in the form that questions have; whatever it says will do."""
        tokens = None if self._settings.max_tokens == OMIT else _PROBE.max_tokens
        await self.send(_Request(_PROBE, _PROBE.messages, self._probes, tokens=tokens), seconds)

    async def send(self, request: _Request, seconds: float) -> Completion:
        """One exchange, booked however it ends: with what the endpoint tells of it, else with what is reckoned.

        Raises:
            ExchangeFault: there is no completion.
        """
        tally, begun = request.tally, time.monotonic()
        if not self._settled.is_set():
            if self._moment is not None:
                self._moment.cancel()
            self._moment = asyncio.get_running_loop().call_later(_MOMENT, self._settled.set)
        request.sent_in = request.manner or self._dialect.manner
        request.body = self._dialect.request(
            request.question, request.messages, request.tokens, request.sent_in, request.count
        )
        # Of a request without an answer, the endpoint has read the prompt.
        sent, prompt, written, told = 1, self._window.reckoned(request.messages), 0, False
        request.status = request.response = request.fault = None
        try:
            completion = await self._exchange(request, seconds)
            told = completion.prompt_tokens > 0
            prompt = completion.prompt_tokens or prompt
            written = completion.completion_tokens or completion.characters // 4
            return completion
        except (ExchangeFault, asyncio.CancelledError) as fault:
            if not isinstance(fault, Refused):
                self._settled.set()
            if request.status is not None:
                # A refusal, or something that is no completion.
                prompt = 0
            elif not has_left(fault):
                sent = prompt = 0
            raise
        finally:
            tally.calls += sent
            tally.prompt_tokens += prompt
            tally.completion_tokens += written
            tally.reckoned_tokens += 0 if told else prompt + written
            tally.seconds += time.monotonic() - begun
            self._record(request, begun)

    async def _exchange(self, request: _Request, seconds: float) -> Completion:
        body = {**request.body, **self._settings.extra_body}
        try:
            async with asyncio.timeout(seconds):
                # Not `chat.completions.create`, which walks through every message once more: as long as all else takes.
                response = await self._client.post(
                    "/chat/completions", cast_to=httpx.Response, body=body, options={"headers": self._headers}
                )
            request.status, request.response = 200, response.content
            completion = self._completion(response.headers, response.content, request)
        except openai.APIStatusError as error:
            request.status, request.response = error.status_code, error.response.content
            self._sort_status(error.status_code, error.response.headers, error.body, request)
        except (openai.APIConnectionError, httpx.HTTPError, TimeoutError) as error:
            fault = connection_fault(error, seconds)
            request.fault = fault.detail
            raise fault from error
        except UnicodeEncodeError as error:
            error.has_left = False  # type: ignore[attr-defined]
            raise Refused("the question holds text that is not Unicode") from error
        self._settled.set()
        return completion

    def _completion(self, headers: Any, data: bytes, request: _Request) -> Completion:
        try:
            document = orjson.loads(data)
            if document.get("error") and not document.get("choices"):
                # Some gateways answer 200 with an error inside.
                self._sort_status(status_in(document["error"]), {}, document["error"], request)
            first, *others = map(completion_of, [document["choices"][0], *document["choices"][1 : request.count]])
            usage = document.get("usage") or {}
            return replace(
                first,
                prompt_tokens=token_count(usage, "prompt_tokens"),
                completion_tokens=token_count(usage, "completion_tokens"),
                others=tuple(others),
            )
        except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError):
            came = self._quoted(data[:2000].decode("utf-8", "replace"), request)
            kind = str(headers.get("content-type", "")).partition(";")[0]
            raise Transient(
                f"the endpoint answered with something that is no chat completion ({kind or 'of no type'}): "
                f"{came or 'nothing'}; check {self._section}.base_url"
            ) from None

    def _quoted(self, text: str, request: _Request) -> str:
        prompt = "\n".join(message.content for message in request.messages)
        return quoted(text, secrets=self._secrets, prompt=prompt)

    def _sort_status(self, status: int, headers: Any, error: object, request: _Request) -> NoReturn:
        refusal = read_refusal(status, error)
        shown = self._quoted(refusal.message, request)
        detail = f"status {status}: {shown}" if shown else f"status {status}"
        if status in REFUSED_STATUSES or refusal.is_filtered or refusal.has_code_of_window:
            raise Refused(detail, refusal)
        if status == 403 and "logprobs" in request.body and "logprobs" in refusal.message.lower():
            # OpenAI allows them to some keys only; for a question without them the key is good.
            raise Refused(detail, refusal)
        if status == 429 and refusal.is_of_quota:
            raise EndpointMisconfigured(f"{detail}; the account behind {self._section}.{self._key} has nothing left")
        if fault := passing(status, detail, retry_after=retry_after(headers, datetime.now(UTC))):
            raise fault
        at_fault = {401: [self._key], 403: [self._key, "model"]}.get(status, ["base_url", "model"])
        raise EndpointMisconfigured(f"{detail}; check {' and '.join(f'{self._section}.{one}' for one in at_fault)}")

    @property
    def _key(self) -> str:
        return "extra_headers" if self._settings.extra_headers and not self._settings.api_key else "api_key"

    def _record(self, request: _Request, begun: float) -> None:
        if self._journal is None or (request.status is None and request.fault is None):
            return
        text = None if request.response is None else request.response.decode("utf-8", "replace")
        for secret in self._secrets if text is not None else ():
            text = str(text).replace(secret, "[key]")
        label = {"judge": self.name, "task": request.question.task}
        if request.question is not _PROBE:
            label["digest"] = request_digest(request.question)
        body = {**request.body, **self._settings.extra_body}
        exchange = {"request": body, "status": request.status, "response": text, "error": request.fault}
        self._journal.write({"type": "exchange", **label, **exchange, "seconds": time.monotonic() - begun})

    def _usage(self, tally: _Tally) -> Usage:
        if self._probes.calls:
            probes, self._probes = self._probes, _Tally()
            tally.add(probes)
        prompt_cost = tally.prompt_tokens * self._settings.prompt_price / _MILLION
        completion_cost = tally.completion_tokens * self._settings.completion_price / _MILLION
        return Usage(
            calls=tally.calls,
            prompt_tokens=tally.prompt_tokens,
            completion_tokens=tally.completion_tokens,
            reckoned_tokens=tally.reckoned_tokens,
            seconds=tally.seconds,
            cost=prompt_cost + completion_cost,
        )


def _usable(completion: Completion, question: Question[ReplyT]) -> ReadReply[ReplyT]:
    reading = read_reply(completion, question)
    complaint = question.complaint(reading.reply) if reading.complete else None
    if complaint is not None:
        raise Unusable(complaint)
    return reading


def _reply(completion: Completion, question: Question[ReplyT]) -> ReplyT | None:
    """The reply of one of several completions; None if it cannot be used."""
    try:
        return _usable(completion, question).reply
    except Unusable:
        return None
    except ModelFailed as error:
        if error.cause not in CAUSES_OF_ONE_REPLY:
            raise
        return None


def _probabilities(completion: Completion, reading: ReadReply[Any], field: str) -> tuple[float, ...] | None:
    content = completion.content or ""
    found = probabilities_of_true(completion.logprobs, content, reading.start, reading.end, field)
    read = _booleans(reading.reply.model_dump(by_alias=True), field)
    # In a reply that was cut off, the last entry may have been given up after its boolean.
    if found is None or len(found) < read or (reading.complete and len(found) > read):
        return None
    return found[:read]


def _booleans(value: object, field: str) -> int:
    """The number of booleans called `field`, at any depth."""
    if isinstance(value, dict):
        return sum(
            1 if key == field and isinstance(inner, bool) else _booleans(inner, field) for key, inner in value.items()
        )
    return sum(_booleans(inner, field) for inner in value) if isinstance(value, list | tuple) else 0


def _repair(completion: Completion, fault: str) -> tuple[Message, Message]:
    # The fault may quote the reply or the material, so it is fenced like them.
    tag = fence_tag([fault])
    return (
        Message("assistant", (answer_of(completion.content or "") or "(no text)")[:_SHOWN_REPLY]),
        Message(
            "user",
            "Your reply cannot be used. What is wrong with it stands between these markers:\n"
            f"{fence('fault', fault, tag)}\n"
            "Answer the question above once more, in full, in the form that was asked for, as JSON and nothing else.",
        ),
    )
