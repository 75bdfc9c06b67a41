"""Many at once, never more than the window; a judge that is away; and `--sample`, which estimates the cost of all."""

import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.file_check import CheckedLine, check_lines
from assay.testing import ScriptedJudge
from checkers.checker import Checker, CheckerSettings, Decision, Models
from checkers.intervals import total
from checkers.model_patience import ModelPatience
from models.protocol import ModelUnavailable
from schemas import Generation, to_json
from streams.record_lines import Line
from tests.assay.running import assay
from tests.support.checkers import OnBad, Recalls
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint

RECORD = b'{"kind": "generation", "source": "s", "model": "m", "response": "r"}'


class Away(Checker[CheckerSettings]):
    name = "away"

    async def decide(self, record: Generation) -> Decision:
        raise ModelUnavailable("connection refused", retry_after=0.01)


async def lines(*records: bytes) -> AsyncIterator[Line]:
    for number, data in enumerate(records, 1):
        yield Line(number, data, len(data), number)


async def run(
    checker: Checker[CheckerSettings], patience: ModelPatience, *records: bytes, window: int
) -> list[CheckedLine]:
    found: list[CheckedLine] = []
    await check_lines([checker], lines(*records), found.append, patience, max_bytes=1000, window=window)
    return found


async def test_a_judge_that_stays_away_makes_every_record_abstain():
    said: list[str] = []
    patience = ModelPatience(said.append, 0.2)
    found = await run(Away(CheckerSettings(), Models(judge=ScriptedJudge())), patience, *[RECORD] * 50, window=8)
    assert len(found) == 50
    assert all("could not be reached" in checked.verdicts[0].reason for checked in found)
    assert patience.lost
    assert len(said) == 1


async def test_a_record_that_its_judge_always_fails_on_is_given_up_and_the_others_are_judged():
    patience = ModelPatience(print)
    names = [b"bad", *(b"r%d" % number for number in range(1, 50))]
    records = [RECORD.replace(b"{", b'{"id": "%s", ' % name, 1) for name in names]
    # One at a time beside it, so that it has others to be compared with.
    found = await run(OnBad("fails", 0.03), patience, *records, window=2)
    assert [checked.verdicts[0].outcome for checked in found] == ["abstain"] + ["accept"] * 49
    assert "answered others meanwhile: connection reset" in found[0].verdicts[0].reason
    assert not patience.lost


async def test_records_of_a_session_are_checked_behind_those_before_them_in_the_file() -> None:
    sent = [("a", "s"), ("b", "t"), ("c", "s"), ("a", "s"), ("d", None), ("e", "s")]
    records = [
        Generation(id=id_, kind="generation", source="s", model="m", response="r", session=session)
        for id_, session in sent
    ]
    found = await run(Recalls(), ModelPatience(print), *map(to_json, records), window=3)
    assert [one.verdicts[0].reason for one in found] == ["none", "none", "a", "none", "none", "a c"]


ROW = re.compile(r"^  (\w[\w ]*?) +([\d,.]+) +([\d,.]+)  \(([\d,.]+) to ([\d,.]+)\)$", re.MULTILINE)
PRICES = "prices = { prompt = 10.0, completion = 20.0 }\n"


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=judge_answer) as endpoint:
        yield endpoint


def configure(folder: Path, stub: StubEndpoint, more: str = PRICES) -> Path:
    judge = f'[judge]\nbackend = "openai"\nbase_url = "{stub.base_url}"\nmodel = "judge"\n{more}'
    (folder / "assay.toml").write_text(judge, encoding="utf-8")
    return folder


def responses(count: int) -> bytes:
    """Records, each of another length, so that each costs something else and none comes from the cache."""
    sentence = "The old mill was sold to the bank in March. "
    lines = (
        {"id": f"r{n}", "kind": "generation", "source": "s", "model": "m"}
        | {"response": sentence * (1 + n * 7 % 11), "reference": f"{n}. {sentence}"}
        for n in range(count)
    )
    return "\n".join(map(json.dumps, lines)).encode()


def table(printed: str) -> dict[str, tuple[float, ...]]:
    """Of each cost: that of the sample, that of the file, and the ends of its interval."""
    return {name: tuple(float(one.replace(",", "")) for one in found) for name, *found in ROW.findall(printed)}


def spent(verdicts: str) -> dict[str, float]:
    usages: list[dict[str, Any]] = [json.loads(line)["usage"] for line in verdicts.splitlines()]
    names = {"calls": "calls", "prompt tokens": "prompt_tokens", "reply tokens": "completion_tokens", "price": "cost"}
    return {name: sum(usage[field] for usage in usages) for name, field in names.items()}


def test_a_sample_is_checked_and_the_cost_of_all_lies_in_its_interval(tmp_path: Path, stub: StubEndpoint) -> None:
    folder, records = configure(tmp_path, stub), responses(80)
    sampled = assay("check", "-", "--sample", "20", cwd=folder, stdin=records)
    assert sampled.returncode == 0, sampled.stderr
    asked = len(stub.requests)
    assert "20 of 80 records drawn at random" in sampled.stderr
    told, paid = table(sampled.stderr), spent(sampled.stdout)
    assert told["calls"][0] == paid["calls"] == asked >= 20
    whole = spent(assay("check", "-", cwd=folder, stdin=records).stdout)
    for name, true in whole.items():
        sample, estimated, low, high = told[name]
        assert sample == pytest.approx(paid[name], abs=1e-4)
        assert estimated == pytest.approx(4 * paid[name], abs=1)
        assert low - 1e-4 <= true <= high + 1e-4, name
    assert told["seconds"][1] == pytest.approx(4 * told["seconds"][0], abs=0.3)


def test_a_sample_of_all_is_no_estimate_and_a_price_that_nobody_set_is_not_zero(
    tmp_path: Path, stub: StubEndpoint
) -> None:
    folder = configure(tmp_path, stub, more="")
    ran = assay("check", "-", "--sample", "20", cwd=folder, stdin=responses(5))
    assert "5 of 5 records" in ran.stderr
    assert table(ran.stderr)["calls"] == (len(stub.requests),) * 4
    assert re.search(r"^  price +not set$", ran.stderr, re.MULTILINE)
    alone = assay("check", "-", "--sample", "1", cwd=folder, stdin=responses(5))
    assert re.search(r"^  calls +(\d) +(\d+)$", alone.stderr, re.MULTILINE), "one tells no interval"


def test_about_nineteen_intervals_of_twenty_hold_the_cost_of_the_whole_file() -> None:
    """Of costs as they are: many small ones, and few that are large."""
    draw = random.Random(1)
    costs = [draw.lognormvariate(0, 0.7) for _ in range(400)]
    intervals = (total(draw.sample(costs, 30), len(costs)) for _ in range(500))
    assert sum(low <= sum(costs) <= high for low, high in intervals) >= 450
