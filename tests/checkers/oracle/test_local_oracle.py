"""The local judge behind the protocol: batches on a thread, replies made of grades."""

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.local_oracle import LocalOracle
from checkers.oracle.protocol import OracleFailed
from tests.checkers.oracle.asking import question


class Judge:
    """Supports what stands in the reference; slow, and notes its batches."""

    name = "local/test"

    def __init__(self, settings: LocalSettings) -> None:
        self.batches: list[int] = []
        self.threads: set[str] = set()

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        self.batches.append(len(batch))
        self.threads.add(threading.current_thread().name)
        time.sleep(0.05)
        if any("fault" in claims.reference for claims in batch):
            raise RuntimeError("no such model")
        return [
            [Judgement(1.0 if sentence in claims.reference else 0.1, "as found", None) for sentence in claims.sentences]
            for claims in batch
        ]


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> LocalOracle:
    monkeypatch.setattr("checkers.oracle.local.EmbeddingJudge", Judge, raising=False)
    return LocalOracle(LocalSettings())


async def test_the_reply_and_the_grades_say_the_same(oracle: LocalOracle) -> None:
    answer = await oracle.ask(question())

    assert answer.grades == (Judgement(1.0, "as found", None), Judgement(0.1, "as found", None))
    assert [entry.reason for entry in answer.reply.reason] == ["as found", "as found"]
    assert answer.reply.is_consistent is False
    assert answer.usage.calls == 1
    assert oracle.name == "local/test"


async def test_questions_that_arrive_during_a_batch_make_up_the_next(oracle: LocalOracle) -> None:
    answers = await asyncio.gather(*(oracle.ask(question(f"Sentence {number}.")) for number in range(20)))

    judge = oracle._judge
    assert isinstance(judge, Judge)
    assert len(judge.batches) <= 2
    assert sum(judge.batches) == 20
    assert len(judge.threads) == 1
    assert [answer.reply.reason[0].sentence for answer in answers] == [f"Sentence {number}." for number in range(20)]


async def test_a_batch_is_bounded_by_its_sentences(oracle: LocalOracle) -> None:
    sentences = tuple(f"Sentence {number}." for number in range(200))

    await asyncio.gather(*(oracle.ask(question(*sentences)) for _ in range(3)))

    judge = oracle._judge
    assert isinstance(judge, Judge)
    assert judge.batches == [1, 1, 1]


async def test_the_event_loop_goes_on_meanwhile(oracle: LocalOracle) -> None:
    asked = asyncio.create_task(oracle.ask(question()))
    turns = 0
    while not asked.done():
        await asyncio.sleep(0.005)
        turns += 1

    assert turns >= 4


async def test_one_that_leaves_does_not_disturb_the_others(oracle: LocalOracle) -> None:
    asked = [asyncio.create_task(oracle.ask(question(f"Sentence {number}."))) for number in range(3)]
    await asyncio.sleep(0.01)
    asked[1].cancel()

    endings = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(endings[1], asyncio.CancelledError)
    assert not isinstance(endings[0], BaseException)
    assert not isinstance(endings[2], BaseException)


async def test_a_fault_of_the_judge_is_told_to_its_batch_alone(oracle: LocalOracle) -> None:
    with pytest.raises(OracleFailed, match="the local judge failed: no such model") as failure:
        await oracle.ask(question(reference="fault"))
    assert failure.value.cause == "judge_failed"

    assert (await oracle.ask(question())).grades


@pytest.mark.parametrize("change", [{"claims": None}, {"from_grades": None}], ids=["no claims", "no reply of grades"])
async def test_what_it_cannot_answer_it_says(oracle: LocalOracle, change: dict[str, Any]) -> None:
    with pytest.raises(OracleFailed, match=r"the local judge cannot answer 'consistency\.summary'") as failure:
        await oracle.ask(question(**change))

    assert failure.value.cause == "judge_failed"
