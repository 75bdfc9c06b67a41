"""Recording and replay: every exchange and answer as JSON lines, so that verdicts can be looked into and repeated.

`{"type": "exchange", ...}` is one request to an endpoint with what came back, for people. `{"type": "answer", ...}`
(with a `reply`, `samples` or `grades`) and `{"type": "failure", ...}` are how a request ended, for replaying. The key
of the endpoint is in none of them; prompts and replies are, so the file deserves the protection that they do.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import structlog
from pydantic import BaseModel, ValidationError

from models.claims import Claims, Grades, Judgement
from models.protocol import Answer, Grading, ModelFailed, Question, ReplyT, Samples, Sampling, WindowExceeded
from schemas import Usage
from schemas.evidence import SelfTestFigure

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Longer lines are skipped, and logged as such: a recording stays readable line by line."""

Request = Question[Any] | Grading | Sampling[Any]
_KINDS = {Question: "reply", Sampling: "samples", Grading: "grades"}

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
        if len(data) > MAX_LINE_BYTES:
            _LOG.warning("recording_line_skipped", file=str(self._path), type=line["type"], bytes=len(data))
            return
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

    def record(self, judge: str, request: "Request", ending: Answer[Any] | ModelFailed) -> None:
        """Append how a request to the model called `judge` ended."""
        line: dict[str, Any]
        if isinstance(ending, ModelFailed):
            line = {"type": "failure", "cause": ending.cause, "detail": ending.detail}
            if isinstance(ending, WindowExceeded):
                line |= {"characters": ending.characters, "asked": ending.asked}
            line |= {} if ending.begun else {"begun": False}
        else:
            line = {"type": "answer", _KINDS[type(request)]: ending.reply, "usage": ending.usage.model_dump()}
            line |= {} if ending.probabilities is None else {"probabilities": ending.probabilities}
            line |= {} if ending.complete else {"complete": False}
        self.write({"judge": judge, "task": request.task, "digest": request_digest(request), **line})

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


def request_digest(request: Request) -> str:
    """Digest (256 bits, hex) of all that bears on the answer: messages, form, limits, probability; or the claims.

    Two requests that differ in any of it have different digests; the model's name is not part of it.
    """
    parts: tuple[object, ...]
    if isinstance(request, Grading):
        parts = (request.task, request.claims)
    elif isinstance(request, Sampling):
        parts = (request_digest(request.question), request.first, request.count)
    else:
        messages = [(message.role, message.content) for message in request.messages]
        form: type[BaseModel] = request.reply
        parts = (request.task, request.prompt_version, messages, _form_digest(form), request.max_tokens)
        parts += (request.graded,) if request.graded else ()
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
        endings = _endings(path)
        recorded = sorted({ending["judge"] for ending in endings})
        names = [name for name in recorded if model is None or name in {model, f"openai/{model}"}]
        if len(names) != 1:
            held = ", ".join(recorded) or "no answers"
            raise RecordingUnreadable(f"{path}: model {model!r} does not pick one; the file holds {held}")
        self.name: str = names[0]
        self._path = path
        self._endings = {ending["digest"]: ending for ending in endings if ending["judge"] == self.name}
        self.grades = any("grades" in ending for ending in self._endings.values())
        """True if the recorded model graded claims."""

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded answer.

        Raises:
            ModelFailed: the question is not in the recording, or had failed when it was recorded.
        """
        ending = self._ending(question)
        with _in_form(question):
            reply = question.reply.model_validate_json(orjson.dumps(ending.get("reply")))
        given = ending.get("probabilities")
        return Answer(reply, Usage(cached=1), None if given is None else tuple(given), ending.get("complete", True))

    async def sample(self, sampling: Sampling[ReplyT]) -> Answer[Samples[ReplyT]]:
        """The recorded samples; raises as `ask` does."""
        recorded: Any = self._ending(sampling).get("samples")
        form = sampling.question.reply
        with _in_form(sampling):
            replies = [None if one is None else form.model_validate_json(orjson.dumps(one)) for one in recorded]
        return Answer(tuple(replies), Usage(cached=1))

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The recorded grades; raises as `ask` does."""
        grading = Grading(task, tuple(claims))
        recorded: Any = self._ending(grading).get("grades")
        with _in_form(grading):
            grades = tuple(tuple(Judgement(**one) for one in each) for each in recorded)
        return Answer(grades, Usage(cached=1))

    async def close(self) -> None:
        """Do nothing: no file is open."""

    def _ending(self, request: Request) -> dict[str, Any]:
        digest = request_digest(request)
        ending = self._endings.get(digest)
        if ending is None:
            detail = f"the recording {self._path} has no answer to the {request.task} question {digest}"
            raise ModelFailed(detail, cause="judge_failed")
        if ending["type"] == "failure":
            detail, usage = ending["detail"], Usage(cached=1)
            if "characters" in ending:
                raise WindowExceeded(detail, characters=ending["characters"], asked=ending["asked"], usage=usage)
            raise ModelFailed(detail, cause=ending["cause"], usage=usage, begun=ending.get("begun", True))
        return ending


@contextmanager
def _in_form(request: Request) -> Iterator[None]:
    """Make a failure of what is not of the form that is asked for."""
    try:
        yield
    except (ValidationError, TypeError):
        asked = f"the {request.task} question {request_digest(request)}"
        detail = f"the recorded answer to {asked} is not of the form that is asked for"
        raise ModelFailed(detail, cause="judge_unusable") from None


def _endings(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordingUnreadable(f"{path}: cannot be read: {error.strerror or error}") from None
    # After the last line end comes nothing, or a line whose writing was cut short.
    lines.pop()
    endings = []
    for number, line in enumerate(lines, start=1):
        try:
            document = orjson.loads(line)
        except orjson.JSONDecodeError:
            # A line torn by a killed process, closed by the next one that appended.
            continue
        if not isinstance(document, dict) or "type" not in document:
            raise RecordingUnreadable(f"{path}:{number}: not a line of a recording")
        if document["type"] in {"answer", "failure"}:
            if not {"judge", "digest"} <= document.keys():
                raise RecordingUnreadable(f"{path}:{number}: the judge or the digest of the question is missing")
            endings.append(document)
    return endings
