"""A model of this process as a grader: batches on a thread."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from models.local_grader import LocalGrader
from models.protocol import Claims, Graded, Judgement, ModelFailed
from models.work import work_limit
from tests.models.asking import REFERENCE
from tests.support.waiting import until


class Judge:
    """Supports what stands in the reference; waits until it may answer, and notes its batches."""

    name = "local/test"

    def __init__(self, load: Callable[[], object] = list) -> None:
        self.load = load
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.batches: list[int] = []
        self.threads: set[str] = set()

    def judge(self, batch: Sequence[Claims]) -> list[Graded]:
        self.batches.append(len(batch))
        self.threads.add(threading.current_thread().name)
        self.may_answer.wait()
        return [
            ModelFailed("too long", cause="too_long")
            if claims.reference == "too long"
            else [
                Judgement(1.0 if sentence in claims.reference else 0.1, "as found", None)
                for sentence in claims.sentences
            ]
            for claims in batch
        ]


def claims(*sentences: str, reference: str = REFERENCE) -> list[Claims]:
    return [Claims(reference, sentences or ("The board met on Monday.", "It approved nothing."), "summary")]


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
async def grader(judge: Judge) -> AsyncIterator[LocalGrader]:
    grader = LocalGrader(judge, called="the local judge")
    yield grader
    await grader.close()


async def test_claims_that_arrive_during_a_batch_make_up_the_next(grader: LocalGrader, judge: Judge) -> None:
    texts = [("The board met on Monday.",) if number % 2 else (f"Sentence {number}.",) for number in range(20)]
    judge.may_answer.clear()
    asked = [asyncio.create_task(grader.grade("t", claims(*one))) for one in texts]
    await until(lambda: judge.batches)
    judge.may_answer.set()
    answers = await asyncio.gather(*asked)

    assert len(judge.batches) <= 2
    assert sum(judge.batches) == 20
    assert len(judge.threads) == 1
    assert [answer.reply[0][0].supported for answer in answers] == [bool(number % 2) for number in range(20)]


async def test_a_batch_is_bounded_by_the_sizes_of_its_entries(grader: LocalGrader, judge: Judge) -> None:
    sizes = (40_000, 40_000, 20_000, 1, 90_000, 1)

    await asyncio.gather(*(grader.grade("t", claims("It met.", reference="x" * size)) for size in sizes))

    assert judge.batches == [1, 3, 1, 1]


async def test_what_one_entry_fails_of_does_not_concern_the_others(grader: LocalGrader) -> None:
    refused, judged = await asyncio.gather(
        grader.grade("t", [*claims(), *claims(reference="too long")]),
        grader.grade("t", claims()),
        return_exceptions=True,
    )

    assert isinstance(refused, ModelFailed)
    assert refused.cause == "too_long"
    assert not isinstance(judged, BaseException)


async def test_a_model_that_is_being_loaded_is_waited_for_beyond_every_deadline() -> None:
    is_there = threading.Event()
    grader = LocalGrader(Judge(is_there.wait), called="the local judge")
    grader.load()
    asyncio.get_running_loop().call_later(0.2, is_there.set)
    async with work_limit(0.05):
        assert grader.fault == "the local judge is being loaded"
        assert (await grader.grade("t", claims())).reply
    assert grader.fault is None
    await grader.close()


async def test_a_model_that_cannot_be_loaded_is_told_each_time() -> None:
    def load() -> None:
        raise RuntimeError("no such folder")

    grader = LocalGrader(Judge(load), called="the local judge")
    for _ in range(2):
        with pytest.raises(ModelFailed, match="no such folder"):
            await grader.grade("t", claims())
    assert grader.fault == "no such folder"
    await grader.close()
