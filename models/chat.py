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

from models.breaker import BreakerListener
from models.completions import Completion, ErrorInside, NoCompletion, read_completion
from models.concurrent import gather_or_cancel
from models.dialect import SEVERAL, Dialect, Manner
from models.endpoint import (
    BoundedClient,
    client_options,
    request_headers,
    secrets_of,
    time_limit,
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
)
from models.flow import Flow, TimeLimit
from models.limiter import Size
from models.probabilities import probabilities_of_true, probability_of_yes
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
from models.replies import ReadReply, Unusable, answer_of, lacks_room, read_reply
from models.sampling import CAUSES_OF_ONE_REPLY
from models.settings import OMIT, EndpointSettings
from models.window import Window
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
class _ChatRequest:
    """One turn of a question on its way."""

    question: Question[Any]
    messages: tuple[Message, ...]
    limit: TimeLimit
    spent: list[Usage]
    """The cost of every request that left for the question."""
    count: int = 1
    """Completions that are wanted."""
    manner: Manner | None = None
    """The form to put it in; None: the one that is known to be accepted when it is sent."""
    tokens: int | None = None
    """The limit of the reply."""
    body: dict[str, Any] = field(default_factory=dict)
    """The request as it was sent last."""
    sent_in: Manner | None = None


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
            # The flow retries: it knows the breaker, the back-off and the question's time.
            max_retries=0,
            http_client=BoundedClient(str(settings.base_url)),
        )
        # A line for each request would drown the service's own.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._flow = Flow(self, settings, name=f"{section} {settings.model}", on_breaker=on_breaker)
        self._dialect = Dialect(settings, name=self.name)
        self._learning = asyncio.Lock()
        self._settled = asyncio.Event()
        """Set once a request was not refused, or a moment has passed: till then all but the first question wait."""
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
        request = self._request(question)
        with self._charged(request.spent):
            completion = await self._complete(request)
            try:
                reading = _usable(completion, question)
            except Unusable as unusable:
                completion, reading = await self._repaired(request, completion, str(unusable))
        probabilities = None if completion.logprobs is None else _probabilities(completion, reading, question)
        return Answer(reading.reply, self._usage(request.spent), probabilities, reading.complete)

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        """The replies, in one request where the endpoint gives several; raises as `ask` does.

        A reply that cannot be used, was cut off or declined is None, and is not repaired.
        """
        question, count = sampling.question, sampling.count
        request = self._request(question, count)
        with self._charged(request.spent):
            found: list[Completion] = []
            if count > 1 and self._dialect.gives_several:
                first = await self._complete(request)
                found = [first, *first.others]
            missing = [self._request(question, spent=request.spent) for _ in range(count - len(found))]
            found += await gather_or_cancel(map(self._complete, missing))
            replies = tuple(_reply(one, question) for one in found)
        return Answer(replies, self._usage(request.spent))

    async def close(self) -> None:
        await self._client.close()

    def _request(self, question: Question[Any], count: int = 1, spent: list[Usage] | None = None) -> _ChatRequest:
        limit = TimeLimit(self._settings.deadline_seconds)
        return _ChatRequest(question, question.messages, limit, [] if spent is None else spent, count)

    async def _repaired(
        self, request: _ChatRequest, completion: Completion, fault: str
    ) -> tuple[Completion, ReadReply[Any]]:
        question = request.question
        turns = (*question.messages, *_repair(question, completion, fault))
        try:
            completion = await self._complete(_ChatRequest(question, turns, request.limit, request.spent))
            return completion, _usable(completion, question, fault)
        except Unusable as again:
            fault = f"after one repair turn: {again}"
        except WindowExceeded:
            fault = f"and none fits that asks for another: {fault}"
        raise ModelFailed(f"no usable reply, {fault}", cause="judge_unusable")

    async def _complete(self, request: _ChatRequest) -> Completion:
        """The completion; a model that thinks or talks before its answer has room for that from then on."""
        completion = await self._completed(request)
        if request.question.max_tokens and not self._talks and lacks_room(completion, request.question):
            self._talks = True
            completion = await self._completed(request)
        return completion

    async def _completed(self, request: _ChatRequest) -> Completion:
        """The completion; what the endpoint refuses is learned by one question, while others that it refuses wait."""
        await self._after_the_first()
        question, messages = request.question, request.messages
        limit = None if self._talks else question.max_tokens
        wanted = None if self._settings.max_tokens == OMIT else limit or self._settings.max_tokens
        learns = False
        try:
            while True:
                added = self._dialect.added_characters(question, request.manner)
                tokens = request.tokens = self._window.reply_tokens(messages, wanted, added, question.written)
                size = Size(question.written, added + sum(len(message.content) for message in messages))
                try:
                    completion: Completion = await self._flow.run(request, size=size, limit=request.limit)
                except Refused as refused:
                    if refused.refusal.is_too_long:
                        self._window.refused(messages, tokens, added, refused.refusal)
                        left = tokens and self._window.reply_tokens(messages, wanted, added, question.written)
                        if not tokens or not left or left >= tokens:
                            raise self._window.exceeded(messages, wanted, added, question.written) from None
                        # It was the reply that was given too much of the window.
                        continue
                    learns = learns or await self._learning.acquire()
                    # If it was sent in another manner, another question has learned meanwhile.
                    if request.sent_in in {request.manner, self._dialect.manner}:
                        request.manner = self._conceded(refused, request)
                else:
                    if learns:
                        self._dialect.accepted(request.sent_in)
                    if SEVERAL in request.body and not completion.others:
                        self._dialect.gave_one()
                    self._window.count(messages, completion.prompt_tokens, added)
                    return completion
        finally:
            if learns:
                self._learning.release()
            self._settled.set()

    async def _after_the_first(self) -> None:
        if self._is_first:
            self._is_first = False
        elif not self._settled.is_set():
            with Phase("waits"), suppress(TimeoutError):
                async with asyncio.timeout(_MOMENT):
                    await self._settled.wait()
            self._settled.set()

    def _conceded(self, refused: Refused, request: _ChatRequest) -> Manner:
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
        await self.send(_ChatRequest(_PROBE, _PROBE.messages, TimeLimit(seconds), self._probes, tokens=tokens), seconds)

    async def send(self, request: _ChatRequest, seconds: float) -> Completion:
        """One exchange, booked however it ends: with what the endpoint reports, or else with an estimate.

        Raises:
            ExchangeFault: there is no completion.
        """
        begun = time.monotonic()
        request.sent_in = request.manner or self._dialect.manner
        request.body = self._dialect.request(
            request.question, request.messages, request.tokens, request.sent_in, request.count
        )
        # Of a request without an answer, the endpoint has read the prompt.
        calls, prompt, written, cached, counted = 1, self._window.estimated(request.messages), 0, 0, False
        came: httpx.Response | None = None
        failure: BaseException | None = None
        try:
            # Not `chat.completions.create`, which walks through every message once more: as long as all else takes.
            content = orjson.dumps({**request.body, **self._settings.extra_body})
            options: Any = {"headers": self._headers, "timeout": time_limit(seconds)}
            came = await self._client.post(
                "/chat/completions", cast_to=httpx.Response, content=content, options=options
            )
            completion = self._completion(came, request)
            counted = completion.prompt_tokens > 0
            prompt = completion.prompt_tokens or prompt
            cached = completion.cached_tokens
            written = completion.completion_tokens or completion.characters // 4
            return completion
        except openai.APIStatusError as error:
            came, prompt = error.response, 0
            raise self._fault(came.status_code, came.headers, error.body, request) from None
        except orjson.JSONEncodeError:
            calls = prompt = 0
            raise Refused("the question holds text that is not Unicode") from None
        except openai.APIConnectionError as error:
            # Of what the HTTP client itself did not know.
            failure = Transient(f"the connection broke: {error}")
            raise failure from None
        except (ExchangeFault, asyncio.CancelledError) as error:
            if came is not None or isinstance(error, Refused):
                # Something that is no completion.
                prompt = 0
            else:
                failure = error
                if not getattr(error, "has_left", False):
                    calls = prompt = 0
            raise
        finally:
            if not isinstance(sys.exception(), Refused):
                self._settled.set()
            taken = time.monotonic() - begun
            spent = Usage(
                calls=calls,
                prompt_tokens=prompt,
                completion_tokens=written,
                cached_tokens=cached,
                estimated_tokens=0 if counted else prompt + written,
                seconds=taken,
                cost=self._settings.cost(prompt, written, cached),
            )
            request.spent.append(spent)
            self._record(request, came, failure, taken)

    def _completion(self, response: httpx.Response, request: _ChatRequest) -> Completion:
        try:
            return read_completion(response.content, request.count)
        except ErrorInside as inside:
            raise self._fault(inside.status, {}, inside.error, request) from None
        except NoCompletion:
            came = self._quoted(response.content[:2000].decode("utf-8", "replace"), request)
            kind = str(response.headers.get("content-type", "")).partition(";")[0]
            raise Transient(
                f"the endpoint answered with something that is no chat completion ({kind or 'of no type'}): "
                f"{came or 'nothing'}; check {self._section}.base_url"
            ) from None

    def _quoted(self, text: str, request: _ChatRequest) -> str:
        prompt = "\n".join(message.content for message in request.messages)
        return quoted(text, secrets=self._secrets, prompt=prompt)

    def _fault(self, status: int, headers: Mapping[str, str], error: object, request: _ChatRequest) -> ExchangeFault:
        refusal = read_refusal(status, error)
        shown = self._quoted(refusal.message, request)
        detail = f"status {status}: {shown}" if shown else f"status {status}"
        # OpenAI allows log-probabilities to some keys only; for a question without them the key is good.
        for_these_keys = status == 403 and "logprobs" in request.body and "logprobs" in refusal.message.lower()
        if status in REFUSED_STATUSES or refusal.is_filtered or refusal.has_code_of_window or for_these_keys:
            return Refused(detail, refusal)
        key = "extra_headers" if self._settings.extra_headers and not self._settings.api_key else "api_key"
        if status == 429 and refusal.is_of_quota:
            return EndpointMisconfigured(f"{detail}; the account behind {self._section}.{key} has nothing left")
        if fault := passing(status, detail, headers):
            return fault
        at_fault = {401: [key], 403: [key, "model"]}.get(status, ["base_url", "model"])
        return EndpointMisconfigured(f"{detail}; check {' and '.join(f'{self._section}.{one}' for one in at_fault)}")

    def _record(
        self, request: _ChatRequest, came: httpx.Response | None, failure: BaseException | None, seconds: float
    ) -> None:
        fault = failure if isinstance(failure, ExchangeFault) else None
        if self._journal is None or (came is None and fault is None):
            return
        text = None if came is None else came.content.decode("utf-8", "replace")
        for secret in self._secrets if text is not None else ():
            text = str(text).replace(secret, "[key]")
        line = {"type": "exchange", "judge": self.name, "task": request.question.task}
        if request.question is not _PROBE:
            line["digest"] = request_digest(request.question)
        self._journal.write(
            {
                **line,
                "request": {**request.body, **self._settings.extra_body},
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


def _usable(completion: Completion, question: Question[ReplyT], complained: str = "") -> ReadReply[ReplyT]:
    reading = read_reply(completion, question, complained)
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


def _probabilities(
    completion: Completion, reading: ReadReply[Any], question: Question[Any]
) -> tuple[float, ...] | None:
    content, field = completion.content or "", question.graded
    if question.reply is YesNo:
        of_yes = probability_of_yes(completion.logprobs, content, reading.start)
        return None if of_yes is None else (of_yes,)
    if field is None:
        return None
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


def _repair(question: Question[Any], completion: Completion, fault: str) -> tuple[Message, Message]:
    # The fault may quote the reply or the material. Markers around it would be copied.
    form = (
        "Answer the question above once more with one word, yes or no."
        if question.reply is YesNo
        else "Answer the question above once more, in full, in the form that was asked for, as JSON and nothing else."
    )
    return (
        Message("assistant", (answer_of(completion.content or "") or "(no text)")[:_SHOWN_REPLY]),
        Message(
            "user",
            f"Your reply cannot be used. What is wrong with it is quoted here:\n{quoted_lines(fault)}\n{form}",
        ),
    )
