"""For tests of a checker: its verdicts without Kafka, and scripted models."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from assay.from_python import result_of
from checkers.checker import Checker, Models
from models.meter import MeteredJudge, MeteredModel
from models.protocol import Answer, Claims, Grades, Judge, Judgement, Model, ModelFailed, Question, ReplyT
from schemas import Envelope, Usage, Verdict, read_record


class ScriptedModel:
    """A model that gives the replies of a script one after the other, each a JSON object of the form asked for."""

    def __init__(self, *replies: Mapping[str, Any], name: str = "scripted") -> None:
        self.name = name
        self.questions: list[Question[Any]] = []
        """Questions asked so far, in order."""
        self._replies = list(replies)

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The next reply.

        Raises:
            ModelFailed: the script is at its end (`judge_failed`), or its reply has another form than the question
                asks for (`judge_unusable`).
        """
        self.questions.append(question)
        if not self._replies:
            raise ModelFailed("the script has no more replies", cause="judge_failed")
        try:
            reply = question.reply.model_validate(self._replies.pop(0))
        except ValidationError as error:
            raise ModelFailed(f"the script's reply does not fit: {error}", cause="judge_unusable") from None
        return Answer(reply, Usage(calls=1))

    async def close(self) -> None:
        """Nothing is held open."""


class ScriptedJudge:
    """A judge that gives the grades of a script one after the other: a support from 0 to 1 for each sentence."""

    version = ""
    self_test = None

    def __init__(self, *supports: float, name: str = "scripted") -> None:
        self.name = name
        self.claims: list[Claims] = []
        """Claims graded so far, in order."""
        self._supports = list(supports)

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The next grades.

        Raises:
            ModelFailed: the script is at its end (`judge_failed`).
        """
        self.claims += claims
        if sum(len(one.sentences) for one in claims) > len(self._supports):
            raise ModelFailed("the script has no more grades", cause="judge_failed")
        grades = tuple(
            tuple(Judgement(self._supports.pop(0), "scripted", None) for _ in one.sentences) for one in claims
        )
        return Answer(grades, Usage(calls=1))

    async def close(self) -> None:
        """Nothing is held open."""


def check(
    checker: type[Checker[Any]],
    record: Mapping[str, Any] | Envelope,
    *,
    judge: Judge | None = None,
    writer: Model | None = None,
    subjects: Mapping[str, Model] | None = None,
    **settings: Any,
) -> Verdict:
    """The verdict of `checker` on `record`, as the service would give it.

    Args:
        checker: the class, built here from `settings` and the models.
        record: as on the topic; `source` and `model` are optional, and so is `kind` if the checker has only one.
        judge: the judge; without one, asking fails and the verdict abstains.
        writer: the model that writes for the checker.
        subjects: models by the name that records carry as their `model`.
        **settings: of the checker's section of the configuration.

    Raises:
        Unreadable: the mapping is not a record.
        ModelUnavailable: a model is down; the service would hold the record.
        ValidationError: the settings are wrong.
    """
    models = Models(
        judge=MeteredJudge(judge or ScriptedJudge(name="none"), cached=False),
        writer=None if writer is None else MeteredModel(writer, cached=False),
        subjects={name: MeteredModel(model, cached=False, is_subject=True) for name, model in (subjects or {}).items()},
    )
    if not isinstance(record, Envelope):
        kind = {"kind": next(iter(checker.kinds))} if len(checker.kinds) == 1 else {}
        given = {"source": "test", "model": "test"} | kind | dict(record)
        data = orjson.dumps(given)
        record = read_record(data, max_bytes=len(data))

    async def checked() -> Verdict:
        built = checker(checker.settings_type.model_validate(settings), models)
        try:
            return await built.check(record)
        finally:
            await built.close()

    return result_of(checked())
