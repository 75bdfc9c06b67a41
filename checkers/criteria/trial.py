"""A criterion before it goes live: what it says of its examples, and of answers made to break and to keep it."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from checkers.checker import Undecidable
from checkers.criteria.checker import CriterionChecker, other
from checkers.criteria.examples import LabelledAnswer, shown_of
from checkers.criteria.questions import CriterionQuestions, made
from checkers.intervals import wilson
from checkers.wording import plain
from models.billing import billed
from models.concurrent import gather_or_cancel
from models.judges.self_test import AT_ONCE, GOOD_ENOUGH
from models.protocol import ModelFailed
from models.wording import on_a_line
from schemas import CriterionEvidence, Usage

_SHOWN = 160
_LEAST = 1e-6
"""Scores are told to six places."""

Origin = Literal["examples", "made"]


@dataclass(frozen=True, slots=True)
class Tried:
    """A labelled answer, and what the checker says of it."""

    origin: Origin
    answer: LabelledAnswer
    outcome: Literal["accept", "reject", "abstain"]
    reason: str
    score: float | None = None
    """None if there is none."""
    quotes: bool = False
    """True if words at fault are quoted."""

    @property
    def right(self) -> float:
        """1, 0, or one half if it abstains."""
        return 0.5 if self.outcome == "abstain" else float((self.outcome == "accept") is self.answer.accept)

    def summary(self) -> dict[str, Any]:
        """The answer with its label and outcome, as JSON has them."""
        label, record = "accept" if self.answer.accept else "reject", self.answer.record
        about = {"origin": self.origin, "label": label, "outcome": self.outcome, "reason": self.reason}
        return {**about, "prompt": record.prompt, "response": record.response}


@dataclass(frozen=True, slots=True)
class CriterionTrial:
    """All that was tried of one criterion."""

    name: str
    judge: str
    rows: tuple[Tried, ...]
    usage: Usage

    @property
    def passed(self) -> bool:
        """True if it is right often enough on its examples to rely on it."""
        return (_figures(self._of("examples"))["accuracy"] or 0) >= GOOD_ENOUGH

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        wrong = [one.summary() for one in self.rows if one.right < 1]
        examples, others = self._of("examples"), self._of("made")
        figures = {"examples": _figures(examples), "made": _figures(others), "threshold": _threshold(examples)}
        return {"checker": self.name, "judge": self.judge, **figures, "wrong": wrong, "usage": self.usage.model_dump()}

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        found = self.summary()
        yield f"{self.name}, judged by {plain(self.judge)}"
        for origin, title in (("examples", "examples"), ("made", "answers made to break and to keep it")):
            one = found[origin]
            if one["accuracy"] is None:
                yield f"  {title}: not of both labels, so there is no accuracy"
                continue
            low, high = one["interval"]
            accuracy = f"balanced accuracy {one['accuracy']:.0%} ({low:.0%} to {high:.0%})"
            quotes = f"{one['undecided']} undecided; words quoted of {one['quoted']} of {one['rejected']} rejected"
            yield f"  {one['count']} {title}: {accuracy}; {quotes}"
        for row in found["wrong"]:
            said = f"“{on_a_line(row['prompt'] or '', _SHOWN)}” “{on_a_line(row['response'], _SHOWN)}”"
            yield plain(f"  {row['origin']}, {row['label']} is right, {row['outcome']} is what it says: {said}")
            if row["outcome"] == "abstain":
                yield plain(f"    {on_a_line(row['reason'], _SHOWN)}")
        usage = self.usage
        yield f"{usage.calls} calls, {usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written"
        if not self.passed:
            yield f"warning: not right on {GOOD_ENOUGH:.0%} of its examples: do not rely on it. Reword it, or add some."
        if (best := found["threshold"]) is not None:
            yield f"half-way between its accepted and its rejected examples (then right on {best['accuracy']:.0%}):"
            yield f"  [criteria.{self.name}.thresholds]"
            yield from (f"  {key} = {best['value']:g}" for key in ("accept_from", "reject_below"))
            yield f"  judge = {json.dumps(self.judge)}"

    def _of(self, origin: Origin) -> list[Tried]:
        return [one for one in self.rows if one.origin == origin]


async def tried(checker: CriterionChecker, on_answer: Callable[[], None]) -> CriterionTrial:
    """Check each example, which is never shown as one then, and made answers; `on_answer` is called after each.

    Raises:
        ModelUnavailable: the judge's endpoint is down.
    """
    rows: list[Tried] = []
    settings, writer, questions = checker.settings, checker.models.writer, CriterionQuestions()
    with billed() as bill:
        broken = await made(writer, questions.make(settings.ask, settings.reject_if), accept=False)
        kept = await made(writer, questions.make(settings.ask, other(settings.reject_if)), accept=True)
        answers: list[tuple[Origin, LabelledAnswer]] = [("examples", one) for one in checker.examples]
        answers += [("made", one) for one in (*broken, *kept)]
        for start in range(0, len(answers), AT_ONCE):
            rows += await gather_or_cancel(_row(checker, *one, on_answer) for one in answers[start : start + AT_ONCE])
    return CriterionTrial(checker.name, checker.judge.name, tuple(rows), bill.usage)


async def _row(checker: CriterionChecker, origin: Origin, one: LabelledAnswer, on_answer: Callable[[], None]) -> Tried:
    try:
        found = await checker.decide_after(shown_of(checker.examples, but=one), one.record)
    except (Undecidable, ModelFailed) as error:
        return Tried(origin, one, "abstain", error.detail, getattr(error, "score", None))
    finally:
        on_answer()
    quotes = isinstance(found.evidence, CriterionEvidence) and found.evidence.quote is not None
    return Tried(origin, one, "accept" if found.accepted else "reject", found.reason, found.score, quotes)


def _figures(rows: Sequence[Tried]) -> dict[str, Any]:
    """Accuracy is the mean of the shares judged rightly of either label; None without answers of both."""
    sides = [[one.right for one in rows if one.answer.accept is side] for side in (True, False)]
    accuracy = fmean(map(fmean, sides)) if all(sides) else None
    rejected = [one for one in rows if one.outcome == "reject"]
    return {
        "count": len(rows),
        "accuracy": accuracy,
        "interval": None if accuracy is None else wilson(accuracy * len(rows), len(rows)),
        "undecided": sum(one.outcome == "abstain" for one in rows),
        "rejected": len(rejected),
        "quoted": sum(one.quotes for one in rejected),
    }


def half_way(known: Sequence[tuple[float, bool]]) -> float | None:
    """Half-way between the mean log-odds of accepted and of rejected answers, as of a judge's self-test.

    None without answers of both labels.
    """
    sides = [[odds for odds, accept in known if accept is side] for side in (True, False)]
    return fmean(map(fmean, sides)) if all(sides) else None


def log_odds(score: float) -> float:
    """Log-odds of a score, within the six places to which scores are told."""
    bounded = min(max(score, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))


def _threshold(rows: Sequence[Tried]) -> dict[str, float] | None:
    """The score that is half-way, and its accuracy, where each example is taken by what the others give."""
    known = [(log_odds(one.score), one.answer.accept) for one in rows if one.score is not None]
    middle = half_way(known)
    if middle is None:
        return None
    right: dict[bool, list[float]] = {True: [], False: []}
    for place, (odds, accept) in enumerate(known):
        without = half_way([*known[:place], *known[place + 1 :]])
        right[accept].append(0.5 if without is None else float((odds >= without) is accept))
    return {"value": round(1 / (1 + math.exp(-middle)), 4), "accuracy": fmean(map(fmean, right.values()))}
