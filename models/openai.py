"""The oracle behind an OpenAI-compatible endpoint: asks, reads the reply strictly, and asks for one repair."""

import time
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from models.breaker import Breaker
from models.concurrent import gather_or_cancel
from models.dialect import SEVERAL, Dialect, Manner
from models.digests import request_digest
from models.endpoint import Endpoint
from models.faults import Refused, Unreachable
from models.fencing import fence, fence_tag
from models.limits import TimeLimit
from models.probabilities import probabilities_of_true
from models.protocol import (
    Answer,
    Message,
    OracleError,
    OracleFailed,
    Question,
    ReplyT,
    Samples,
    Sampling,
    WindowExceeded,
)
from models.recording import Journal
from models.replies import Completion, ReadReply, Unusable, answer_of, read_reply
from models.retry import Retrying
from models.sampling import CAUSES_OF_ONE_REPLY
from models.settings import OMIT, EndpointSettings
from models.window import Window
from schemas import Usage

_SHOWN_REPLY = 16_000
_MILLION = 1_000_000


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
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Time of the exchanges, without the waits between them."""

    def add(self, other: "_Tally") -> None:
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens


class OpenAIOracle:
    """Asks an endpoint; belongs to one event loop."""

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        section: str,
        retrying: Retrying,
        breaker: Breaker,
        journal: Journal | None = None,
    ) -> None:
        """`section` is what the configuration calls these settings."""
        self._settings = settings
        self._retrying = retrying
        self.breaker = breaker
        self._endpoint = Endpoint(settings, section=section, journal=journal)
        self._dialect = Dialect(settings, name=self.name)
        self._window = Window(settings.context_tokens, name=self.name)
        self._records = journal is not None
        self._probes = _Tally()
        """What probes cost since a question ended; the next that ends is charged with it."""

    @property
    def name(self) -> str:
        return f"openai/{self._settings.model}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer, within the configured deadline.

        Raises:
            OracleUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            WindowExceeded: the question is longer than the model's window, as far as that is known.
            OracleFailed: `judge_failed` if the endpoint refuses this question or fails on it repeatedly, `judge_slow`
                if it answers others but not this one in time, `judge_unusable` if neither the reply nor the one after
                the repair turn can be used, and the other causes as they say.
        """
        tally = _Tally()
        limit = TimeLimit(self._settings.deadline_seconds)
        try:
            completion, reading = await self._converse(question, tally, limit)
        except OracleError as error:
            error.usage = self._usage(tally)
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
        except OracleError as error:
            error.usage = self._usage(tally)
            raise
        return Answer(replies, self._usage(tally))

    async def close(self) -> None:
        await self._retrying.close()
        await self._endpoint.close()

    async def _converse(
        self, question: Question[ReplyT], tally: _Tally, limit: TimeLimit
    ) -> tuple[Completion, ReadReply[ReplyT]]:
        messages = question.messages
        completion = await self._complete(question, messages, tally, limit)
        try:
            return completion, _usable(completion, question)
        except Unusable as unusable:
            fault = str(unusable)
        try:
            completion = await self._complete(question, (*messages, *_repair(completion, fault)), tally, limit)
            return completion, _usable(completion, question)
        except Unusable as unusable:
            fault = f"after one repair turn: {unusable}"
        except WindowExceeded:
            fault = f"and none fits that asks for another: {fault}"
        raise OracleFailed(f"no usable reply, {fault}", cause="judge_unusable")

    async def _several(self, question: Question[Any], count: int, tally: _Tally) -> list[Completion]:
        found: list[Completion] = []
        if count > 1 and self._dialect.gives_several:
            limit = TimeLimit(self._settings.deadline_seconds)
            first = await self._complete(question, question.messages, tally, limit, count)
            found = [first, *first.others]
        missing = [
            self._complete(question, question.messages, tally, TimeLimit(self._settings.deadline_seconds))
            for _ in range(count - len(found))
        ]
        return [*found, *await gather_or_cancel(missing)]

    async def _complete(
        self,
        question: Question[Any],
        messages: tuple[Message, ...],
        tally: _Tally,
        limit: TimeLimit,
        completions: int = 1,
    ) -> Completion:
        label = {}
        if self._records:
            label = {"judge": self.name, "task": question.task, "digest": request_digest(question)}
        wanted = None if self._settings.max_tokens == OMIT else question.max_tokens or self._settings.max_tokens
        size = sum(len(message.content) for message in messages)
        manner = self._dialect.manner
        while True:
            added = self._dialect.added_characters(question, manner)
            tokens = self._window.reply_tokens(messages, wanted, added)
            request = self._dialect.request(question, messages, tokens, manner, completions)

            async def attempt(seconds: float, request: dict[str, Any] = request) -> Completion:
                return await self._exchange(request, label, tally, seconds)

            try:
                completion = await self._retrying.run(
                    attempt, probe=self._probe, task=question.task, size=size, limit=limit
                )
            except Refused as refused:
                if refused.refusal.is_too_long:
                    self._window.refused(messages, tokens, added, refused.refusal)
                    if tokens is not None and (self._window.reply_tokens(messages, wanted, added) or tokens) < tokens:
                        continue  # it was the reply that was given too much of the window
                    raise self._window.exceeded(messages, wanted, added) from None
                manner = self._conceded(refused, request, manner)
            else:
                self._dialect.accepted(manner)
                if SEVERAL in request and not completion.others:
                    self._dialect.gave_one(manner)
                self._window.count(messages, completion.prompt_tokens, added)
                return completion

    def _conceded(self, refused: Refused, request: dict[str, Any], manner: Manner) -> Manner:
        if refused.refusal.is_filtered:
            said = f"the endpoint's content filter kept the question back: {refused.detail}"
            raise OracleFailed(said, cause="judge_filtered") from None
        conceded = self._dialect.concede(refused.refusal, request, manner)
        if conceded is None:
            raise OracleFailed(f"the endpoint refused: {refused.detail}", cause="judge_failed") from None
        return conceded

    async def _probe(self, seconds: float) -> None:
        """Ask what any endpoint answers at once, in the form that questions have; whatever it says will do."""
        tokens = None if self._settings.max_tokens == OMIT else _PROBE.max_tokens
        request = self._dialect.request(_PROBE, _PROBE.messages, tokens, self._dialect.manner)
        label = {"judge": self.name, "task": "probe"} if self._records else {}
        await self._exchange(request, label, self._probes, seconds)

    async def _exchange(
        self, request: dict[str, Any], label: dict[str, str], tally: _Tally, seconds: float
    ) -> Completion:
        tally.calls += 1
        begun = time.monotonic()
        try:
            completion = await self._endpoint.complete(request, label=label, seconds=seconds)
        except Unreachable:
            tally.calls -= 1  # it never reached the endpoint
            raise
        finally:
            tally.seconds += time.monotonic() - begun
        tally.prompt_tokens += completion.prompt_tokens
        tally.completion_tokens += completion.completion_tokens
        return completion

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
    except OracleFailed as error:
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
