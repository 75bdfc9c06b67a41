from collections.abc import Callable, Sequence

import pytest

from models.local.judge import BundledJudge
from models.protocol import Claims, Judgement


@pytest.fixture(scope="session")
def judge() -> BundledJudge:
    judge = BundledJudge()
    judge.load()
    return judge


@pytest.fixture(scope="session")
def graded(judge: BundledJudge) -> Callable[[Sequence[tuple[str, ...]], str], list[Judgement]]:
    """Grades each row's second text against its first, all in one batch."""
    return lambda rows, task: [grades[0] for grades in judge.judge([Claims(*row[:1], row[1:2], task) for row in rows])]
