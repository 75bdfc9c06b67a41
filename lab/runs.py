"""Runs over a file: items are worked on side by side, results come in order, and nothing is asked of a model twice.

The answers of models are on disk by the digest of what was asked, so that a run that was broken off goes on.
"""

import errno
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import click
import orjson
from pydantic import BaseModel, ValidationError

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from checkers.checker import Models
from checkers.form_test import method_results
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from lab.report import Report
from models.judges.prompted import PromptedJudge
from models.meter import request_digest
from models.protocol import Answer, Model, Question, ReplyT
from models.work import book, in_order
from schemas import Usage, digest

_WINDOW = 64

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT", bound=BaseModel)


class Run(ABC, Generic[ItemT, ResultT]):
    """The items of a file, and what becomes of each."""

    things: ClassVar[str]  # what the items are, in words
    plugin: ClassVar[CheckerPlugin]  # the method
    items: Sequence[ItemT]
    asked: Sequence[Model] = ()  # the subjects
    note = ""  # said before anything is asked

    @abstractmethod
    async def result(self, item: ItemT, patience: ModelPatience) -> ResultT:
        """The result of one item: a line of the output."""

    @abstractmethod
    def figures(self, results: Sequence[ResultT]) -> Report:
        """The figures over all results."""

    async def over(self, emit: Callable[[ResultT], None], patience: ModelPatience, window: int = _WINDOW) -> None:
        """Give `emit` the result of each item, in order, as soon as it and all before it are done."""
        await in_order(each(self.items), lambda item: self.result(item, patience), emit, window=window)

    async def close(self) -> None:
        """Release what the run itself holds open."""


Make = Callable[[Models], Run[Any, Any]]
"""Makes a run of judge and subjects."""


async def each(items: Iterable[ItemT]) -> AsyncIterator[ItemT]:
    """The items, for those who wait for them."""
    for item in items:
        yield item


async def figures_of(configured: Configuration, out: Path | None, make: Make) -> Report:
    """The figures of a run; with `out` a line a result goes there, and answers are kept in `OUT.answers` until then."""
    # More than the models take at once: while one item waits for its judge, another is at the subject.
    limits = [configured.judge.concurrency, *(one.concurrency for one in configured.subjects.values())]
    results: list[BaseModel] = []
    async with models_of(configured) as models:
        with _kept(out, models) as kept:
            run = make(kept)
            with progress(len(run.items)) as shown:
                if run.note:
                    shown.say(run.note)
                for subject in run.asked:
                    # Before anything is said of its trust.
                    for one in await method_results(subject, run.plugin.form_cases(run.plugin.name), ["subject"]):
                        if not one.is_followed:
                            shown.say(f"{subject.name} {one.verdict}, which says nothing of its trust: {one.answered}")

                def emit(result: BaseModel) -> None:
                    results.append(result)
                    shown.at(len(results), f"{len(results)} {run.things}")

                await run.over(emit, ModelPatience(shown.say), max(_WINDOW, 3 * max(limits) // 2))
            await run.close()
            if out is not None:
                part = out.with_name(f"{out.name}.part")
                part.write_bytes(b"".join(one.model_dump_json().encode() + b"\n" for one in results))
                part.replace(out)
    return run.figures(results)


def subject_name(configured: Configuration, name: str, option: str) -> str:
    """The name of a subject, or of the only one; raises CannotRun if there is none, or several and none was named."""
    names = list(configured.subjects)
    told = ", ".join(names) or "none"
    if name and name not in names:
        raise CannotRun(f"{option} {name}: no subject has this name (subjects.{name}); configured are: {told}")
    if not name and len(names) != 1:
        raise CannotRun(f"{option} is needed; the subjects configured are: {told}")
    return name or names[0]


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
def _kept(out: Path | None, models: Models) -> Iterator[Models]:
    """Judge and subjects whose answers are kept in `OUT.answers` until the context ends without an error.

    Without `out` nothing is kept. Raises as `KeptAnswers`.
    """
    if out is None:
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
            is_over = True
        finally:
            if is_over or not len(kept):
                kept.close()
                kept.path.unlink()
