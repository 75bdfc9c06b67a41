"""The oracle behind an OpenAI-compatible endpoint: asks, reads the reply strictly, and asks for one repair."""

import time
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from checkers.oracle.breaker import Breaker
from checkers.oracle.dialect import Dialect
from checkers.oracle.digests import request_digest
from checkers.oracle.endpoint import Endpoint
from checkers.oracle.faults import Refused, Unreachable
from checkers.oracle.fencing import fence, fence_tag
from checkers.oracle.limits import TimeLimit
from checkers.oracle.protocol import Answer, Message, OracleError, OracleFailed, Question, ReplyT
from checkers.oracle.recording import Journal
from checkers.oracle.replies import Completion, Unusable, read_reply
from checkers.oracle.retry import Retrying
from checkers.oracle.settings import EndpointSettings
from schemas import Usage

_SHOWN_REPLY = 16_000
_MILLION = 1_000_000

_PROBE = (Message("user", 'This only asks whether you answer. Reply with the JSON object {"alive": true}.'),)
_PROBE_TOKENS = 16


class _Alive(BaseModel):
    alive: bool


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, calls: int, prompt_tokens: int, completion_tokens: int) -> None:
        self.calls += calls
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens


class OpenAIOracle:
    """Asks an endpoint; belongs to one event loop."""

    def __init__(
        self, settings: EndpointSettings, *, retrying: Retrying, breaker: Breaker, journal: Journal | None = None
    ) -> None:
        self._settings = settings
        self._retrying = retrying
        self.breaker = breaker
        self._endpoint = Endpoint(settings, journal=journal)
        self._dialect = Dialect(settings.structured)
        self._records = journal is not None
        self._probes = _Tally()
        """What probes cost since a question ended; the next that ends is charged with it."""
        self._options: dict[str, Any] = {"model": settings.model}
        if settings.temperature is not None:
            self._options["temperature"] = settings.temperature
        if settings.seed is not None:
            self._options["seed"] = settings.seed

    @property
    def name(self) -> str:
        return f"openai/{self._settings.model}"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer, within the configured deadline.

        Raises:
            OracleUnavailable: the endpoint is down, throttles us, or refuses our key, model or address.
            OracleFailed: `judge_failed` if the endpoint refuses this question or fails on it repeatedly, `judge_slow`
                if it answers others but not this one in time, `judge_unusable` if neither the reply nor the one after
                the repair turn can be used.
        """
        begun = time.monotonic()
        tally = _Tally()
        limit = TimeLimit(self._settings.deadline_seconds)
        try:
            reply = await self._converse(question, tally, limit)
        except OracleError as error:
            error.usage = self._usage(tally, begun)
            raise
        return Answer(reply, self._usage(tally, begun))

    async def close(self) -> None:
        await self._retrying.close()
        await self._endpoint.close()

    async def _converse(self, question: Question[ReplyT], tally: _Tally, limit: TimeLimit) -> ReplyT:
        messages = question.messages
        completion = await self._complete(question, messages, tally, limit)
        try:
            return _usable(completion, question)
        except Unusable as fault:
            repair = _repair(completion, str(fault))
        completion = await self._complete(question, (*messages, *repair), tally, limit)
        try:
            return _usable(completion, question)
        except Unusable as fault:
            raise OracleFailed(f"no usable reply, after one repair turn: {fault}", cause="judge_unusable") from None

    async def _complete(
        self, question: Question[Any], messages: tuple[Message, ...], tally: _Tally, limit: TimeLimit
    ) -> Completion:
        label = {}
        if self._records:
            label = {"judge": self.name, "task": question.task, "digest": request_digest(question)}
        tokens = question.max_tokens or self._settings.max_tokens
        size = sum(len(message.content) for message in messages)
        while True:
            asked = self._dialect.request(messages, question.reply, tokens)
            request = {**self._options, **asked}

            async def attempt(seconds: float, request: dict[str, Any] = request) -> Completion:
                return await self._exchange(request, label, tally, seconds)

            try:
                return await self._retrying.run(attempt, probe=self._probe, task=question.task, size=size, limit=limit)
            except Refused as refusal:
                if not self._dialect.concede(refusal.message, asked):
                    raise OracleFailed(f"the endpoint refused: {refusal.detail}", cause="judge_failed") from None

    async def _probe(self, seconds: float) -> None:
        """Ask what any endpoint answers at once, in the form that questions have; whatever it says will do."""
        tokens = self._settings.max_tokens and _PROBE_TOKENS
        request = {**self._options, **self._dialect.request(_PROBE, _Alive, tokens)}
        label = {"judge": self.name, "task": "probe"} if self._records else {}
        await self._exchange(request, label, self._probes, seconds)

    async def _exchange(
        self, request: dict[str, Any], label: dict[str, str], tally: _Tally, seconds: float
    ) -> Completion:
        tally.calls += 1
        try:
            completion = await self._endpoint.complete(request, label=label, seconds=seconds)
        except Unreachable:
            tally.calls -= 1  # it never reached the endpoint
            raise
        tally.add(0, completion.prompt_tokens, completion.completion_tokens)
        return completion

    def _usage(self, tally: _Tally, begun: float) -> Usage:
        if self._probes.calls:
            probes, self._probes = self._probes, _Tally()
            tally.add(probes.calls, probes.prompt_tokens, probes.completion_tokens)
        prompt_cost = tally.prompt_tokens * self._settings.prompt_price / _MILLION
        completion_cost = tally.completion_tokens * self._settings.completion_price / _MILLION
        return Usage(
            calls=tally.calls,
            prompt_tokens=tally.prompt_tokens,
            completion_tokens=tally.completion_tokens,
            seconds=time.monotonic() - begun,
            cost=prompt_cost + completion_cost,
        )


def _usable(completion: Completion, question: Question[ReplyT]) -> ReplyT:
    reply = read_reply(completion, question.reply)
    complaint = question.complaint(reply)
    if complaint is not None:
        raise Unusable(complaint)
    return reply


def _repair(completion: Completion, fault: str) -> tuple[Message, Message]:
    # The fault may quote the reply or the material, so it is fenced like them.
    tag = fence_tag([fault])
    return (
        Message("assistant", (completion.content or "(no text)")[:_SHOWN_REPLY]),
        Message(
            "user",
            "Your reply cannot be used. What is wrong with it stands between these markers:\n"
            f"{fence('fault', fault, tag)}\n"
            "Answer the question above once more, in full, in the form that was asked for, as JSON and nothing else.",
        ),
    )
