"""What became of every record of a run, by the topics, the trust monitor's state and the store, once nothing waits."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, TopicPartition

from agents.monitor.counter_agent import stored_messages
from agents.routing import RoutingSettings
from schemas import Unreadable, read_record
from store.tables import DAY_COUNTS, VERDICTS
from streams.settings import StreamSettings
from streams.topic_reader import read_topic
from tests.support.stored import Stored

_ANSWER_SECONDS = 10


class Subject(NamedTuple):
    source: str
    model: str
    checker: str


@dataclass
class Ledger:
    """Every offset of the records' topic stands in exactly one of the five counts, or is lost."""

    offsets: int = 0
    left_out: int = 0
    decided: int = 0
    abstained: int = 0
    dead_letters: int = 0
    held: int = 0
    """Behind what is committed: still to be answered."""
    lost: list[tuple[int, int]] = field(default_factory=list)
    """Partition and offset of records that nothing became of."""
    two_ways: int = 0
    """Offsets with both a verdict and a dead letter."""
    clashes: int = 0
    """Records whose repeated verdicts, or dead letters, differ in id."""
    repeated: int = 0
    """Verdicts and dead letters that came again."""
    changed: int = 0
    """Records that decided when checked again, and abstained otherwise, as the judge was away or not."""
    missing_of_sent: int = 0
    """Messages that the brokers acknowledged to the producer, and that are not there."""
    outcomes_missing: int = 0
    """Decided verdicts without an outcome for the trust monitor, and outcomes without a verdict."""
    trust_off: int = 0
    """By how many the monitor's counts are off from the distinct outcomes, over all series."""
    trust_counted: int = 0
    store_off: int | None = None
    """Verdicts that the store lacks or has besides, and by how many its hours' and days' counts are off."""

    @property
    def sum(self) -> int:
        return self.left_out + self.decided + self.abstained + self.dead_letters + self.held

    @property
    def kept(self) -> bool:
        """Whether everything is as it is promised."""
        wrong = (self.two_ways, self.clashes, self.missing_of_sent, self.outcomes_missing, self.trust_off)
        return not (self.lost or self.held or any(wrong) or self.store_off) and self.sum == self.offsets


_ByPlace = defaultdict[tuple[int, int], list[tuple[str, bool]]]


def _place(answer: dict[str, Any]) -> tuple[int, int]:
    return answer["origin"]["partition"], answer["origin"]["offset"]


async def read_ledger(
    settings: StreamSettings, *, checker: str, routing: RoutingSettings, sent: int, stored: Stored | None
) -> Ledger:
    """Read all topics from their beginning. `sent`: messages that the brokers acknowledged to the producer."""
    ledger = Ledger()
    # By partition and offset of the record: the id of each answer, and whether it decides.
    verdicts, letters = _ByPlace(list), _ByPlace(list)
    ids: dict[str, Subject] = {}
    decided = set[str]()
    topics = settings.topics
    async for message in read_topic(settings.kafka, topics.accepted, topics.rejected, topics.abstained):
        verdict = orjson.loads(message.value)
        decides = verdict["outcome"] != "abstain"
        verdicts[_place(verdict)].append((verdict["id"], decides))
        ids[verdict["id"]] = Subject(verdict["source"], verdict["model"], verdict["checker"])
        decided |= {verdict["id"]} if decides else set()
    async for message in read_topic(settings.kafka, topics.dead_letter):
        letter = orjson.loads(message.value)
        letters[_place(letter)].append((letter["id"], False))
    done, _ = committed(settings, f"{topics.prefix}.{checker}", [topics.outputs])
    async for message in read_topic(settings.kafka, topics.outputs):
        ledger.offsets += 1
        place = (message.partition, message.offset)
        ledger.two_ways += place in verdicts and place in letters
        if place in verdicts:
            decides = any(decided for _, decided in verdicts[place])
            ledger.decided += decides
            ledger.abstained += not decides
        elif place in letters:
            ledger.dead_letters += 1
        elif _is_left_out(message.value, checker, routing, settings.records.max_bytes):
            ledger.left_out += 1
        elif place[1] >= done[topics.outputs, place[0]]:
            ledger.held += 1
        else:
            ledger.lost.append(place)
    ledger.missing_of_sent = max(0, sent - ledger.offsets)
    for answers in (*verdicts.values(), *letters.values()):
        ledger.repeated += len(answers) - 1
        ledger.clashes += len({id_ for id_, _ in answers}) > 1
        ledger.changed += len({decided for _, decided in answers}) > 1
    await _go_through_trust(ledger, settings, decided)
    if stored is not None:
        ledger.store_off = _store_off(stored, ids, len(letters))
    return ledger


def committed(settings: StreamSettings, group: str, topics: Iterable[str]) -> tuple[dict[tuple[str, int], int], int]:
    """By topic and partition the group's committed offset, 0 where there is none; and how many messages lie behind."""
    consumer = Consumer(
        {
            "bootstrap.servers": settings.kafka.bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    try:
        known = consumer.list_topics(timeout=_ANSWER_SECONDS).topics
        places = [TopicPartition(topic, number) for topic in topics for number in known[topic].partitions]
        offsets = {
            (place.topic, place.partition): max(0, place.offset)
            for place in consumer.committed(places, timeout=_ANSWER_SECONDS)
        }
        ends = [consumer.get_watermark_offsets(place, timeout=_ANSWER_SECONDS)[1] for place in places]
        return offsets, sum(ends) - sum(offsets.values())
    finally:
        consumer.close()


def _is_left_out(value: bytes, checker: str, routing: RoutingSettings, max_bytes: int) -> bool:
    try:
        return routing.left_out(checker, read_record(value, max_bytes=max_bytes)) is not None
    except Unreadable:
        return False


async def _go_through_trust(ledger: Ledger, settings: StreamSettings, decided: set[str]) -> None:
    outcomes: dict[str, Subject] = {}
    partitions = set[int]()
    async for message in read_topic(settings.kafka, settings.topics.outcomes):
        outcome = orjson.loads(message.value)
        outcomes[outcome["verdict_id"]] = Subject(outcome["source"], outcome["model"], outcome["checker"])
        partitions.add(message.partition)
    ledger.outcomes_missing = len(decided ^ outcomes.keys())
    stored = await stored_messages(settings.kafka, settings.topics.trust_state, sorted(partitions))
    counted = Counter[Subject]()
    for series in (orjson.loads(each) for by_key in stored.values() for each in by_key.values()):
        counted[Subject(*series["key"])] += series["series"]["counted"]
    ledger.trust_counted = counted.total()
    ledger.trust_off = _apart(counted, Counter(outcomes.values()))


def _store_off(stored: Stored, ids: dict[str, Subject], letters: int) -> int:
    rows = stored.rows(VERDICTS)
    subjects = {row["id"]: Subject(row["source"], row["model"], row["checker"]) for row in rows}
    off = len(subjects.items() ^ ids.items()) + len(rows) - len(subjects)
    by_outcome = Counter((row["source"], row["model"], row["checker"], row["outcome"]) for row in rows)
    if letters:
        # Of what cannot be read neither source nor model is known.
        by_outcome["", "", next(iter(subjects.values())).checker, "dead_letter"] = letters
    return off + _apart(by_outcome, stored.counts()) + _apart(by_outcome, stored.counts(DAY_COUNTS))


def _apart(some: Counter[Any], others: Counter[Any]) -> int:
    return sum(abs(some[key] - others[key]) for key in some.keys() | others.keys())
