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
from hypothesis import given
from hypothesis import strategies as st

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

BEGUN = datetime(2026, 3, 2, 10, tzinfo=UTC)
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


def a_message(number: int, kind: str, source: str) -> bytes:
    match kind:
        case "unreadable":
            return b"{"
        case "invalid":
            return record(number, source="load-test", response=3)
        case "extraction":
            return extraction(number)
    return record(number, source=source)


FATES = st.sampled_from(("decided", "abstained", "dead_letters", "lost", "repeated", "left out"))
MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(("generation", "generation", "extraction", "unreadable", "invalid")),
        st.sampled_from(("tests", "batch", "load-test")),
        FATES,
        st.integers(0, 3),
    ),
    max_size=40,
)


class Played:
    """A partition's messages and the answers that a worker gave, and what the accounts should say."""

    def __init__(self, messages: list[tuple[str, str, str, int]], committed: int) -> None:
        self.settings = StreamSettings()
        self.routing = RULES
        self.messages: list[Any] = []
        self.answers: list[tuple[str, bytes]] = []
        self.expected: dict[str, Counter[str]] = {"steady": Counter(), UNCHECKED: Counter(), NOBODY: Counter()}
        for offset, (kind, source, fate, hour) in enumerate(messages):
            value = a_message(offset, kind, source)
            stamp = int((BEGUN + timedelta(hours=hour)).timestamp() * 1000)
            self.messages.append(SimpleNamespace(partition=0, offset=offset, value=value, timestamp=stamp, headers=()))
            if kind == "invalid":
                # Nobody reads a record in full that all leave out.
                self.expected["steady"]["held" if offset >= committed else "route"] += 1
                continue
            name = {"unreadable": UNCHECKED, "extraction": NOBODY}.get(kind, "steady")
            left_out = None if name != "steady" else self.routing.left_out("steady", read_record(value, max_bytes=999))
            if fate == "lost" or (fate == "left out" and left_out is not None):
                self.expected[name]["held" if offset >= committed else left_out or "missing"] += 1
            else:
                self.expected[name][self._answer(offset, value, name, fate)] += 1

    def _answer(self, offset: int, value: bytes, name: str, fate: str) -> str:
        """Answer as the worker did, whatever the rules of now say; returns what the accounts should say."""
        topics = self.settings.topics
        origin = Origin(topic=topics.outputs, partition=0, offset=offset)
        if name == UNCHECKED or (name == "steady" and fate == "dead_letters"):
            reason: Any = "not_json" if name == UNCHECKED else "checker_failed"
            letter = DeadLetter.of(value, reason=reason, detail="", origin=origin, checker="steady", keep_bytes=9)
            self.answers.append((topics.dead_letter, to_json(letter)))
            return "dead_letters"
        abstains = name == NOBODY or fate == "abstained"
        read = read_record(value, max_bytes=999)
        given = verdict(offset, True, checker=name, origin=origin, record_id=read.id, source=read.source)
        topic = topics.abstained if abstains else topics.accepted
        # What is read again after a crash is answered again.
        self.answers += [(topic, to_json(given))] * (2 if fate == "repeated" else 1)
        return "abstained" if abstains else "decided"


@given(MESSAGES, st.integers(0, 40), st.randoms(use_true_random=False))
def test_each_message_has_one_fate_and_what_is_lost_is_named(
    messages: list[tuple[str, str, str, int]], committed: int, rng: random.Random
):
    played = Played(messages, committed)
    accounts = Accounts(
        BEGUN,
        played.settings,
        {"steady": {"generation"}},
        {"steady": {0: (0, committed)}},
        routing=played.routing,
        checked_kinds={"generation"},
    )
    # Another topic of the same name had other records at these offsets, and others write rubbish.
    at = [Origin(topic="assay.outputs", partition=0, offset=number) for number in (0, 99)]
    strangers = [to_json(verdict(0, True, checker="steady", record_id="stranger", origin=each)) for each in at]
    rubbish = [b"{", b"[]", b'{"origin": 3}', b'{"origin": {"topic": "assay.outputs", "partition": "x", "offset": 1}}']
    topics = played.settings.topics
    answers = [*played.answers, *((topics.dead_letter, each) for each in rubbish)]
    answers += [(topics.accepted, each) for each in strangers]
    rng.shuffle(answers)
    for topic, value in answers:
        accounts.answer(topic, value)
    for each in played.messages:
        accounts.message(each)
    accounts.close()
    for name, expected in played.expected.items():
        found = sum((fates for (checker, _), fates in accounts.fates.items() if checker == name), Counter())
        others = found.pop("others", 0)
        assert found == expected
        assert sum(row["received"] for row in accounts.rows(name)) == expected.total()
        assert name != "steady" or others + expected.total() == len(messages)
    assert accounts.missing == len(accounts.named) == sum(each["missing"] for each in played.expected.values())


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
