"""Votes over several answers to one question, asked for no longer than they can change the winner."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from models.protocol import Oracle, Question, ReplyT
from models.sampling import sample

BallotT = TypeVar("BallotT")


async def ranking(
    oracle: Oracle, question: Question[ReplyT], runs: int, ballots: Callable[[ReplyT], Sequence[BallotT]]
) -> list[BallotT]:
    """What `runs` answers vote for, the most votes first, of equally many what was voted for first.

    `ballots` are the votes of one answer: each counts once; an answer that cannot be used has none. The first is that
    of all runs, though no more are asked for once the others cannot overtake it; the order behind it is that of the
    votes until then.

    Raises:
        OracleUnavailable: the endpoint cannot be reached; ask again later.
        OracleFailed: the question gets no answer at all.
    """
    votes: Counter[BallotT] = Counter()
    asked = 0
    while asked < runs:
        # The fewest that may decide it.
        count = min((runs - asked - _lead(votes)) // 2 + 1, runs - asked)
        replies = await sample(oracle, question, count, asked)
        asked += count
        for reply in replies:
            if reply is not None:
                votes.update(dict.fromkeys(ballots(reply), 1))
        if _lead(votes) > runs - asked:
            break
    return [ballot for ballot, _ in votes.most_common()]


def _lead(votes: Counter[BallotT]) -> int:
    """By how many votes the first is ahead of the second."""
    counts = [count for _, count in votes.most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0
