"""Many at once, but never more than the window; a judge that is away is waited for, but not for ever."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from assay.file_check import CheckedLine, FileCheck
from assay.testing import ScriptedJudge
from checkers.checker import Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.model_patience import ModelPatience
from models.protocol import ModelUnavailable
from schemas import Generation, to_json
from streams.record_lines import Line
from tests.support.checkers import FailsOn, Recalls

RECORD = b'{"kind": "generation", "source": "s", "model": "m", "response": "r"}'


class Scripted(Checker[CheckerSettings]):
    """Abstains, after what each call in turn is told to raise."""

    name = "scripted"

    def __init__(self, *raises: Exception, seconds: float = 0.0, limit: float = 60.0) -> None:
        super().__init__(CheckerSettings(deadline_seconds=limit), Models(judge=ScriptedJudge(), subjects={}))
        self.raises = list(raises)
        self.seconds = seconds
        self.under_way = 0
        self.most = 0

    async def decide(self, record: Generation) -> Decision:
        if self.raises:
            raise self.raises.pop(0)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(self.seconds)
        self.under_way -= 1
        raise Undecidable("no_reference", "scripted")


def away() -> ModelUnavailable:
    return ModelUnavailable("connection refused", retry_after=0.01)


async def lines(count: int, drawn: list[int]) -> AsyncIterator[Line]:
    for number in range(1, count + 1):
        drawn.append(number)
        yield Line(number, RECORD, len(RECORD), number)


async def run(
    checker: Scripted, count: int = 1, *, window: int = 8, patience: float = 60.0
) -> tuple[list[CheckedLine], list[str], ModelPatience]:
    found: list[CheckedLine] = []
    said: list[str] = []
    model_patience = ModelPatience(said.append, patience)
    file_check = FileCheck(
        [checker],
        max_bytes=1000,
        window=window,
        patience=model_patience,
    )
    await file_check.run(lines(count, []), found.append)
    return found, said, model_patience


async def test_no_more_are_checked_at_once_than_the_window_and_reading_is_bounded():
    drawn: list[int] = []
    ahead: list[int] = []
    checker = Scripted(seconds=0.001)
    file_check = FileCheck([checker], max_bytes=1000, window=8, patience=ModelPatience(print))
    await file_check.run(lines(500, drawn), lambda checked: ahead.append(len(drawn) - checked.line.number))
    assert len(ahead) == 500
    assert max(ahead) <= 16 * 8
    assert 1 < checker.most <= 8


async def test_a_judge_that_stays_away_makes_every_record_abstain():
    found, said, patience = await run(Scripted(*[away() for _ in range(10_000)]), 50, patience=0.2)
    assert len(found) == 50
    assert all("could not be reached" in checked.verdicts[0].reason for checked in found)
    assert patience.lost
    assert len(said) == 1


async def test_one_that_takes_long_does_not_hold_up_those_after_it():
    checker = Scripted()
    waiting = asyncio.Event()

    async def check(record: Generation) -> Decision:
        checker.under_way += 1
        if checker.under_way == 1:
            await waiting.wait()
        elif checker.under_way == 100:
            waiting.set()
        raise Undecidable("no_reference", "scripted")

    checker.decide = check  # type: ignore[method-assign]
    found: list[CheckedLine] = []
    await FileCheck([checker], max_bytes=1000, window=8, patience=ModelPatience(print)).run(
        lines(120, []), found.append
    )
    assert [checked.line.number for checked in found] == [*range(1, 121)]
    assert not any(checked.line.data for checked in found)


async def test_a_record_that_its_judge_always_fails_on_is_given_up_and_the_others_are_judged():
    found: list[CheckedLine] = []
    patience = ModelPatience(print)
    # One at a time beside it, so that it has others to be compared with.
    file_check = FileCheck([FailsOn(seconds=0.03)], max_bytes=1000, window=2, patience=patience)

    async def records() -> AsyncIterator[Line]:
        for number in range(50):
            data = RECORD.replace(b"{", b'{"id": "%s", ' % (b"bad" if number == 0 else b"r%d" % number), 1)
            yield Line(number, data, len(data), number)

    await file_check.run(records(), found.append)
    assert [checked.verdicts[0].outcome for checked in found] == ["abstain"] + ["accept"] * 49
    assert "answered others meanwhile: connection reset" in found[0].verdicts[0].reason
    assert not patience.lost


async def test_a_failure_to_write_ends_it_as_what_it_is():
    def full(_: CheckedLine) -> None:
        raise OSError(28, "No space left on device")

    file_check = FileCheck([Scripted()], max_bytes=1000, window=8, patience=ModelPatience(print))
    with pytest.raises(OSError, match="No space left"):
        await file_check.run(lines(100, []), full)


async def test_records_of_a_session_are_checked_behind_those_before_them_in_the_file() -> None:
    sent = [("a", "s"), ("b", "t"), ("c", "s"), ("a", "s"), ("d", None), ("e", "s")]
    records = [
        Generation(id=id_, kind="generation", source="s", model="m", response="r", session=session)
        for id_, session in sent
    ]
    check = FileCheck([Recalls()], max_bytes=1000, window=3, patience=ModelPatience(print))
    found = await check.records(records)
    assert [one.verdicts[0].reason for one in found] == ["none", "none", "a", "none", "none", "a c"]
    lines_of = (Line(n, data, len(data), n) for n, data in enumerate(map(to_json, records), start=1))

    async def each() -> AsyncIterator[Line]:
        for line in lines_of:
            yield line

    checked: list[CheckedLine] = []
    await check.run(each(), checked.append)
    assert [one.verdicts[0].reason for one in checked] == [one.verdicts[0].reason for one in found]
