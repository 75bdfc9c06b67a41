"""`assay check --sample`: some records checked, and the cost of the whole file estimated from theirs."""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.file_check import CheckedLine
from assay.summary import FileSample
from schemas import Usage
from streams.record_lines import Line
from tests.assay.running import assay
from tests.support.stub_acts import status
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.trust_verdicts import verdict

ROW = re.compile(r"^  (\w[\w ]*?) +([\d,.]+) +([\d,.]+)  \(([\d,.]+) to ([\d,.]+)\)$", re.MULTILINE)
PRICES = "prompt_price = 10.0\ncompletion_price = 20.0\n"


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


def test_the_same_records_are_drawn_each_time_and_in_their_order(tmp_path: Path, stub: StubEndpoint) -> None:
    folder = configure(tmp_path, stub)
    runs = [assay("check", "-", "--sample", "20", cwd=folder, stdin=responses(80)).stdout for _ in range(2)]
    first, again = ([json.loads(line)["record_id"] for line in run.splitlines()] for run in runs)
    assert first == again == sorted(set(first), key=lambda name: int(name[1:]))
    assert len(first) == 20
    assert first != [f"r{n}" for n in range(20)], "the first are no random ones"


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


def test_without_a_judge_nothing_is_estimated(tmp_path: Path) -> None:
    with StubEndpoint(script=lambda _: status(401)) as refusing:
        ran = assay("check", "-", "--sample", "2", cwd=configure(tmp_path, refusing), stdin=responses(5))
    assert ran.returncode == 2
    assert "drawn at random" not in ran.stderr


def test_about_nineteen_intervals_of_twenty_hold_the_cost_of_the_whole_file() -> None:
    """Of costs as they are: many small ones, and few that are large."""
    draw = random.Random(1)
    costs = [draw.lognormvariate(0, 0.7) for _ in range(400)]

    def holds() -> bool:
        draw.shuffle(costs)
        _, _, low, high = table("\n".join(asyncio.run(reported(costs, 30))))["price"]
        return low <= sum(costs) <= high

    assert sum(holds() for _ in range(500)) >= 450


async def reported(costs: list[float], size: int) -> list[str]:
    async def lines() -> AsyncIterator[Line]:
        for number in range(len(costs)):
            yield Line(number, b"{}", 2, 3 * number)

    sample = FileSample(lines(), size)
    async for line in sample.lines():
        usage = Usage(calls=1, cost=costs[line.number])
        sample.add(CheckedLine(line, verdicts=[verdict(line.number, accepted=True, usage=usage)]))
    return list(sample.report(1.0))
