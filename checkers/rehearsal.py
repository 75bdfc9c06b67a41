"""Models that answer by a script and ask nobody: what a check would ask of the real ones is counted on its bill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ValidationError

from checkers.checker import Models
from checkers.draws import generator
from models.claims import Claims, Grades, Judgement
from models.dialect import Dialect
from models.meter import MeteredGrader, MeteredModel
from models.protocol import Answer, Grader, Judge, Model, ModelFailed, Question, ReplyT, Samples, Sampling, reply_limit
from models.settings import OMIT, JudgeSettings, SubjectSettings
from models.window import Window
from schemas import Usage

CHARACTERS_A_TOKEN = 4
_MOST_ENTRIES = 50
"""A list in a reply that is made from its form alone has no more."""
NOT_MADE = "no reply can be made for a dry run: its questions need `likely`"


Case = Literal["best", "usual", "worst"]
"""At best the schema costs nothing, several answers come in one request, and the local judge of a cascade decides all.
Usually the schema counts, and the local judge decides nothing. At worst each answer takes a request of its own besides,
and is written with indentation."""

_READ: Mapping[Case, float] = {"best": 0.9, "usual": 1.0, "worst": 1.1}
"""Tokens for each that is reckoned of a prompt: tokenizers differ."""
_REASON = "the text says so in its second sentence, word for word"
_REASONS: Mapping[Case, str] = {"best": "yes", "usual": _REASON, "worst": _REASON * 4}


@dataclass(frozen=True, slots=True)
class Script:
    """The answers of all models."""

    case: Case
    yes: float
    """The share of booleans that are true, of choices that fall on the first, of entities that are found."""
    steady: bool = True
    """True if the same question gets the same answer each time."""
    filled: float = 1.0
    """Tokens of a window that is taken up for each that is reckoned."""


USUAL = Script("usual", 1.0)
SCRIPTS = (
    USUAL,
    *(Script("best", *each) for each in ((1.0, True, 1.0), (0.5, True, 0.9), (0.0, True, 1.0))),
    *(Script("worst", share, steady=False, filled=1.1) for share in (1.0, 0.9, 0.7, 0.4)),
    *(Script("worst", share) for share in (1.0, 0.9, 0.7, 0.4, 0.0)),
)


def rehearsing(models: Models, judge: JudgeSettings, subjects: Mapping[str, SubjectSettings], script: Script) -> Models:
    """Models with the names and settings of `models` that answer by `script`, metered and cached as those are."""

    def judging(real: Judge | None, *, charged: bool) -> Judge | None:
        if isinstance(real, Grader):
            fails = not charged and script.case != "best"
            return MeteredGrader(_ScriptedGrader(real.name, script, fails=fails), cached=True, charged=charged)
        return None if real is None else answering(real, judge)

    def answering(real: Model, settings: JudgeSettings | SubjectSettings) -> Model:
        made = MeteredModel(_ScriptedModel(real.name, settings, script), cached=True, max_tokens=reply_limit(real))
        made.temperature = getattr(real, "temperature", None)
        return made

    return Models(
        judge=judging(models.judge, charged=True),
        screen=judging(models.screen, charged=False),
        subjects={name: answering(model, subjects[name]) for name, model in models.subjects.items()},
    )


class _ScriptedGrader:
    def __init__(self, name: str, script: Script, *, fails: bool) -> None:
        self.name = name
        self._script = script
        self._fails = fails

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        if self._fails:
            raise ModelFailed("it decides nothing", cause="judge_failed")
        draw, share, reason = generator(f"{claims}", task), self._script.yes, _REASONS[self._script.case]
        grades = tuple(
            tuple(Judgement(float(draw.random() < share), reason, None) for _ in one.sentences) for one in claims
        )
        return Answer(grades, Usage(calls=1))

    async def close(self) -> None:
        """Nothing is held open."""


class _ScriptedModel:
    def __init__(self, name: str, settings: JudgeSettings | SubjectSettings, script: Script) -> None:
        self.name = name
        self._settings = settings
        self._script = script
        self._dialect = Dialect(settings, name=name)
        self._window = Window(settings.context_tokens, name=name)

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        (reply,), usage = self._answered(question, range(1))
        return Answer(reply, usage)

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        numbers = range(sampling.first, sampling.first + sampling.count)
        replies, usage = self._answered(sampling.question, numbers)
        return Answer(tuple(replies), usage)

    async def close(self) -> None:
        """Nothing is held open."""

    def _answered(self, question: Question[ReplyT], numbers: Sequence[int]) -> tuple[list[ReplyT], Usage]:
        """A reply for each number, and what the requests would cost.

        Raises:
            WindowExceeded: the question is longer than the configured window.
            ModelFailed: no reply can be made.
        """
        settings, messages = self._settings, question.messages
        at_worst = self._script.case == "worst"
        replies = [_reply(question, self._script, 0 if self._script.steady else number) for number in numbers]
        if settings.backend == "replay":
            return replies, Usage(cached=1)
        calls = len(numbers) if at_worst else 1
        if settings.backend == "service":
            if question.data is None:
                raise ModelFailed("a service reads no prompts", cause="judge_failed")
            return replies, Usage(calls=len(numbers))
        limit = None if settings.max_tokens == OMIT else question.max_tokens or settings.max_tokens
        added = self._dialect.added_characters(question)
        limit = self._window.reply_tokens(messages, limit, added, question.written)
        prompt = Window(None, name=self.name).reckoned(messages) + added // CHARACTERS_A_TOKEN
        if self._script.case != "best":
            request = self._dialect.request(question, messages, limit, self._dialect.manner)
            prompt += len(orjson.dumps(request.get("response_format", {}))) // CHARACTERS_A_TOKEN
        self._window.count(messages, round(prompt * self._script.filled), added)
        prompt = round(prompt * _READ[self._script.case])
        option = orjson.OPT_INDENT_2 if at_worst else 0
        texts = [orjson.dumps(reply.model_dump(mode="json", by_alias=True), option=option) for reply in replies]
        written = [len(text.decode()) // CHARACTERS_A_TOKEN + 1 for text in texts]
        completion = sum(one if limit is None else min(one, limit) for one in written)
        cost = settings.cost(prompt * calls, completion)
        return replies, Usage(calls=calls, prompt_tokens=prompt * calls, completion_tokens=completion, cost=cost)


def _reply(question: Question[ReplyT], script: Script, number: int) -> ReplyT:
    draw = generator(f"{question.messages}", str(number))

    def yes() -> bool:
        return draw.random() < script.yes

    if question.likely is not None:
        return question.likely(yes, _REASONS[script.case])
    schema = _schema(question.reply)
    for entries in range(1, _MOST_ENTRIES + 1):
        made = _Form(schema.get("$defs", {}), yes, _REASONS[script.case], entries).made(schema)
        try:
            reply = question.reply.model_validate(made)
        except ValidationError:
            continue
        if question.complaint(reply) is None:
            return reply
    raise ModelFailed(NOT_MADE, cause="judge_unusable")


@dataclass(frozen=True, slots=True)
class _Form:
    """Makes values of the forms that a JSON schema describes."""

    named: Mapping[str, Any]
    yes: Callable[[], bool]
    reason: str
    entries: int
    """So many have all lists, numbered from 1."""

    def made(self, part: Mapping[str, Any], place: int = 1) -> Any:
        """A value for a part of the schema, within the entry at `place`."""
        if "$ref" in part:
            return self.made(self.named[part["$ref"].rpartition("/")[2]], place)
        if "anyOf" in part:
            return self.made(part["anyOf"][0], place)
        if choices := part.get("enum"):
            return choices[0 if self.yes() else -1]
        kind = part.get("type")
        if kind == "object":
            return {name: self.made(one, place) for name, one in part.get("properties", {}).items()}
        if kind == "array":
            return [self.made(part.get("items", {}), number) for number in range(1, self.entries + 1)]
        yes = self.yes()
        known = {"string": self.reason, "boolean": yes, "integer": place, "number": float(yes)}
        return part.get("const", known.get(str(kind)))


@lru_cache(maxsize=256)
def _schema(form: type[BaseModel]) -> dict[str, Any]:
    return form.model_json_schema()
