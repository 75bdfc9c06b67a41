"""The result of each probe, as a line of the output, and table 3 of LINT over all of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from checkers.intervals import difference, wilson
from checkers.longtail.corpus import DISTRIBUTIONS, Distribution
from checkers.longtail.settings import Way
from checkers.longtail.templates import POLARITIES, Polarity
from lab.kept_answers import usage_lines
from schemas import Usage
from schemas.evidence import SubjectCause

ALL: Final = "all"

Sign: TypeAlias = Polarity | Literal["all"]

_SIGNS: tuple[Sign, ...] = (*POLARITIES, ALL)


class ProbeResult(BaseModel):
    """The result of one probe: a line of the output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    """Its place in the run, from 1."""
    model: str
    """Name of the subject."""
    way: Way
    statement: str
    """Id of the statement."""
    domain: str
    distribution: Distribution
    template: int
    polarity: Polarity
    question: str
    expected: str
    answer: str
    """Empty if there is none."""
    reasoning: str | None = None
    right: bool | None = None
    """Null if the subject gave no answer that can be read; “I don't know” is not right."""
    cause: SubjectCause | None = None
    """Why there is none."""
    usage: Usage = Usage()


Counts: TypeAlias = dict[str, tuple[int, int]]
"""By statement: how many of its answers are of some kind, and how many there are."""


@dataclass(slots=True)
class Cell:
    """Answers to probes of one kind."""

    statements: Counts = field(default_factory=dict)
    """Right answers, of those that could be read."""
    asked: Counts = field(default_factory=dict)
    """Answers that could not be read, of all."""

    def add(self, result: ProbeResult) -> None:
        unread, asked = self.asked.get(result.statement, (0, 0))
        self.asked[result.statement] = (unread + (result.right is None), asked + 1)
        if result.right is not None:
            right, answered = self.statements.get(result.statement, (0, 0))
            self.statements[result.statement] = (right + result.right, answered + 1)

    @property
    def abstained(self) -> int:
        return sum(unread for unread, _ in self.asked.values())

    @property
    def unread(self) -> float | None:
        """Share of answers that could not be read; None if nothing was asked."""
        asked = sum(asked for _, asked in self.asked.values())
        return self.abstained / asked if asked else None

    @property
    def right(self) -> int:
        return sum(right for right, _ in self.statements.values())

    @property
    def answered(self) -> int:
        return sum(answered for _, answered in self.statements.values())

    @property
    def accuracy(self) -> float | None:
        """Share of right answers among those that could be read; None if there are none."""
        return self.right / self.answered if self.answered else None

    @property
    def effective(self) -> tuple[float, float]:
        """Right answers and answers, as many as independent ones would tell as much."""
        return _effective(self.statements)

    def summary(self) -> dict[str, Any]:
        """All figures."""
        return {
            "statements": len(self.statements),
            "answered": self.answered,
            "right": self.right,
            "abstained": self.abstained,
            "unread": self.unread,
            "accuracy": self.accuracy,
            "interval": list(wilson(*self.effective)) if self.answered else None,
        }


def _effective(counts: Counts) -> tuple[float, float]:
    """Sums of both numbers, as many as of independent answers would tell as much.

    The probes of one statement are answered alike, so their number overstates what is known (Rao and Scott 1992): it is
    divided by the design effect, by which answers that go together by statement vary more than others. Between the
    number of statements and that of answers; where all answers are equal, the former.
    """
    n, count = sum(number for _, number in counts.values()), len(counts)
    if not n:
        return 0.0, 0.0
    rate = sum(some for some, _ in counts.values()) / n
    if count < 2 or rate in {0.0, 1.0}:
        return rate * count, float(count)
    spread = sum((some - rate * number) ** 2 for some, number in counts.values())
    effect = count / (count - 1) * spread / (n * rate * (1 - rate))
    effective = min(float(n), max(float(count), n / effect if effect else float(n)))
    return rate * effective, effective


class Run(BaseModel):
    """A subject, asked in one way."""

    model_config = ConfigDict(frozen=True)

    model: str
    way: Way

    def __str__(self) -> str:
        return f"{self.model}, {self.way}"


_Place: TypeAlias = tuple[Run, str, Distribution, Sign]


class ProbeTable:
    """Accuracy by domain, distribution and polarity for each run, and the gaps between head and tail."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._cells: defaultdict[_Place, Cell] = defaultdict(Cell)
        self._domains: dict[str, None] = {}
        self._causes: Counter[str] = Counter()
        self._usage = Usage()
        self.probes = self.right = 0

    def add(self, result: ProbeResult) -> None:
        """Count a result."""
        self.probes += 1
        self.right += bool(result.right)
        self._usage += result.usage
        if result.cause is not None:
            self._causes[result.cause] += 1
        self._domains[result.domain] = None
        run = Run(model=result.model, way=result.way)
        signs: tuple[Sign, Sign] = (result.polarity, ALL)
        for domain, sign in product((result.domain, ALL), signs):
            self._cells[run, domain, result.distribution, sign].add(result)

    def cell(self, run: Run, domain: str, distribution: Distribution, sign: Sign) -> Cell:
        """The answers of one cell; empty if there are none."""
        return self._cells.get((run, domain, distribution, sign), Cell())

    def gap(self, run: Run, domain: str, sign: Sign) -> tuple[float, float, float] | None:
        """Accuracy on the head less accuracy on the tail, with its 95% interval; None if either is not known."""
        head, tail = (self.cell(run, domain, distribution, sign) for distribution in DISTRIBUTIONS)
        if head.accuracy is None or tail.accuracy is None:
            return None
        return head.accuracy - tail.accuracy, *difference(head.effective, tail.effective)

    def is_skewed(self, run: Run, domain: str, sign: Sign) -> bool:
        """True if head and tail differ in unread answers beyond chance: the gap is one of the others alone."""
        head, tail = (_effective(self.cell(run, domain, one, sign).asked) for one in DISTRIBUTIONS)
        low, high = difference(head, tail)
        return low > 0 or high < 0

    @property
    def domains(self) -> list[str]:
        """In the order in which they came; then `all`."""
        return [*self._domains, ALL]

    def summary(self) -> dict[str, Any]:
        """All figures; shares are 0 to 1, null if nothing was answered."""
        return {
            "probes": self.probes,
            "abstained": dict(sorted(self._causes.items())),
            "runs": [
                {
                    **run.model_dump(),
                    "cells": [
                        {"domain": domain, "distribution": distribution, "polarity": sign}
                        | self.cell(run, domain, distribution, sign).summary()
                        for domain, distribution, sign in product(self.domains, DISTRIBUTIONS, _SIGNS)
                    ],
                    "gaps": [
                        {"domain": domain, "polarity": sign, "gap": found and found[0], "interval": found and found[1:]}
                        | {"unread_differs": self.is_skewed(run, domain, sign)}
                        for domain, sign in product(self.domains, _SIGNS)
                        for found in [self.gap(run, domain, sign)]
                    ],
                }
                for run in self._runs
            ],
            "usage": self._usage.model_dump(),
        }

    def lines(self) -> Iterator[str]:
        """Table 3 for a person, and below it the gaps."""
        yield f"{self.probes} probes"
        for cause, count in sorted(self._causes.items()):
            yield f"  without an answer {count:>8}   {cause}"
        for run in self._runs:
            yield ""
            yield f"{run}: right answers in percent, and the gap between head and tail in points"
            yield f"{'':<44}{'right':^14}{'':<29}{'unread':^14}"
            yield f"{'domain':<34}{'':<10}{'head':>7}{'tail':>7}{'gap':>8}   {'95% interval':<18}{'head':>7}{'tail':>7}"
            skewed = False
            for domain, sign in product(self.domains, _SIGNS):
                cells = [self.cell(run, domain, one, sign) for one in DISTRIBUTIONS]
                right, unread = _percent(one.accuracy for one in cells), _percent(one.unread for one in cells)
                gap = self.gap(run, domain, sign)
                points, low, high = (100 * one for one in gap or (0, 0, 0))
                told = f"{points:>+8.1f}   {f'{low:+.1f} to {high:+.1f}':<18}" if gap else " " * 29
                mark = " *" if self.is_skewed(run, domain, sign) else ""
                skewed |= bool(mark)
                yield f"{domain:<34.33}{sign:<10}{right}{told}{unread}{mark}"
            if skewed:
                yield "* Head and tail differ in answers that cannot be read: this is no gap in what is known."
        yield from ("", *usage_lines(self._usage))


def _percent(shares: Iterable[float | None]) -> str:
    return "".join(f"{'-' if share is None else f'{100 * share:.1f}':>7}" for share in shares)
