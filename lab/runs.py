"""Runs over a file: items are worked on side by side, results come in order, and nothing is asked of a model twice."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from assay.kept_answers import keeping
from checkers.checker import Models
from checkers.form_test import method_results
from checkers.model_patience import ModelPatience
from checkers.plugin import CheckerPlugin
from lab.report import Report
from models.protocol import Model
from models.work import in_order

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
        with keeping(out, models) as kept:
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
