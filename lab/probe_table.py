"""The result of each probe, as a line of the output, and table 3 of LINT over all of them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, product
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from checkers.intervals import difference, wilson
from checkers.longtail.corpus import DISTRIBUTIONS, Distribution
from checkers.longtail.questions import Way
from checkers.longtail.templates import PAIR, POLARITIES, TEMPLATES, Polarity
from lab.report import listing, table, table_of
from schemas import Usage
from schemas.evidence import SubjectCause

ALL: Final = "all"

Sign: TypeAlias = Polarity | Literal["all", "paired"]

PAIRED: Final = "paired"
"""The statements whose conclusion is affirmed with a higher probability than its negation, whatever is said oftener."""
_SHOWN = re.compile(r"\{(?:Premise|About)\}\. ")
"""What is left of a template behind it tells what it asks."""
_SIGNS: tuple[Sign, ...] = (*POLARITIES, ALL, PAIRED)


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
    no_answer: bool = False
    """True for “I don't know” and the like."""
    yes: float | None = None
    """The probability of a yes, asked for as a word alone; of templates 1 and 8. Else 1 or 0 by the word."""
    cause: SubjectCause | None = None
    """Why there is none."""
    usage: Usage = Usage()


class Cell:
    """Answers to probes of one kind."""

    def __init__(self, results: Sequence[ProbeResult] = ()) -> None:
        self.asked = [(one.statement, one.right is None) for one in results]
        """The statement of each answer, and if it could not be read."""
        self.read = [(one.statement, one.right) for one in results if one.right is not None]
        """The statement of each answer that could be read, and if it was right."""

    def summary(self) -> dict[str, Any]:
        """All figures."""
        return {
            "statements": len({statement for statement, _ in self.read}),
            "answered": len(self.read),
            "right": sum(right for _, right in self.read),
            "abstained": len(self.asked) - len(self.read),
            "unread": share(self.asked),
            "accuracy": share(self.read),
            "interval": list(wilson(*effective(self.read))) if self.read else None,
        }


def share(answers: Sequence[tuple[str, bool]]) -> float | None:
    """The share that is true; None if there are none."""
    return sum(one for _, one in answers) / len(answers) if answers else None


def effective(answers: Sequence[tuple[str, bool]]) -> tuple[float, float]:
    """How many are true, and how many there are: as many as of independent answers would tell as much.

    The probes of one statement are answered alike, so their number overstates what is known (Rao and Scott 1992): it is
    divided by the design effect, by which answers that go together by statement vary more than others. Between the
    number of statements and that of answers; where all answers are equal, the former.
    """
    if not answers:
        return 0.0, 0.0
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for statement, one in answers:
        counts[statement].append(one)
    n, groups, rate = len(answers), len(counts), share(answers) or 0.0
    if groups < 2 or rate in {0.0, 1.0}:
        return rate * groups, float(groups)
    spread = sum((sum(some) - rate * len(some)) ** 2 for some in counts.values())
    effect = groups / (groups - 1) * spread / (n * rate * (1 - rate))
    number = min(float(n), max(float(groups), n / effect if effect else float(n)))
    return rate * number, number


class Asked(NamedTuple):
    """A subject, asked in one way."""

    model: str
    way: Way


class ProbeTable:
    """Accuracy by domain, distribution and polarity for each subject and way, and the gaps between head and tail."""

    def __init__(self, asked: Sequence[Asked], results: Sequence[ProbeResult]) -> None:
        """`results` may be filled later; figures are of what is there when they are asked for."""
        self._asked = asked
        self._results = results

    def cell(self, asked: Asked, domain: str, distribution: Distribution, sign: Sign) -> Cell:
        """The answers of one cell; empty if there are none. If `sign` is `paired`, one a statement."""
        found = [
            one
            for one in self._of(asked)
            if one.distribution == distribution and domain in (one.domain, ALL) and sign in (one.polarity, ALL, PAIRED)
        ]
        return Cell(list(_paired(found)) if sign == PAIRED else found)

    def _of(self, asked: Asked) -> list[ProbeResult]:
        return [one for one in self._results if (one.model, one.way) == asked]

    def templates(self, asked: Asked) -> list[dict[str, Any]]:
        """For each template the answers to it: how many, how many are right, say that they do not know, are unread."""
        found = ((number, [one for one in self._of(asked) if one.template == number]) for number in TEMPLATES)
        return [
            {
                "template": number,
                "asks": _SHOWN.split(TEMPLATES[number].text)[-1],
                "about": TEMPLATES[number].about,
                "probes": len(some),
                "right": sum(one.right is True for one in some),
                "wrong": sum(one.right is False and not one.no_answer for one in some),
                "no_answer": sum(one.no_answer for one in some),
                "unread": sum(one.right is None for one in some),
            }
            for number, some in found
            if some
        ]

    def gap(self, asked: Asked, domain: str, sign: Sign) -> dict[str, Any]:
        """Accuracy on the head less accuracy on the tail, with its 95% interval; None if either is not known.

        `unread_differs` is true if head and tail differ in unread answers beyond chance: the gap is then one of the
        others alone.
        """
        head, tail = (self.cell(asked, domain, distribution, sign) for distribution in DISTRIBUTIONS)
        low, high = difference(effective(head.asked), effective(tail.asked))
        found: dict[str, Any] = {"gap": None, "interval": None, "unread_differs": low > 0 or high < 0}
        known = share(head.read), share(tail.read)
        if known[0] is not None and known[1] is not None:
            interval = difference(effective(head.read), effective(tail.read))
            found |= {"gap": known[0] - known[1], "interval": interval}
        return found

    @property
    def domains(self) -> list[str]:
        """In the order in which they came; then `all`."""
        return [*dict.fromkeys(one.domain for one in self._results), ALL]

    def summary(self) -> dict[str, Any]:
        """All figures; shares are 0 to 1, null if nothing was answered."""
        return {
            "probes": len(self._results),
            "abstained": dict(sorted(Counter(one.cause for one in self._results if one.cause is not None).items())),
            "runs": [
                {
                    **asked._asdict(),
                    "cells": [
                        {"domain": domain, "distribution": distribution, "polarity": sign}
                        | self.cell(asked, domain, distribution, sign).summary()
                        for domain, distribution, sign in product(self.domains, DISTRIBUTIONS, _SIGNS)
                    ],
                    "gaps": [
                        {"domain": domain, "polarity": sign} | self.gap(asked, domain, sign)
                        for domain, sign in product(self.domains, _SIGNS)
                    ],
                    "templates": self.templates(asked),
                }
                for asked in self._asked
            ],
            "usage": sum((one.usage for one in self._results), Usage()).model_dump(),
        }

    def lines(self) -> Iterator[str]:
        """Table 3 for a person, with the gaps."""
        summary = self.summary()
        yield f"{len(self._results)} probes"
        for cause, number in summary["abstained"].items():
            yield f"  without an answer {number:>8}   {cause}"
        for asked in self._asked:
            yield f"{asked.model}, {asked.way}: right answers in percent, and the gap between head and tail in points"
            rows = [self._row(asked, domain, sign) for domain, sign in product(self.domains, _SIGNS)]
            yield from table(["domain", "", *DISTRIBUTIONS, "gap", "95% interval", "unread: head", "tail", ""], rows)
            if any(row[-1] for row in rows):
                yield "* Head and tail differ in answers that cannot be read: this is no gap in what is known."
            yield "paired: of a statement's conclusion and negation, the former is affirmed with the higher probability"
            yield f"{asked.model}, {asked.way}: answers by template"
            yield from table_of(self.templates(asked))
        yield from listing({"usage": summary["usage"]})

    def _row(self, asked: Asked, domain: str, sign: Sign) -> list[str]:
        cells, found = [self.cell(asked, domain, one, sign) for one in DISTRIBUTIONS], self.gap(asked, domain, sign)
        low, high = found["interval"] or (0, 0)
        known = found["gap"] is not None
        told = [f"{100 * found['gap']:+.1f}", f"{100 * low:+.1f} to {100 * high:+.1f}"] if known else ["-", "-"]
        right, unread = [_percent(share(one.read)) for one in cells], [_percent(share(one.asked)) for one in cells]
        return [domain, sign, *right, *told, *unread, "*" if found["unread_differs"] else ""]


def _paired(results: Sequence[ProbeResult]) -> Iterator[ProbeResult]:
    """The result of each pair: right if the conclusion is affirmed with the higher probability."""
    first, second = ({one.statement: one for one in results if one.template == number} for number in PAIR)
    for statement in first.keys() & second.keys():
        of, against = first[statement].yes, second[statement].yes
        yield first[statement].model_copy(update={"right": None if of is None or against is None else of > against})


def points(answers: int) -> int:
    """Half the width of the gap's interval, in points, if so many independent answers of each side are half right."""
    low, high = difference((answers / 2, answers), (answers / 2, answers))
    return math.ceil(50 * (high - low))


def needed(reach: int) -> int:
    """Independent answers of each side from which the interval is no wider than so many points to either side."""
    return next(answers for answers in count(1) if points(answers) <= reach)


def _percent(known: float | None) -> str:
    return "-" if known is None else f"{100 * known:.1f}"
