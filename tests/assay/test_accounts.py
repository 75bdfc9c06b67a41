"""Accounts: whatever is killed, each message has one fate, and what is lost is named."""

import asyncio
import json
import random
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.accounts import UNCHECKED, Accounts
from agents.routing import RoutingSettings
from checkers.checker import NOBODY
from schemas import DeadLetter, Origin, read_record, to_json
from streams.settings import StreamSettings
from tests.assay.running import assay, environment, install, servers
from tests.support.scenarios import Place
from tests.support.service import running_worker
from tests.support.traffic import put, record
from tests.support.trust_verdicts import verdict
from tests.support.waiting import wait_until

ROUTING = """
[kafka.properties]
"session.timeout.ms" = 6000

[routing]
checkers = ["steady"]
rules = [{sources = ["batch"], share = 0.5}, {sources = ["load-test"], share = 0}]
"""
RULES = RoutingSettings.model_validate(tomllib.loads(ROUTING)["routing"])

STEADY = '''
"""Takes a moment for each response, and fails on some."""

import asyncio

from assay import Checker, CheckerPlugin, CheckerSettings, Decision, Generation, Undecidable


class Steady(Checker[CheckerSettings]):
    name = "steady"
    asks_judge = False

    async def decide(self, record: Generation) -> Decision:
        await asyncio.sleep(0.1)
        if record.response == "crash":
            raise RuntimeError
        if record.response == "unclear":
            raise Undecidable("empty_response", "there is nothing")
        return Decision(accepted=record.response != "no", reason="So it is.")


PLUGIN = CheckerPlugin(checker=Steady)
'''


def extraction(number: int) -> bytes:
    body = {"id": f"e{number}", "kind": "extraction", "source": "tests", "model": "m", "text": "x", "entities": []}
    return json.dumps(body).encode()


def test_each_message_has_its_fate_in_its_hour_and_nobody_reads_in_full_what_rules_skip():
    begun, settings = datetime(2026, 3, 2, 10, tzinfo=UTC), StreamSettings()
    invalid = record(1, source="load-test", response=3)
    values = [record(0), invalid, record(2), b"{", record(4)]
    at = [Origin(topic=settings.topics.outputs, partition=0, offset=number) for number in range(5)]
    accounts = Accounts(
        begun,
        settings,
        {"steady": {"generation"}},
        {"steady": {0: (0, 4)}},
        routing=RULES,
        checked_kinds={"generation"},
    )
    decided = to_json(verdict(0, True, checker="steady", origin=at[0], record_id="r0", source="tests"))
    letter = DeadLetter.of(b"{", reason="not_json", detail="", origin=at[3], checker=UNCHECKED, keep_bytes=9)
    for topic, value in [(settings.topics.accepted, decided)] * 2 + [(settings.topics.dead_letter, to_json(letter))]:
        accounts.answer(topic, value)
    for number, value in enumerate(values):
        stamp = (begun + timedelta(minutes=40 * number)).timestamp() * 1000
        accounts.message(SimpleNamespace(partition=0, offset=number, value=value, timestamp=stamp, headers=()))
    accounts.close()
    first, second, third = (begun + timedelta(hours=number) for number in range(3))
    assert {place: +fates for place, fates in accounts.fates.items()} == {
        ("steady", first): {"decided": 1, "route": 1},
        ("steady", second): {"missing": 1},
        ("steady", third): {"others": 1, "held": 1},
        (UNCHECKED, third): {"dead_letters": 1},
    }
    assert [each["record_id"] for each in accounts.named] == ["r2"]


async def skip_to_the_end(place: Place) -> None:
    """Do what no worker does: commit what was not answered."""
    topic = place.checked().topics.outputs
    group = {"group_id": f"{place.prefix}.steady", "enable_auto_commit": False}
    async with AIOKafkaConsumer(bootstrap_servers=place.servers, **group) as consumer:
        places = [TopicPartition(topic, number) for number in range(2)]
        consumer.assign(places)
        await consumer.commit(await consumer.end_offsets(places))


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    install(site, module="steady", source=STEADY, entry_points={"steady": "steady:PLUGIN"})
    (tmp_path / "assay.toml").write_text(ROUTING, "utf-8")
    return site


def test_after_kill_9_the_accounts_are_exact_and_what_was_skipped_is_named(place: Place, tmp_path: Path, steady: Path):
    topics, given = place.prepare(place.settings(partitions=2)).topics, servers(place)

    def accounts(*options: str) -> tuple[int, dict[str, Any]]:
        ran = assay("accounts", "--json", *options, cwd=tmp_path, site=steady, **given)
        assert not ran.stderr
        return ran.returncode, json.loads(ran.stdout)

    def sums(found: dict[str, Any], checker: str = "steady") -> Counter[str]:
        rows = [row for row in found["accounts"] if row["checker"] == checker]
        return sum((Counter({k: v for k, v in row.items() if isinstance(v, int)}) for row in rows), Counter())

    rng = random.Random(1)
    responses = ["yes", "no", "yes", "unclear"] * 5 + ["crash"]
    sources = ("tests", "batch", "load-test")
    values = [record(n, source=rng.choice(sources), response=rng.choice(responses)) for n in range(300)]
    others = [*map(extraction, range(7)), *[b"{"] * 5]
    asyncio.run(put(place.servers, topics.outputs, rng.sample([*values, *others], 312), spread=True))
    # Another topic of the same name had other records at these offsets, and others write rubbish.
    at = [Origin(topic=topics.outputs, partition=0, offset=number) for number in (0, 9999)]
    strangers = [to_json(verdict(0, True, checker="steady", record_id="stranger", origin=each)) for each in at]
    rubbish = [b"{", b"[]", b'{"origin": 3}', b'{"origin": {"topic": "assay.outputs", "partition": "x", "offset": 1}}']
    asyncio.run(put(place.servers, topics.accepted, strangers))
    asyncio.run(put(place.servers, topics.dead_letter, rubbish))
    variables = environment(steady, **given)
    with running_worker(tmp_path, "--checkers", "steady", environment=variables) as service:
        wait_until(lambda: service.metric("assay_verdicts_total") >= 50, service.said)
        service.process.kill()
    status, found = accounts()
    assert (status, found["messages"], found["missing"]) == (0, 312, [])
    assert sums(found)["held"] > 0
    assert sums(found)["received"] == 300
    with running_worker(tmp_path, "--checkers", "steady", environment=variables) as service:
        wait_until(lambda: not sums(accounts()[1])["held"], service.said)
    routing = RULES
    read = [read_record(value, max_bytes=2**20) for value in values]
    taken = Counter(getattr(each, "response", "") for each in read if routing.left_out("steady", each) is None)
    status, found = accounts()
    assert status == 0
    assert sums(found) == +Counter(
        received=300,
        decided=taken["yes"] + taken["no"],
        abstained=taken["unclear"],
        dead_letters=taken["crash"],
    )
    assert sum(sum(row["skipped"].values()) for row in found["accounts"]) == 300 - taken.total()
    assert sums(found, UNCHECKED)["dead_letters"] == 5
    assert sums(found, NOBODY)["abstained"] == 7
    asyncio.run(put(place.servers, topics.outputs, [record(n) for n in range(1000, 1003)]))
    asyncio.run(skip_to_the_end(place))
    status, found = accounts("--checker", "steady")
    assert status == 1
    assert [each["record_id"] for each in found["missing"]] == ["r1000", "r1001", "r1002"]
    ran = assay("accounts", cwd=tmp_path, site=steady, **given)
    assert ran.returncode == 1
    assert "3 answers missing" in ran.stdout
    assert f"r1002  tests  by steady  {topics.outputs}[0]@" in ran.stdout
