"""The self-test of a judge: pairs on invented passages that say how often it is right, in which form, from where on.

Kept in a file by model and prompts, so that it is run once.
"""

import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeVar

import structlog
from filelock import AsyncFileLock
from pydantic import TypeAdapter, ValidationError

from models.billing import billed
from models.claims import SUPPORTED, ClaimKind, Claims
from models.concurrent import gather_or_cancel
from models.judges.forms import Form, FormName
from models.judges.questions import JudgeQuestions
from models.protocol import Judge, ModelFailed
from models.sentences import split_sentences
from schemas import Usage

TASK = "self_test"
GOOD_ENOUGH = 0.75
"""Share of right answers below which a judge is warned of, or refused."""
_MASTERED = 0.9
"""Share of right answers from which on the list form is chosen: it is cheaper, and asks more of a model."""
_LANGUAGE = "language: "
AT_ONCE = 8
"""Pairs under way: a small server answers more at once no sooner."""

_LOG = structlog.get_logger(__name__)
AskedT = TypeVar("AskedT")
FoundT = TypeVar("FoundT")


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
        """The answer's."""
        kind = ClaimKind.SUMMARY if self.question is None else ClaimKind.ANSWER
        sentences = tuple(one.text for one in split_sentences(self.answer))
        return Claims(self.passages, sentences, kind, self.question, text=self.answer)


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What a judge said of a pair."""

    kind: str
    supported: bool
    odds: float | None
    """Above the threshold that the other pairs give; None if it gave no usable answer."""

    @property
    def right(self) -> float:
        """1, 0, or one half without an answer."""
        return 0.5 if self.odds is None else float((self.odds >= 0) is self.supported)


@dataclass(frozen=True, slots=True)
class FormResult:
    """The outcomes in one form."""

    form: FormName | Literal["own"]
    """`own`: of a judge that is asked in no form."""
    threshold: float
    """Half-way between the mean log-odds of supported and of other answers, rounded to a quarter."""
    outcomes: tuple[PairOutcome, ...]
    seconds: float = 0.0
    """That all pairs took, a few at once."""

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
        kinds = dict.fromkeys(one.kind for one in self.outcomes)
        found = {kind: [one.right for one in self.outcomes if one.kind == kind] for kind in kinds}
        return {kind: (sum(right), len(right)) for kind, right in found.items()}

    @property
    def failed(self) -> str:
        """The kinds of which no more than half are right."""
        return ", ".join(kind for kind, (right, count) in self.by_kind().items() if right <= count / 2)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The results of a model with these prompts."""

    model: str
    results: tuple[FormResult, ...]
    usage: Usage
    """Of all of them; `seconds` is the time that it took."""

    @property
    def chosen(self) -> FormResult:
        """As `best_of` all results."""
        return best_of(self.results)


def best_of(results: Sequence[FormResult]) -> FormResult:
    """The list form where it is mastered; else the one that is right most often."""
    mastered = [one for one in results if one.form == "list" and one.accuracy >= _MASTERED]
    return max(mastered or results, key=lambda one: one.accuracy)


_FILE = TypeAdapter(SelfTest)


def pairs(language: str | None = None) -> list[Pair]:
    """The built-in pairs; those in other languages only for that one, by its English name."""
    known = _pairs()
    return [one for one in known if not one.kind.startswith(_LANGUAGE) or one.kind == f"{_LANGUAGE}{language}"]


@cache
def _pairs() -> tuple[Pair, ...]:
    text = resources.files("models.judges").joinpath("self_test.jsonl").read_text(encoding="utf-8")
    return tuple(Pair(**json.loads(line)) for line in text.splitlines())


def nobody() -> None:
    """Tell nobody that a pair was judged."""


async def run(
    judge: Judge, asked: Sequence[Pair], on_answer: Callable[[], None] = nobody, *, forms: Sequence[Form] = ()
) -> SelfTest:
    """Ask about every pair in each of the judge's `forms`, or as it does; `on_answer` is called after each.

    The list form is skipped if the first form is right too seldom for it to be chosen.

    Raises:
        ModelUnavailable: the model's endpoint is down.
    """
    begun, results = time.monotonic(), list[FormResult]()
    tested: Sequence[Form | Judge] = forms or [judge]
    with billed() as bill:
        for one in tested:
            if not results or results[0].accuracy >= _MASTERED:
                results.append(await _result(one, asked, on_answer))
    usage = bill.usage.model_copy(update={"seconds": round(time.monotonic() - begun, 1)})
    return SelfTest(judge.name, tuple(results), usage)


async def _result(judge: Form | Judge, asked: Sequence[Pair], on_answer: Callable[[], None]) -> FormResult:
    begun, claims, threshold = time.monotonic(), [pair.claims for pair in asked], 0.0
    plain: list[float | None] = [None] * len(asked)
    if isinstance(judge, Form) and judge.name != "paper":
        plain = await in_turn(claims, partial(_odds, judge, corrected=False))
        threshold = _threshold(plain, asked)
        judge = judge.at(threshold)
    # Answers are cached: only what follows a sentence that is not supported is asked in addition.
    found = await in_turn(claims, partial(_odds, judge), on_answer)
    for place, first in enumerate(plain):
        if first is not None and found[place] == first - threshold:
            # A pair has no say in the threshold that it is measured by.
            found[place] = first - _threshold(plain, asked, without=place)
    outcomes = [PairOutcome(pair.kind, pair.supported, odds) for pair, odds in zip(asked, found, strict=True)]
    form = judge.name if isinstance(judge, Form) else "own"
    return FormResult(form, threshold, tuple(outcomes), round(time.monotonic() - begun, 2))


async def _odds(judge: Form | Judge, claims: Claims, *, corrected: bool = True) -> float | None:
    """The least of the sentences that claim something; None if there is no usable answer."""
    try:
        if isinstance(judge, Form):
            supports = await judge.supports(TASK, claims)
            found = await judge.corrected(TASK, claims, supports) if corrected else supports
            return min((one.odds for one in found if not one.claims_nothing), default=None)
        (grades,) = (await judge.grade(TASK, [claims])).reply
    except ModelFailed:
        return None
    return min((one.support - SUPPORTED for one in grades if not one.claims_nothing and not one.unsure), default=None)


async def in_turn(
    asked: Sequence[AskedT], ask: Callable[[AskedT], Awaitable[FoundT]], on_answer: Callable[[], None] = nobody
) -> list[FoundT]:
    """The results, a few at a time: a small server answers all at once no sooner, and too late."""
    found: list[FoundT] = []
    for start in range(0, len(asked), AT_ONCE):
        for one in await gather_or_cancel(map(ask, asked[start : start + AT_ONCE])):
            found.append(one)
            on_answer()
    return found


def _threshold(odds: Sequence[float | None], asked: Sequence[Pair], without: int | None = None) -> float:
    """The threshold that all pairs give, or all but one."""
    known = [
        (value, pair.supported)
        for place, (value, pair) in enumerate(zip(odds, asked, strict=True))
        if value is not None and place != without
    ]
    sides = [[value for value, supported in known if supported is side] for side in (True, False)]
    return round(4 * fmean(map(fmean, sides))) / 4 if all(sides) else 0.0


def kept(model: str, questions: JudgeQuestions) -> SelfTest | None:
    """The result that is on file for this model and these prompts."""
    path = _path(model, questions)
    try:
        return _FILE.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _LOG.warning("self_test_unreadable", file=str(path), reason=type(error).__name__)
        return None


def keep(test: SelfTest, questions: JudgeQuestions) -> Path | None:
    """Write the results to their file, with those of other forms; returns it, or None if it cannot be written."""
    path, known = _path(test.model, questions), kept(test.model, questions)
    own = {one.form for one in test.results}
    others = [one for one in known.results if one.form not in own] if known else []
    part = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(_FILE.dump_json(replace(test, results=(*test.results, *others))))
        part.replace(path)
    except OSError as error:
        _LOG.warning("self_test_not_kept", file=str(path), reason=error.strerror)
        return None
    return path


@asynccontextmanager
async def alone(model: str, questions: JudgeQuestions) -> AsyncIterator[None]:
    """Only one process of this machine at a time; where there can be no file, each for itself."""
    path = _path(model, questions)
    async with AsyncExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            await stack.enter_async_context(AsyncFileLock(path.with_suffix(".lock")))
        yield


def _path(model: str, questions: JudgeQuestions) -> Path:
    shown = [(pair.passages, pair.question, pair.answer, pair.supported) for pair in _pairs()]
    version = blake2b(f"{questions.digest}{shown}".encode(), digest_size=6).hexdigest()
    # Not `Path.home`, which raises for a user without a home, as containers have.
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
    name = blake2b(f"{model}\n{version}".encode(), digest_size=12).hexdigest()
    return cache_home / "assay" / "self-tests" / f"{name}.json"
