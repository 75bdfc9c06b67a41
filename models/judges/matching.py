"""Who matches texts: the chat model, or the bundled judge where that is right on more of the built-in pairs.

A small model calls texts that differ in a word the same, or different whatever they say (MeTMaP's triplets); the
bundled judge looks for just such differences. Large ones are better at it than the bundled judge.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources

import structlog

from models.claims import ClaimKind, Claims, Grades
from models.judges.self_test import TASK, ResultFile, in_turn
from models.protocol import Answer, Judge, ModelFailed
from models.work import Phase

Grade = Callable[[str, Sequence[Claims]], Awaitable[Answer[Grades]]]

_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MatchingResult:
    """How many of the built-in pairs each is right on."""

    model: int
    bundled: int
    pairs: int


class Matcher:
    """Matches texts in place of a chat model that does it worse; belongs to one event loop."""

    def __init__(self, name: str, digest: str, grade: Grade) -> None:
        """`name` is the model's, `digest` its prompts', and `grade` asks it."""
        self._name, self._grade = name, grade
        self._file = ResultFile((name, digest, _pairs()), MatchingResult)
        self._bundled: Judge | None = None
        self._testing: asyncio.Task[MatchingResult] | None = None
        self._known: MatchingResult | None = None

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The grades of the better one; raises as `Judge.grade` does."""
        if self._testing is None or (self._testing.done() and self._known is None):
            # What it costs is on nobody's bill, and takes of nobody's time.
            self._testing = asyncio.get_running_loop().create_task(self._result(), context=Context())
        with Phase("waits"):
            result = self._known = await asyncio.shield(self._testing)
        if result.bundled <= result.model or not all(map(_is_english, claims)):
            return await self._grade(task, claims)
        bundled = self._bundled_judge()
        answer = await bundled.grade(task, claims)
        better = f"{result.bundled} of {result.pairs} built-in pairs, {self._name} on {result.model}"
        said = f"matched by {bundled.name}, which is right on {better}"
        grades = (tuple(replace(one, reason=f"{one.reason} ({said})") for one in each) for each in answer.reply)
        return replace(answer, reply=tuple(grades))

    async def close(self) -> None:
        """Close the bundled judge."""
        if self._bundled is not None:
            await self._bundled.close()

    async def _result(self) -> MatchingResult:
        if not (known := kept(self._file)):
            told, bundled = [await _right(grade) for grade in (self._grade, self._bundled_judge().grade)]
            if None in told:
                # An endpoint that fails on some says nothing of its model, which is then asked itself.
                return MatchingResult(len(told), 0, len(told))
            known = [MatchingResult(told.count(True), bundled.count(True), len(told))]
            self._file.write(known)
            _LOG.info("matching_test", model_name=self._name, **asdict(known[0]))
        return known[0]

    def _bundled_judge(self) -> Judge:
        if self._bundled is None:
            from models.local_judges import local_judge
            from models.local_settings import LocalSettings

            self._bundled = local_judge(LocalSettings())
        return self._bundled


def kept(file: ResultFile[MatchingResult]) -> list[MatchingResult]:
    """The result on file, if there is one."""
    return file.read()


def _is_english(claims: Claims) -> bool:
    """True if the bundled judge can read them."""
    from models.local.text import language_of

    return not any(map(language_of, (claims.reference, claims.whole)))


async def _right(grade: Grade) -> list[bool | None]:
    """Whether each pair is told rightly; None where there is no answer."""

    async def is_right(pair: tuple[str, str, bool]) -> bool | None:
        first, second, same = pair
        both = [Claims(first, (second,), ClaimKind.MATCH), Claims(second, (first,), ClaimKind.MATCH)]
        try:
            grades = (await grade(TASK, both)).reply
        except ModelFailed:
            return None
        return all(one.supported for (one,) in grades) is same

    return await in_turn(_pairs(), is_right)


@cache
def _pairs() -> tuple[tuple[str, str, bool], ...]:
    """Query, text, and whether they say the same."""
    lines = resources.files("models.judges").joinpath("matching.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple((row["query"], row[side], side == "same") for row in rows for side in ("same", "other"))
