"""The cost meter: what was asked and spent, in total, and told to whoever subscribes."""

from collections.abc import Callable

from checkers.billing import book
from checkers.oracle.protocol import Answer, Oracle, OracleError, Question, ReplyT
from schemas import Usage

UsageListener = Callable[[str, Usage], None]
"""Called with the task and what one question cost, answered or not."""


class MeteredOracle:
    """Around any oracle: adds up usage, and books it on the open bills."""

    def __init__(self, inner: Oracle, *, on_usage: UsageListener | None = None) -> None:
        self._inner = inner
        self._on_usage = on_usage
        self.total = Usage()
        """Since the start; `seconds` adds up the times of questions that ran side by side."""

    @property
    def name(self) -> str:
        """The metered oracle's."""
        return self._inner.name

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The metered oracle's answer; its errors pass through, and their cost is counted."""
        try:
            answer = await self._inner.ask(question)
        except OracleError as error:
            self._count(question.task, error.usage)
            raise
        self._count(question.task, answer.usage)
        return answer

    async def close(self) -> None:
        """Close the metered oracle."""
        await self._inner.close()

    def _count(self, task: str, usage: Usage) -> None:
        self.total += usage
        book(usage)
        if self._on_usage is not None:
            self._on_usage(task, usage)
