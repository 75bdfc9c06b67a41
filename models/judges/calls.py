"""Asking about numbered things in calls of a bounded size, until an answer covers each of them."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise

from models.concurrent import gather_or_cancel
from models.protocol import ModelFailed

AskAbout = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Asks one question about the numbers, keeps what can be used of its answer, and returns the numbers that it lacks."""

_TOO_MUCH_AT_ONCE = frozenset({"judge_slow", "judge_cut_off"})


def parts_of(numbers: Sequence[int], at_most: int) -> list[Sequence[int]]:
    """`numbers` in order, in as few parts of `at_most` as there must be, all of about the same size."""
    count = -(-len(numbers) // at_most)
    bounds = [len(numbers) * part // max(count, 1) for part in range(count + 1)]
    return [numbers[start:end] for start, end in pairwise(bounds)]


class CallSize:
    """The number of things asked about in one call; it stays smaller once a model was too slow for as many."""

    def __init__(self, at_most: int) -> None:
        self.at_most = at_most

    def too_slow(self, asked: int) -> None:
        """So many at once had no answer in time."""
        self.at_most = max(1, min(self.at_most, asked // 2))


async def cover(numbers: Sequence[int], ask: AskAbout, size: CallSize | None = None) -> None:
    """Ask about `numbers` (at least one) in one question, then about those that its answer lacks, until none is left.

    Where there was no answer in time, or not one entry before the token limit, the numbers are asked about in two
    halves side by side; `size` is told of the former.

    Raises:
        ModelFailed: the model gave no usable answer, or none about a number that it was asked about alone.
        ModelUnavailable: its endpoint is down.
    """
    try:
        missing = await ask(numbers)
    except ModelFailed as failure:
        if failure.cause not in _TOO_MUCH_AT_ONCE or not failure.begun or len(numbers) == 1:
            raise
        if failure.cause == "judge_slow" and size is not None:
            size.too_slow(len(numbers))
        missing = numbers
    if not missing:
        return
    if len(missing) < len(numbers):
        await cover(missing, ask, size)
    elif len(numbers) > 1:
        middle = len(numbers) // 2
        await gather_or_cancel(cover(half, ask, size) for half in (numbers[:middle], numbers[middle:]))
    else:
        raise ModelFailed(f"no entry about number {numbers[0]}, asked about alone", cause="judge_unusable")
