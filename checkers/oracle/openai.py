"""The oracle behind an OpenAI-compatible endpoint: asks, reads the reply strictly, and asks for one repair."""

import time
from dataclasses import dataclass
from typing import Any

from checkers.oracle.breaker import Breaker
from checkers.oracle.dialect import Dialect
from checkers.oracle.digests import request_digest
from checkers.oracle.endpoint import Endpoint
from checkers.oracle.faults import Refused, Unreachable
from checkers.oracle.fencing import fence, fence_tag
from checkers.oracle.protocol import Answer, Message, OracleError, OracleFailed, Question, ReplyT
from checkers.oracle.recording import Journal
from checkers.oracle.replies import Completion, Unusable, read_reply
from checkers.oracle.retry import Retrying
from checkers.oracle.settings import EndpointSettings
from schemas import Usage

_SHOWN_REPLY = 16_000
_MILLION = 1_000_000


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
            OracleFailed: `judge_failed` if the endpoint refuses this question or fails on it repeatedly,
                `judge_unusable` if neither the reply nor the one after the repair turn can be used.
        """
        begun = time.monotonic()
        tally = _Tally()
        try:
            reply = await self._converse(question, tally, begun + self._settings.deadline_seconds)
        except OracleError as error:
            error.usage = self._usage(tally, begun)
            raise
        return Answer(reply, self._usage(tally, begun))

    async def close(self) -> None:
        await self._endpoint.close()

    async def _converse(self, question: Question[ReplyT], tally: _Tally, ends_at: float) -> ReplyT:
        messages = question.messages
        completion = await self._complete(question, messages, tally, ends_at)
        try:
            return _usable(completion, question)
        except Unusable as fault:
            repair = _repair(completion, str(fault))
        completion = await self._complete(question, (*messages, *repair), tally, ends_at)
        try:
            return _usable(completion, question)
        except Unusable as fault:
            raise OracleFailed(f"no usable reply, after one repair turn: {fault}", cause="judge_unusable") from None

    async def _complete(
        self, question: Question[Any], messages: tuple[Message, ...], tally: _Tally, ends_at: float
    ) -> Completion:
        label = {}
        if self._records:
            label = {"judge": self.name, "task": question.task, "digest": request_digest(question)}
        limit = question.max_tokens or self._settings.max_tokens
        while True:
            asked = self._dialect.request(messages, question.reply, limit)
            request = {**self._options, **asked}

            async def attempt(seconds: float, request: dict[str, Any] = request) -> Completion:
                tally.calls += 1
                try:
                    completion = await self._endpoint.complete(request, label=label, seconds=seconds)
                except Unreachable:
                    tally.calls -= 1  # it never reached the endpoint
                    raise
                tally.prompt_tokens += completion.prompt_tokens
                tally.completion_tokens += completion.completion_tokens
                return completion

            try:
                return await self._retrying.run(attempt, ends_at=ends_at)
            except Refused as refusal:
                if not self._dialect.concede(refusal.message, asked):
                    raise OracleFailed(f"the endpoint refused: {refusal.detail}", cause="judge_failed") from None

    def _usage(self, tally: _Tally, begun: float) -> Usage:
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
