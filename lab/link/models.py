"""The three models of a search, asked through the store of answers: nothing is asked twice, nor twice at once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from checkers.patience import ModelLost, ModelPatience
from lab.link.answers import AnswerStore
from lab.link.questions import CRITIC_VERSION, DirectReply, ValuesReply, VettingReply, ask_critic
from models.concurrent import gather_or_cancel
from models.digests import request_digest
from models.protocol import Answer, Oracle, OracleFailed, Question, ReplyT
from schemas import Usage, digest

AnswerT = TypeVar("AnswerT")

_MOST_BANNED = 300
"""Tokens in one question; endpoints bound their number."""
CRITIC_BATCH = 25
"""Statements in one question; a repair turn or a failure costs all of them."""
_SCORER_BATCH = 64
"""Sentences in one request."""


class Scorer(Protocol):
    """A model that says how likely a sentence is."""

    @property
    def name(self) -> str: ...

    async def log_likelihoods(self, sentences: Sequence[str]) -> tuple[list[float], Usage]:
        """For each sentence the mean log-probability of its tokens, in nats; and what that cost.

        Raises:
            OracleUnavailable: the model is behind an endpoint that is down.
            OracleFailed: it gives none.
        """

    async def close(self) -> None: ...


class Tokenizer(Protocol):
    """The knowledge model's tokenizer."""

    async def first_tokens(self, values: Sequence[str]) -> list[int] | None:
        """For each value the token with which it begins; None if there is no tokenizer.

        Raises:
            OracleUnavailable: the endpoint is down.
        """

    async def close(self) -> None: ...


class SearchModels:
    """Knowledge model, critic and scorer; belongs to one event loop."""

    def __init__(
        self,
        knowledge: Oracle,
        critic: Oracle,
        scorer: Scorer,
        tokenizer: Tokenizer,
        *,
        store: AnswerStore,
        patience: ModelPatience,
        concurrency: int,
    ) -> None:
        self._knowledge = knowledge
        self._critic = critic
        self._scorer = scorer
        self._tokenizer = tokenizer
        self._store = store
        self._patience = patience
        self.concurrency = concurrency
        """Searches for values that should be under way at once."""
        self._under_way: dict[str, asyncio.Future[float | None]] = {}
        self.failures: Counter[str] = Counter()
        """Questions without a usable answer, by cause; they are asked again by the next build."""

    async def close(self) -> None:
        for model in (self._knowledge, self._critic, self._scorer, self._tokenizer):
            await model.close()

    async def values(self, question: Question[ValuesReply], *, call: int) -> list[str]:
        """The values of the reply, as they came; none if there is no usable one.

        `call` counts the calls of one beam: they may be worded alike, and are sampled anew all the same.
        """
        return await self._named("values", question, call, lambda reply: [one.value for one in reply.values])

    async def entries(self, question: Question[DirectReply], *, call: int) -> list[list[str]]:
        """The fillings of the reply, as they came; none if there is no usable one. `call` is as of `values`."""
        return await self._named("direct", question, call, lambda reply: [one.values for one in reply.entries])

    async def banned_tokens(self, wrong: Sequence[str], right: Sequence[str]) -> list[int]:
        """Tokens with which wrong values begin and no right one; none if the endpoint does not tell tokens."""
        begins = [await self._first_tokens(some) for some in (wrong, right)] if wrong else [[], []]
        return list(dict.fromkeys(one for one in begins[0] if one not in begins[1]))[:_MOST_BANNED]

    async def vetted(self, question: Question[VettingReply]) -> VettingReply:
        """What the critic finds wrong with a rule.

        Raises:
            OracleFailed: it gives no usable answer.
        """
        key = digest(["vet", self._critic.name, request_digest(question)])
        if known := self._store.find([key]):
            return VettingReply.model_validate(known[key])
        answer = await self._asked(self._critic, question)
        self._store.add("critic", {key: answer.reply.model_dump()}, answer.usage)
        return answer.reply

    async def probabilities(self, statements: Sequence[str]) -> list[float]:
        """For each statement the critic's probability that it is true; 0 if it gave no usable answer."""
        told = await self._remembered(
            statements, ["critic", self._critic.name, CRITIC_VERSION], CRITIC_BATCH, self._judged
        )
        return [one or 0.0 for one in told]

    async def log_likelihoods(self, sentences: Sequence[str]) -> list[float]:
        """For each sentence the mean log-probability of its tokens.

        Raises:
            OracleFailed: the scorer gives none: without it there is nothing to rank.
        """
        found = await self._remembered(sentences, ["scorer", self._scorer.name], _SCORER_BATCH, self._scored)
        return [one for one in found if one is not None]

    async def _named(
        self, kind: str, question: Question[ReplyT], call: int, taken: Callable[[ReplyT], list[AnswerT]]
    ) -> list[AnswerT]:
        key = digest([kind, self._knowledge.name, call, request_digest(question)])
        if known := self._store.find([key]):
            found: list[AnswerT] = known[key]
            return found
        try:
            answer = await self._asked(self._knowledge, question)
        except OracleFailed as error:
            self.failures[error.cause] += 1
            return []
        found = taken(answer.reply)
        self._store.add("knowledge", {key: found}, answer.usage)
        return found

    async def _first_tokens(self, values: Sequence[str]) -> list[int]:
        key = digest(["tokens", self._knowledge.name])
        keys = {value: digest(["tokens", self._knowledge.name, value]) for value in values}
        known = self._store.find([key, *keys.values()])
        if known.get(key) is False:
            return []
        missing = [value for value in values if keys[value] not in known]
        found = await self._patience.until_answered(lambda: self._tokenizer.first_tokens(missing)) if missing else []
        if found is None:
            self._store.add("tokenizer", {key: False}, Usage())
            return []
        new = {keys[value]: token for value, token in zip(missing, found, strict=True)}
        self._store.add("tokenizer", new, Usage())
        return [(known | new)[keys[value]] for value in values]

    async def _judged(self, statements: Sequence[str], keys: Sequence[str]) -> list[float | None]:
        try:
            answer = await self._asked(self._critic, ask_critic(statements))
        except OracleFailed as error:
            self.failures[error.cause] += 1
            return [None] * len(statements)
        found = answer.probabilities or tuple(float(entry.holds) for entry in answer.reply.entries)
        self._store.add("critic", dict(zip(keys, found, strict=True)), answer.usage)
        return list(found)

    async def _scored(self, sentences: Sequence[str], keys: Sequence[str]) -> list[float | None]:
        found, usage = await self._patience.until_answered(lambda: self._scorer.log_likelihoods(sentences))
        self._store.add("scorer", dict(zip(keys, found, strict=True)), usage)
        return list(found)

    async def _remembered(
        self,
        texts: Sequence[str],
        kind: list[str],
        batch: int,
        ask: Callable[[Sequence[str], Sequence[str]], Awaitable[list[float | None]]],
    ) -> list[float | None]:
        """What the store knows of the texts, what is being asked by others, and what is asked now, in batches."""
        keys = {text: digest([*kind, text]) for text in dict.fromkeys(texts)}
        known: dict[str, Any] = self._store.find(list(keys.values()))
        awaited = {key: self._under_way[key] for key in keys.values() if key not in known and key in self._under_way}
        missing = [text for text, key in keys.items() if key not in known and key not in awaited]
        for text in missing:
            self._under_way[keys[text]] = asyncio.get_running_loop().create_future()

        async def asked(some: Sequence[str]) -> None:
            found = await ask(some, [keys[text] for text in some])
            for text, one in zip(some, found, strict=True):
                known[keys[text]] = one
                self._under_way[keys[text]].set_result(one)

        try:
            parts = [missing[first : first + batch] for first in range(0, len(missing), batch)]
            await gather_or_cancel([asked(part) for part in parts])
        except BaseException as error:
            self._fail([keys[text] for text in missing], error)
            raise
        finally:
            for text in missing:
                self._under_way.pop(keys[text])
        for key, future in awaited.items():
            known[key] = await future
        return [known[keys[text]] for text in texts]

    def _fail(self, keys: Sequence[str], error: BaseException) -> None:
        for key in keys:
            future = self._under_way[key]
            if not future.done():
                future.set_exception(error if isinstance(error, Exception) else ModelLost("the build was broken off"))
                # Seen, if nobody waits for it.
                future.exception()

    async def _asked(self, model: Oracle, question: Question[ReplyT]) -> Answer[ReplyT]:
        return await self._patience.until_answered(lambda: model.ask(question))
