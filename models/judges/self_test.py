"""Self-tests of a judge, run once: how often it is right, in which form, from where on; and who matches texts."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any, Generic

import structlog
from filelock import AsyncFileLock
from pydantic import TypeAdapter, ValidationError

from models.prompts import QUESTIONS
from models.protocol import SUPPORTED, Answer, ClaimKind, Claims, Grades, Judge, ModelFailed
from models.wording import split_sentences
from models.work import ItemT, Phase, ResultT, gather_or_cancel

TASK = "self_test"
GOOD_ENOUGH = 0.75  # share of right answers below which a judge is warned of, or refused
_MASTERED = 0.9  # share of right answers from which on the list form is chosen: it is cheaper, and asks more of a model
AT_ONCE = 8  # pairs under way

_LOG = structlog.get_logger(__name__)
Grade = Callable[[str, Sequence[Claims]], Awaitable[Answer[Grades]]]
Ask = Callable[[Claims, float | None], Awaitable[float | None]]
"""Log-odds that an answer is supported, above a threshold, or as they are; None without a usable answer."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer on invented passages, and whether they support it."""

    kind: str
    passages: str
    question: str | None
    answer: str
    supported: bool

    @property
    def claims(self) -> Claims:
        kind = ClaimKind.SUMMARY if self.question is None else ClaimKind.ANSWER
        sentences = tuple(one.text for one in split_sentences(self.answer))
        return Claims(self.passages, sentences, kind, self.question, text=self.answer)


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What a judge said of a pair."""

    kind: str
    supported: bool
    odds: float | None  # above the threshold that the other pairs give; None without a usable answer

    @property
    def right(self) -> float:
        """1, 0, or one half without an answer."""
        return 0.5 if self.odds is None else float((self.odds >= 0) is self.supported)


@dataclass(frozen=True, slots=True)
class FormResult:
    """The outcomes in one form."""

    form: str  # `own`: of a judge that is asked in no form
    threshold: float  # half-way between the mean log-odds of supported and of other answers, rounded to a quarter
    outcomes: tuple[PairOutcome, ...]
    seconds: float = 0.0

    @property
    def pace(self) -> float | None:
        """Pairs judged a second, each as a short record; None if it was not measured."""
        return len(self.outcomes) / self.seconds if self.seconds else None

    @property
    def accuracy(self) -> float:
        """The mean of the shares of supported and of other answers that are judged rightly."""
        return fmean(fmean(one.right for one in self.outcomes if one.supported is side) for side in (True, False))

    @property
    def auroc(self) -> float:
        """The probability that a supported answer has higher odds than another one."""
        good, bad = ([one.odds or 0.0 for one in self.outcomes if one.supported is side] for side in (True, False))
        return fmean(float(one > other) + 0.5 * (one == other) for one in good for other in bad)

    def by_kind(self) -> dict[str, tuple[float, int]]:
        """For each kind of pair the number judged rightly, and of how many."""
        right = [(one.kind, one.right) for one in self.outcomes]
        kinds = {kind: [each for other, each in right if other == kind] for kind, _ in right}
        return {kind: (sum(each), len(each)) for kind, each in kinds.items()}

    @property
    def failed(self) -> str:
        """The kinds of which no more than half are right."""
        return ", ".join(kind for kind, (right, count) in self.by_kind().items() if right <= count / 2)


def best_of(results: Sequence[FormResult]) -> FormResult:
    """The list form where it is mastered; else the one that is right most often."""
    mastered = [one for one in results if one.form == "list" and one.accuracy >= _MASTERED]
    return max(mastered or results, key=lambda one: one.accuracy)


@cache
def _rows(name: str) -> list[dict[str, Any]]:
    lines = resources.files("models.judges").joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def pairs(language: str | None = None) -> list[Pair]:
    """The built-in pairs; those in other languages only for that one, by its English name."""
    known = [Pair(**row) for row in _rows("self_test")]
    return [one for one in known if one.kind.removeprefix("language: ") in {one.kind, language}]


async def run(
    tested: Mapping[str, Ask], asked: Sequence[Pair], on_answer: Callable[[], None] = lambda: None
) -> list[FormResult]:
    """The outcomes in each form, by its name; `on_answer` is called after each pair.

    Further forms are skipped if the first one is right too seldom for the list form to be chosen.
    """
    results: list[FormResult] = []
    for form, ask in tested.items():
        if not results or results[0].accuracy >= _MASTERED:
            results.append(await _result(form, ask, asked, on_answer))
    return results


async def _result(form: str, ask: Ask, asked: Sequence[Pair], on_answer: Callable[[], None]) -> FormResult:
    begun, claims, threshold = time.monotonic(), [pair.claims for pair in asked], 0.0
    plain: list[float | None] = [None] * len(asked)
    if form in {"short", "list"}:
        plain = await in_turn(claims, lambda one: ask(one, None))
        threshold = _threshold(plain, asked)
    # Answers are cached: only what follows a sentence that is not supported is asked in addition.
    found = await in_turn(claims, lambda one: ask(one, threshold), on_answer)
    for place, first in enumerate(plain):
        if first is not None and found[place] == first - threshold:
            # A pair has no say in the threshold that it is measured by.
            found[place] = first - _threshold([*plain[:place], None, *plain[place + 1 :]], asked)
    outcomes = [PairOutcome(pair.kind, pair.supported, odds) for pair, odds in zip(asked, found, strict=True)]
    return FormResult(form, threshold, tuple(outcomes), round(time.monotonic() - begun, 2))


def without_form(judge: Judge) -> Ask:
    """Asks a judge that is asked in no form, and has its own threshold."""

    async def ask(claims: Claims, _threshold: float | None) -> float | None:
        try:
            (grades,) = (await judge.grade(TASK, [claims])).reply
        except ModelFailed:
            return None
        telling = (one.support for one in grades if not one.claims_nothing and not one.unsure)
        return min((support - SUPPORTED for support in telling), default=None)

    return ask


async def in_turn(
    asked: Sequence[ItemT], ask: Callable[[ItemT], Awaitable[ResultT]], on_answer: Callable[[], None] = lambda: None
) -> list[ResultT]:
    """The results, a few at a time: a small server answers all at once no sooner, and too late."""
    found: list[ResultT] = []
    for start in range(0, len(asked), AT_ONCE):
        for one in await gather_or_cancel(map(ask, asked[start : start + AT_ONCE])):
            found.append(one)
            on_answer()
    return found


def _threshold(odds: Sequence[float | None], asked: Sequence[Pair]) -> float:
    known = [(value, pair.supported) for value, pair in zip(odds, asked, strict=True) if value is not None]
    sides = [[value for value, supported in known if supported is side] for side in (True, False)]
    return round(4 * fmean(map(fmean, sides))) / 4 if all(sides) else 0.0


class KeptTest(Generic[ResultT]):
    """A test that is run once: its result is kept on file, by all that it depends on. Belongs to one event loop."""

    def __init__(self, depends_on: Sequence[object], form: type[ResultT]) -> None:
        """`depends_on` has a `repr` that is the same in every process; results are of the `form`."""
        self.depends_on, self.form = depends_on, form
        # Not `Path.home`, which raises for a user without a home, as containers have.
        folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "assay" / "self-tests"  # noqa: PTH111
        self.path = folder / f"{blake2b(repr(depends_on).encode(), digest_size=12).hexdigest()}.json"
        self._adapter = TypeAdapter(form)
        self._running: asyncio.Task[ResultT] | None = None

    def read(self) -> ResultT | None:
        """The result on file; None if there is no file, or none that can be read."""
        try:
            return self._adapter.validate_json(self.path.read_bytes()) if self.path.exists() else None
        except (OSError, ValidationError) as error:
            _LOG.warning("self_test_unreadable", file=str(self.path), reason=type(error).__name__)
        return None

    def write(self, result: ResultT) -> bool:
        """Replace the file; false if it cannot be written."""
        part = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(self._adapter.dump_json(result))
            part.replace(self.path)
        except OSError as error:
            _LOG.warning("self_test_not_kept", file=str(self.path), reason=error.strerror)
            return False
        return True

    async def result(self, run: Callable[[], Awaitable[tuple[ResultT, bool]]]) -> ResultT:
        """The result on file, or of `run`, which says, too, if it is to be kept; all callers wait for the same.

        What it costs is on nobody's bill, and takes of nobody's time. After a failure the next caller runs it again.
        """
        if self._running is None or (self._running.done() and (self._running.cancelled() or self._running.exception())):
            self._running = asyncio.get_running_loop().create_task(self._found(run), context=Context())
        with Phase("waits"):
            return await asyncio.shield(self._running)

    async def _found(self, run: Callable[[], Awaitable[tuple[ResultT, bool]]]) -> ResultT:
        async with AsyncExitStack() as stack:
            # One process of this machine at a time; where there can be no file, each for itself.
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                await stack.enter_async_context(AsyncFileLock(self.path.with_suffix(".lock")))
            # Another process may have run it meanwhile: with their own thresholds, their verdicts would differ.
            if (result := self.read()) is None:
                result, is_whole = await run()
                if is_whole:
                    self.write(result)
            return result


def kept_test(model: str, forms: Iterable[str]) -> KeptTest[list[FormResult]]:
    """The self-test of a model in some forms, by its prompts and the pairs."""
    return KeptTest((model, QUESTIONS.digest, _rows("self_test"), list(forms)), list[FormResult])


class Matcher:
    """Who matches texts: the chat model, or the bundled judge where that is right on more of the built-in pairs.

    A small model calls texts that differ in a word the same, or different whatever they say (MeTMaP's triplets); the
    bundled judge looks for just such differences. Large ones are better at it than the bundled judge.
    """

    def __init__(self, name: str, grade: Grade) -> None:
        """`name` is the model's, and `grade` asks it."""
        self._name, self._grade = name, grade
        self._test = KeptTest((name, QUESTIONS.digest, "matching", tuple(_matching_pairs())), tuple[float, float])

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """The grades of the better one; raises as `Judge.grade` does."""
        own, other = await self._test.result(self._run)
        if other <= own:
            return await self._grade(task, claims)
        from models.local.text import language_of  # it reads English

        if any(language_of(text) for one in claims for text in (one.reference, one.whole)):
            return await self._grade(task, claims)
        answer = await self._bundled.grade(task, claims)
        said = f"by {self._bundled.name}, right on {other:g} of {len(_matching_pairs())} built-in pairs; "
        said += f"{self._name} on {own:g}"
        grades = (tuple(replace(one, reason=f"{one.reason} ({said})") for one in each) for each in answer.reply)
        return replace(answer, reply=tuple(grades))

    async def close(self) -> None:
        if "_bundled" in vars(self):
            await self._bundled.close()

    @cached_property
    def _bundled(self) -> Judge:
        from models.local_grader import local_judge
        from models.settings import LocalSettings

        return local_judge(LocalSettings())

    async def _run(self) -> tuple[tuple[float, float], bool]:
        """On how many pairs the model and the bundled judge are right."""
        with suppress(ModelFailed):
            return (await _matched(self._grade), await _matched(self._bundled.grade)), True
        # An endpoint that fails on some says nothing of its model, which is then asked itself.
        return (0.0, 0.0), False


async def _matched(grade: Grade) -> float:
    """On how many pairs it is right; a match has to hold both ways."""

    async def is_right(pair: tuple[str, str, bool]) -> bool:
        first, second, same = pair
        both = [Claims(first, (second,), ClaimKind.MATCH), Claims(second, (first,), ClaimKind.MATCH)]
        return all(one.supported for (one,) in (await grade(TASK, both)).reply) is same

    return float(sum(await in_turn(_matching_pairs(), is_right)))


def _matching_pairs() -> list[tuple[str, str, bool]]:
    """Query, text, and whether they say the same."""
    return [(row["query"], row[side], side == "same") for row in _rows("matching") for side in ("same", "other")]
