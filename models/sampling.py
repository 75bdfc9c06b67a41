"""Several independent answers to one question, for what is decided by a vote or by how steady a model is."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Generic, TypeVar

from models.concurrent import gather_or_cancel
from models.protocol import Model, ModelError, ModelFailed, Question, ReplyT
from schemas import Usage

ResultT = TypeVar("ResultT")

_OF_ONE_REPLY = frozenset({"judge_unusable", "judge_refused", "judge_cut_off"})
"""Causes that another answer to the same question may not have."""


async def sample(model: Model, question: Question[ReplyT], count: int, first: int = 0) -> tuple[ReplyT | None, ...]:
    """`count` answers, None for each that cannot be used; nothing is repaired.

    Answers are numbered, from `first` on, for cache and recording: the same number gives the same answer again.

    Raises:
        ModelUnavailable: the endpoint cannot be reached; ask again later.
        ModelFailed: the question gets no answer at all.
    """

    async def one(number: int) -> ReplyT | None:
        try:
            return (await model.ask(replace(question, number=number))).reply
        except ModelFailed as error:
            if error.cause not in _OF_ONE_REPLY:
                raise
            return None

    return tuple(await gather_or_cancel(map(one, range(first, first + count))))


class SharedRequests(Generic[ResultT]):
    """Requests that bring a result for each of those who ask the same at the same moment; of one event loop."""

    def __init__(self) -> None:
        self._joining: dict[str, list[asyncio.Future[ResultT | None]]] = {}

    async def one(self, key: str, ask: Callable[[int], Awaitable[Sequence[ResultT]]]) -> ResultT:
        """A result of `ask`, which is called with the number of results that are wanted, and may give fewer."""
        if (others := self._joining.get(key)) is not None:
            others.append(place := asyncio.get_running_loop().create_future())
            return await place or (await ask(1))[0]
        others = self._joining[key] = []
        asyncio.get_running_loop().call_soon(self._joining.pop, key)
        found: Sequence[ResultT] = ()
        failure: ModelError | None = None
        try:
            await asyncio.sleep(0)
            found = await ask(1 + len(others))
            return found[0]
        except ModelError as error:
            failure = error
            raise
        finally:
            for place, result in zip_longest(others, found[1:]):
                if place.done():
                    continue
                if failure is None:
                    place.set_result(result)
                else:
                    place.set_exception(replace(failure, usage=Usage()))
