"""Models' answers on disk by the digest of what was asked: a run over a file that was broken off asks nothing twice."""

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import orjson
from pydantic import ValidationError

from assay.cli.common import CannotRun
from checkers.checker import Models
from models.judges.prompted import PromptedJudge
from models.meter import request_digest
from models.protocol import Answer, Model, Question, ReplyT
from models.work import book
from schemas import Usage, digest


class KeptAnswers:
    """A table of answers, JSON by key; each is there as a whole or not at all, however the process ends."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it; raises CannotRun if it holds something else, or another run has it open."""
        self.path = path
        try:
            self._database = sqlite3.connect(path, timeout=0, isolation_level=None)
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "locking_mode = EXCLUSIVE"):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB NOT NULL)")
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            hint = "; is another run at work there?" if "locked" in str(error) else ""
            raise CannotRun(f"{path}: {error}{hint}") from None

    def close(self) -> None:
        self._database.close()

    def __len__(self) -> int:
        return int(self._rows("SELECT COUNT(*) FROM answers")[0][0])

    def find(self, key: str) -> Any:
        """The answer with this key; None if there is none."""
        rows = self._rows("SELECT answer FROM answers WHERE key = ?", key)
        return orjson.loads(rows[0][0]) if rows else None

    def add(self, key: str, answer: Any) -> None:
        """Keep an answer, unless there is one."""
        self._rows("INSERT OR IGNORE INTO answers VALUES (?, ?)", key, orjson.dumps(answer))

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            # A full disk and the like, as what they are.
            raise OSError(errno.EIO, str(error), str(self.path)) from None


class KeptModel:
    """A model whose answers are kept, and are not asked for where they are; failures are asked about again."""

    def __init__(self, model: Model, kept: KeptAnswers, role: str) -> None:
        """`role` tells models of one name apart, which may be configured differently."""
        self.name, self.temperature = model.name, getattr(model, "temperature", None)
        self.usage = Usage()
        """Cost of the answers that were used, those of earlier processes included."""
        self._model = model
        self._kept = kept
        self._role = role
        self._told: set[str] = set()  # keys of answers whose cost has been told

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """The answer, asked for once for all processes; raises as `Model.ask` does."""
        key = digest([self._role, self.name, request_digest(question)])
        answer = self._recalled(key, question.reply)
        if answer is None:
            answer = await self._model.ask(question)
            usage, reply = answer.usage.model_dump(), answer.reply.model_dump(mode="json")
            self._kept.add(key, [reply, usage, answer.probabilities])
        else:
            book(answer.usage)
        self._told.add(key)
        self.usage += answer.usage
        return answer

    def _recalled(self, key: str, form: type[ReplyT]) -> Answer[ReplyT] | None:
        match self._kept.find(key):
            case [reply, usage, probabilities, *_]:
                try:
                    found = form.model_validate_json(orjson.dumps(reply))
                except ValidationError:
                    return None
                cost = Usage(cached=1) if key in self._told else Usage(**usage)
                return Answer(found, cost, probabilities and tuple(probabilities))
        return None

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


@contextmanager
def keeping(out: Path | None, models: Models, is_complete: Callable[[], bool] = lambda: True) -> Iterator[Models]:
    """Judge and subjects whose answers are kept in `OUT.answers` until the context ends without an error and complete.

    Nothing is kept without `out`, or where that is no regular file. Raises as `KeptAnswers`.
    """
    if out is None or (out.exists() and not out.is_file()):
        yield models
        return
    with closing(KeptAnswers(out.with_name(f"{out.name}.answers"))) as kept:
        if count := len(kept):
            click.echo(f"going on with {count} answers that are there", err=True)
        judge, writer = models.judge, models.writer
        if isinstance(judge, PromptedJudge):
            writer = KeptModel(judge.model, kept, "judge")
            judge = judge.through(writer)
        subjects = {name: KeptModel(one, kept, f"subjects.{name}") for name, one in models.subjects.items()}
        is_over = False
        try:
            yield replace(models, judge=judge, writer=writer, subjects=subjects)
            is_over = is_complete()
        finally:
            if is_over or not len(kept):
                kept.close()
                kept.path.unlink()
