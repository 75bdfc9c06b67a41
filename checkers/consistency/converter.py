"""AMC, the auto-metric converter: reads off a reason which way it decides (paper, section 3.2)."""

from collections.abc import Sequence
from dataclasses import replace

from checkers.consistency.calls import CallSize, cover, parts_of, per_call
from checkers.consistency.entries import TOKENS_AN_ENTRY, ConsistencyQuestions
from checkers.consistency.evaluator import AT_ONCE, Evaluation, Opinion, opinions_of
from models.concurrent import gather_or_cancel
from models.protocol import Model


class Converter:
    """Has every reason read by the judge once more, as the paper does."""

    def __init__(self, judge: Model, questions: ConsistencyQuestions) -> None:
        self._judge = judge
        self._questions = questions
        self._size = CallSize(per_call(judge, AT_ONCE, tokens_each=TOKENS_AN_ENTRY))

    async def converted(self, evaluation: Evaluation) -> Evaluation:
        """Put what the reasons say in the place of the booleans beside them, with their supports.

        Raises:
            ModelFailed: the judge gave no usable answer.
            ModelUnavailable: its endpoint is down.
        """
        every = [*(evaluation.opinions[number] for number in sorted(evaluation.opinions)), evaluation.whole]
        told = dict(enumerate((one for each in every for one in each if one.consistent is not None), start=1))
        read: dict[int, Opinion] = {}

        async def ask(numbers: Sequence[int]) -> list[int]:
            reasons = {number: told[number].reason for number in numbers}
            for entry, opinion in opinions_of(await self._judge.ask(self._questions.conversion(reasons))):
                if entry.number in reasons and opinion.consistent is not None:
                    own = told[entry.number]
                    read[entry.number] = replace(
                        own,
                        consistent=opinion.consistent,
                        support=opinion.support,
                        told_by="asked",
                        overruled=own.consistent != opinion.consistent,
                    )
            return [number for number in numbers if number not in read]

        await gather_or_cancel(cover(part, ask, self._size) for part in parts_of(list(told), self._size.at_most))
        numbers = iter(told)
        for each in every:
            each[:] = [one if one.consistent is None else read[next(numbers)] for one in each]
        return evaluation
