"""Recording and replay: every exchange and answer as JSON lines, so that verdicts can be looked into and repeated.

`{"type": "exchange", ...}` is one request to an endpoint with what came back, for people. `{"type": "answer", ...}`,
with a `reply` or a `failure`, is how a question ended, for replaying. The key of the endpoint is in none of them;
prompts and replies are, so the file deserves the protection that they do.
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
from pydantic import BaseModel, ValidationError

from models.claims import Claims
from models.protocol import Answer, ModelFailed, Question, ReplyT, WindowExceeded
from schemas import Usage

_LOG = structlog.get_logger(__name__)


class Journal:
    """A file of JSON lines to append to, made with the first of them."""

    def __init__(self, path: Path) -> None:
        self._path, self._failing = path, False

    def write(self, line: dict[str, Any]) -> None:
        """Append a line, which then survives the end of the process.

        If the file cannot be written that is logged: a full disk must not stop the checking.
        """
        data = orjson.dumps({"at": datetime.now(UTC), **line}, _plain, orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+", buffering=0) as file:
                # A killed process may have left its last line unfinished.
                is_torn = file.tell() and file.seek(-1, 2) and file.read(1) != b"\n"
                file.write(b"\n" + data if is_torn else data)
        except OSError as error:
            if not self._failing:
                _LOG.exception("recording_failed", file=str(self._path), reason=error.strerror)
            self._failing = True

    def record(self, model: str, task: str, digest: str, ending: Answer[Any] | ModelFailed) -> None:
        """Append how a request ended."""
        line: dict[str, Any] = {"type": "answer", "judge": model, "task": task, "digest": digest}
        if isinstance(ending, ModelFailed):
            line["failure"] = vars(ending)
        else:
            line |= {"reply": ending.reply, "usage": ending.usage, "probabilities": ending.probabilities}
        self.write(line)


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
    digest = _digest(parts + [question.graded] * bool(question.graded))
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
    """Answers as the recorded model did; the last of several answers to a question counts.

    Usage counts each answer as cached.
    """

    def __init__(self, path: Path) -> None:
        """Read the recording at `path`.

        Raises:
            RecordingUnreadable: the file is missing, is no recording, or holds the answers of several models.
        """
        try:
            # After the last line end comes nothing, or a line whose writing was cut short.
            *lines, _ = path.read_bytes().split(b"\n")
        except OSError as error:
            raise RecordingUnreadable(f"{path}: cannot be read: {error.strerror or error}") from None
        self.name, self._path, self._endings = "", path, dict[str, dict[str, Any]]()
        for number, line in enumerate(lines, start=1):
            with suppress(orjson.JSONDecodeError):  # of a line torn by a killed process, closed by the next one
                match document := orjson.loads(line):
                    case {"type": "answer", "judge": str(name), "digest": str(digest)}:
                        if self.name not in {"", name}:
                            # Their questions have the same digests.
                            raise RecordingUnreadable(f"{path}:{number}: of {name}, and others are of {self.name}")
                        self.name, self._endings[digest] = name, document
                    case {"type": "exchange"}:
                        pass
                    case _:
                        raise RecordingUnreadable(f"{path}:{number}: not a line of a recording")
        if not self.name:
            raise RecordingUnreadable(f"{path}: holds no answers")

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded answer.

        Raises:
            ModelFailed: the question is not in the recording, or had failed when it was recorded.
        """
        digest, usage = request_digest(question), Usage(cached=1)
        ending, asked = self._endings.get(digest), f"the {question.task} question {digest}"
        if ending is None:
            raise ModelFailed(f"the recording {self._path} has no answer to {asked}", cause="judge_failed")
        if failure := ending.get("failure"):
            raise (WindowExceeded if "asked" in failure else ModelFailed)(**{**failure, "usage": usage})
        try:
            reply = question.reply.model_validate(ending.get("reply"))
        except ValidationError:
            said = f"the recorded answer to {asked} is not of the form that is asked for"
            raise ModelFailed(said, cause="judge_unusable") from None
        given = ending.get("probabilities")
        return Answer(reply, usage, None if given is None else tuple(given))

    async def close(self) -> None:
        """Do nothing: no file is open."""
