"""Recording and replay: every exchange and answer as JSON lines, so that verdicts can be looked into and repeated.

`{"type": "exchange", ...}` is one request to an endpoint with what came back, for people. `{"type": "answer", ...}`,
with a `reply`, `grades` or a `failure`, is how a request ended, for replaying. The key of the endpoint is
in none of them; prompts and replies are, so the file deserves the protection that they do.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import structlog
from pydantic import BaseModel, TypeAdapter, ValidationError

from models.claims import Claims, Grades
from models.protocol import Answer, AnswerT, ModelFailed, Question, ReplyT, WindowExceeded
from schemas import Usage
from schemas.evidence import SelfTestFigure

_LOG = structlog.get_logger(__name__)


class Journal:
    """A file of JSON lines to append to, made with the first of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begun = self._failing = False

    def write(self, line: dict[str, Any]) -> None:
        """Append a line, which then survives the end of the process.

        If the file cannot be written that is logged: a full disk must not stop the checking.
        """
        data = orjson.dumps({"at": datetime.now(UTC), **line}, _plain, orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
        try:
            if not self._begun:
                data = self._begin() + data
            with self._path.open("ab", buffering=0) as file:
                file.write(data)
        except OSError as error:
            if not self._failing:
                _LOG.exception("recording_failed", file=str(self._path), reason=error.strerror)
            self._failing = True
        else:
            self._begun, self._failing = True, False

    def record(self, model: str, task: str, digest: str, ending: Answer[Any] | ModelFailed) -> None:
        """Append how a request ended."""
        line: dict[str, Any] = {"type": "answer", "judge": model, "task": task, "digest": digest}
        if isinstance(ending, ModelFailed):
            line["failure"] = vars(ending)
        else:
            line["reply" if isinstance(ending.reply, BaseModel) else "grades"] = ending.reply
            line |= {"usage": ending.usage, "probabilities": ending.probabilities, "complete": ending.complete}
        self.write(line)

    def _begin(self) -> bytes:
        """The prefix of our first line: a line end, if an earlier process left a line unfinished."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab+") as file:
            if not file.tell():
                return b""
            file.seek(-1, 2)
            return b"" if file.read(1) == b"\n" else b"\n"


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(type(value).__name__)


def request_digest(question: Question[Any]) -> str:
    """Digest (256 bits, hex) of all that bears on the answer: messages, form, limits and probability.

    Two questions that differ in any of it have different digests; the model's name is not part of it. The number of a
    question is appended as `/3`.
    """
    form: type[BaseModel] = question.reply
    messages = [(message.role, message.content) for message in question.messages]
    parts = [question.task, question.prompt_version, messages, _form_digest(form), question.max_tokens]
    digest = _digest([*parts, question.graded] if question.graded else parts)
    return digest if question.number is None else f"{digest}/{question.number}"


def claims_digest(task: str, claims: Sequence[Claims]) -> str:
    """As `request_digest`, for a grading."""
    return _digest([task, claims])


def _digest(parts: Sequence[object]) -> str:
    try:
        data = orjson.dumps(parts)
    except TypeError:  # lone surrogates: no text for an endpoint, but the local judge and the caller may ask
        data = repr(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=32).hexdigest()


@lru_cache(maxsize=256)
def _form_digest(form: type[BaseModel]) -> str:
    schema = orjson.dumps(form.model_json_schema(), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(schema).hexdigest()


class RecordingUnreadable(ValueError):
    """A recording that cannot be replayed; names the file, the line and the fault."""


class Replay:
    """Answers and grades as the recorded model did; the last of several answers to a request counts.

    Usage counts each answer as cached.
    """

    version = ""
    self_test: SelfTestFigure | None = None

    def __init__(self, path: Path, *, model: str | None = None) -> None:
        """Read the recording at `path`; `model` selects one of several in the same file.

        Raises:
            RecordingUnreadable: the file is missing, is no recording, or holds several models and `model` selects none.
        """
        try:
            # After the last line end comes nothing, or a line whose writing was cut short.
            *lines, _ = path.read_bytes().split(b"\n")
        except OSError as error:
            raise RecordingUnreadable(f"{path}: cannot be read: {error.strerror or error}") from None
        recorded: dict[str, dict[str, dict[str, Any]]] = {}
        for number, line in enumerate(lines, start=1):
            with suppress(orjson.JSONDecodeError):  # of a line torn by a killed process, closed by the next one
                match document := orjson.loads(line):
                    case {"type": "answer", "judge": str(name), "digest": str(digest)}:
                        recorded.setdefault(name, {})[digest] = document
                    case {"type": "exchange"}:
                        pass
                    case _:
                        raise RecordingUnreadable(f"{path}:{number}: not a line of a recording")
        names = [name for name in recorded if model is None or name in {model, f"openai/{model}"}]
        if len(names) != 1:
            held = ", ".join(sorted(recorded)) or "no answers"
            raise RecordingUnreadable(f"{path}: model {model!r} does not pick one; the file holds {held}")
        self.name, self._path, self._endings = names[0], path, recorded[names[0]]
        self.grades = any("grades" in ending for ending in self._endings.values())
        """True if the recorded model graded claims."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded answer.

        Raises:
            ModelFailed: the question is not in the recording, or had failed when it was recorded.
        """
        return self._answer(question.task, request_digest(question), "reply", TypeAdapter(question.reply))

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The recorded grades; raises as `ask` does."""
        return self._answer(task, claims_digest(task, claims), "grades", TypeAdapter(Grades))

    async def close(self) -> None:
        """Do nothing: no file is open."""

    def _answer(self, task: str, digest: str, kind: str, form: TypeAdapter[AnswerT]) -> Answer[AnswerT]:
        ending, usage = self._endings.get(digest), Usage(cached=1)
        if ending is None:
            detail = f"the recording {self._path} has no answer to the {task} question {digest}"
            raise ModelFailed(detail, cause="judge_failed")
        if failure := ending.get("failure"):
            raise (WindowExceeded if "asked" in failure else ModelFailed)(**{**failure, "usage": usage})
        try:
            reply = form.validate_json(orjson.dumps(ending.get(kind)))
        except ValidationError:
            detail = f"the recorded answer to the {task} question {digest} is not of the form that is asked for"
            raise ModelFailed(detail, cause="judge_unusable") from None
        given = ending.get("probabilities")
        return Answer(reply, usage, None if given is None else tuple(given), ending.get("complete", True))
