"""Replay: questions are answered from a recording, without a model and without a network."""

from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from checkers.oracle.claims import Judgement
from checkers.oracle.digests import question_digest
from checkers.oracle.protocol import Answer, OracleFailed, Question, ReplyT
from schemas import Usage


class RecordingUnreadable(ValueError):
    """A recording that cannot be replayed: names the file, the line, and what is wrong."""


class ReplayOracle:
    """Answers as the recorded oracle did; of several endings of a question the last one counts.

    Usage counts each answer as cached: nothing was called and nothing was spent.
    """

    def __init__(self, path: Path, *, model: str | None = None) -> None:
        """Read the recording at `path`; `model` picks one where several were recorded into the same file.

        Raises:
            RecordingUnreadable: the file is missing, is no recording, or holds several models and `model` picks none.
        """
        endings = _endings(path)
        names = sorted({ending["judge"] for ending in endings})
        if model is not None:
            names = [name for name in names if name in {model, f"openai/{model}"}]
        if len(names) != 1:
            recorded = ", ".join(sorted({ending["judge"] for ending in endings})) or "no answers"
            raise RecordingUnreadable(f"{path}: model {model!r} does not pick one; the file holds {recorded}")
        self._name: str = names[0]
        self._path = path
        self._endings = {ending["digest"]: ending for ending in endings if ending["judge"] == self._name}

    @property
    def name(self) -> str:
        """The recorded oracle's, so that verdicts read the same."""
        return self._name

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded answer.

        Raises:
            OracleFailed: the question is not in the recording, or had failed when it was recorded.
        """
        digest = question_digest(question)
        ending = self._endings.get(digest)
        usage = Usage(cached=1)
        if ending is None:
            raise OracleFailed(
                f"the recording {self._path} has no answer to the {question.task} question {digest}",
                cause="judge_failed",
            )
        if ending["type"] == "failure":
            raise OracleFailed(ending["detail"], cause=ending["cause"], usage=usage)
        try:
            reply = question.reply.model_validate_json(orjson.dumps(ending["reply"]))
        except ValidationError:
            raise OracleFailed(
                f"the recorded answer to the {question.task} question {digest} is not of the form that is asked for",
                cause="judge_unusable",
            ) from None
        grades = ending["grades"]
        return Answer(reply, usage, None if grades is None else tuple(Judgement(*grade) for grade in grades))

    async def close(self) -> None:
        """Nothing is held open."""


def _endings(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordingUnreadable(f"{path}: cannot be read: {error.strerror or error}") from None
    # After the last line end stands nothing, or a line whose writing was cut short.
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
            endings.append(document)
    return endings
