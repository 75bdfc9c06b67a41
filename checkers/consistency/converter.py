"""AMC, the auto-metric converter: a mark for every reason (paper, section 3.2)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from checkers.consistency.questions import ConsistencyQuestions
from checkers.oracle.protocol import Oracle

_OPENING = re.compile(
    r"\s*this (?:sentence|summary|answer|attempt) is (?P<not>not )?consistent with the "
    r"(?:article|passages|true answer|reference)\b",
    re.IGNORECASE,
)
# "…is consistent with the article, but the year is not": behind such words an opening says half of it only.
_TURN = re.compile(
    r"\b(?:but|however|although|though|except|apart|unless|yet|while|whereas|not|no|never|cannot|wrong\w*|incorrect\w*|"
    r"inconsistent\w*|contradict\w*|missing|unsupported|only|partly|partially|mostly|otherwise)\b|n[’']t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """1 where a reason says that its sentence is consistent, -1 where not."""

    value: Literal[-1, 1]
    converted: Literal["opening", "asked"]


def mark_of_opening(reason: str) -> Literal[-1, 1] | None:
    """The mark that a reason's fixed opening words state beyond doubt; None where they do not."""
    opening = _OPENING.match(reason)
    if opening is None:
        return None
    if opening["not"]:
        return -1
    return None if _TURN.search(reason, opening.end()) else 1


class Converter:
    """Turns reasons into marks, asking only about those whose opening words leave a doubt."""

    def __init__(self, judge: Oracle, questions: ConsistencyQuestions, *, always_ask: bool) -> None:
        self._judge = judge
        self._questions = questions
        self._always_ask = always_ask

    async def marks(self, reasons: Sequence[str]) -> list[Mark]:
        """A mark a reason, in order.

        Raises:
            OracleFailed: the judge gave no usable answer.
            OracleUnavailable: its endpoint is down.
        """
        read = [None if self._always_ask else mark_of_opening(reason) for reason in reasons]
        open_ones = [reason for reason, mark in zip(reasons, read, strict=True) if mark is None]
        asked: Iterator[Literal[-1, 1]] = iter(())
        if open_ones:
            answer = await self._judge.ask(self._questions.conversion(open_ones))
            asked = iter(answer.reply.answer)
        return [Mark(next(asked), "asked") if mark is None else Mark(mark, "opening") for mark in read]
