"""AMC, the auto-metric converter: reads off a reason which way it decides (paper, section 3.2)."""

from collections.abc import Sequence
from dataclasses import replace

from checkers.consistency.covering import cover, parts_of, per_call
from checkers.consistency.evaluator import TOKENS_AN_ENTRY, Opinion, opinions_of
from checkers.consistency.questions import ConsistencyQuestions
from checkers.consistency.wording import may_disagree
from checkers.estimate import CHARACTERS_A_TOKEN, LONG, Load, asking, total
from models.concurrent import gather_or_cancel
from models.protocol import Oracle


class Converter:
    """Has reasons read by AMC: those whose wording may disagree with their boolean, or all, as the paper does."""

    def __init__(self, judge: Oracle, questions: ConsistencyQuestions, *, always: bool, reasons_per_call: int) -> None:
        self._judge = judge
        self._questions = questions
        self._always = always
        self._per_call = per_call(judge, reasons_per_call, tokens_each=TOKENS_AN_ENTRY)

    async def settled(self, opinions: Sequence[Opinion]) -> list[Opinion]:
        """`opinions` in order; of those that AMC read it has the last word, and tells their support.

        Raises:
            OracleFailed: the judge gave no usable answer.
            OracleUnavailable: its endpoint is down.
        """
        settled = dict(enumerate(opinions, start=1))
        asked = [number for number, opinion in settled.items() if self._is_asked(opinion)]

        async def ask(numbers: Sequence[int]) -> list[int]:
            answer = await self._judge.ask(
                self._questions.conversion({number: settled[number].reason for number in numbers})
            )
            found = {entry.number: read for entry, read in opinions_of(answer) if entry.number in numbers}
            for number, read in found.items():
                settled[number] = replace(
                    settled[number], consistent=read.consistent, support=read.support, told_by="asked"
                )
            return [number for number in numbers if number not in found]

        if asked:
            await gather_or_cancel(cover(part, ask) for part in parts_of(asked, self._per_call))
        return list(settled.values())

    def reading(self, reasons: int) -> Load:
        """What it costs to have so many long reasons read."""
        written = "x" * TOKENS_AN_ENTRY * CHARACTERS_A_TOKEN
        return total(
            asking(self._questions.conversion(dict.fromkeys(part, written)), len(part) * TOKENS_AN_ENTRY / LONG)
            for part in parts_of(range(1, reasons + 1), self._per_call)
        )

    def _is_asked(self, opinion: Opinion) -> bool:
        if opinion.told_by == "graded":
            return False
        return self._always or may_disagree(opinion.reason, consistent=opinion.consistent)
