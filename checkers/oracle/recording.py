"""Recording: every exchange and every answer, as JSON lines, so that verdicts can be looked into and repeated.

`{"type": "exchange", ...}` is one request with what came back, for people. `{"type": "answer", ...}` and
`{"type": "failure", ...}` are how a question ended, for replaying. The key of the endpoint is in none of them;
prompts and replies are, so the file deserves the protection that they do.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import structlog

from checkers.oracle.digests import question_digest
from checkers.oracle.protocol import Answer, Oracle, OracleFailed, Question, ReplyT

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Longer lines are left out, and logged as left out: a recording stays readable line by line."""

_LOG = structlog.get_logger(__name__)


class Journal:
    """An append-only file of JSON lines, opened with the first of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._failing = False

    def write(self, line: dict[str, Any]) -> None:
        """Append a line; it survives the end of the process from then on.

        A file that cannot be written is logged, and nothing else: a full disk must not stop the checking.
        """
        data = orjson.dumps({"at": datetime.now(UTC), **line}, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
        if len(data) > MAX_LINE_BYTES:
            _LOG.warning("oracle_recording_line_left_out", file=str(self._path), type=line["type"], bytes=len(data))
            return
        try:
            if self._file is None:
                self._file = self._open()
            # Unbuffered: what is written here has left the process when this returns.
            self._file.write(data)
        except OSError as error:
            if not self._failing:
                _LOG.exception("oracle_recording_failed", file=str(self._path), reason=error.strerror)
            self._failing = True
        else:
            self._failing = False

    def close(self) -> None:
        """Close the file; a later `write` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> BinaryIO:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("ab", buffering=0)
        # A line that an earlier process did not finish must not swallow our first one.
        if file.tell() and not _ends_with_newline(self._path):
            file.write(b"\n")
        return file


class RecordingOracle:
    """Around any oracle: writes down how each question ended."""

    def __init__(self, inner: Oracle, journal: Journal) -> None:
        self._inner = inner
        self._journal = journal

    @property
    def name(self) -> str:
        """The recorded oracle's."""
        return self._inner.name

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The recorded oracle's answer; its errors pass through, and those for good are recorded as well."""
        try:
            answer = await self._inner.ask(question)
        except OracleFailed as failure:
            self._write("failure", question, {"cause": failure.cause, "detail": failure.detail})
            raise
        grades = answer.grades
        self._write(
            "answer",
            question,
            {
                "reply": answer.reply.model_dump(mode="json"),
                "grades": None if grades is None else [(one.support, one.reason, one.passage) for one in grades],
                "usage": answer.usage.model_dump(),
            },
        )
        return answer

    async def close(self) -> None:
        """Close the recorded oracle and the file."""
        await self._inner.close()
        self._journal.close()

    def _write(self, kind: str, question: Question[Any], ending: dict[str, Any]) -> None:
        self._journal.write(
            {
                "type": kind,
                "judge": self._inner.name,
                "task": question.task,
                "prompt_version": question.prompt_version,
                "digest": question_digest(question),
                **ending,
            }
        )


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
