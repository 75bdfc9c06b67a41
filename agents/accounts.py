"""The fate of each message on the outputs topic, by checker and hour, counted from the topics themselves."""

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, get_args

import orjson

from agents.routing import Head, RoutingSettings, read_head
from checkers.checker import NOBODY
from checkers.wording import plain
from models.wording import counted
from schemas import DeadLetterReason, Envelope, Unreadable, read_record
from streams.clients import Received
from streams.messages import recheck_of
from streams.settings import StreamSettings

UNCHECKED: Final = "unchecked"  # Instead of a checker's name, for messages that cannot be read.
COLUMNS: Final = ("decided", "abstained", "skipped", "dead_letters", "held", "missing")  # All fates.
_SKIPPED: Final = ("route", "sample")
_MOST_NAMED: Final = 1000  # Missing records that are named; all are counted.
_NAMED: Final = 20  # Of these, so many are shown to a person.
_TITLES: Final = {UNCHECKED: "(cannot be read by any checker)", NOBODY: "(of a kind that no checker checks)"}
_UNREADABLE: Final = frozenset(get_args(DeadLetterReason)) - {"checker_failed", "undeliverable"}


class Accounts:
    """The messages of some time by their fate: reads the answers first, in any order, then the messages."""

    def __init__(
        self,
        since: datetime,
        settings: StreamSettings,
        checkers: Mapping[str, Collection[str]],
        finished: Mapping[str, Mapping[int, tuple[int, int]]],
        *,
        routing: RoutingSettings,
        checked_kinds: Collection[str] | None,
    ) -> None:
        """`checkers`: the kinds that each checks; `finished`: by partition, the offset that each began at, and its own.

        Unless `checked_kinds` is None, unreadable messages and those of other kinds are accounted for, too.
        """
        self.since = since
        self.messages = 0  # On the topic in that time.
        # By checker and hour; skipped ones by reason, and kinds that it does not check as `others`.
        self.fates: defaultdict[tuple[str, datetime], Counter[str]] = defaultdict(Counter)
        self.named: list[dict[str, Any]] = []  # The first of those that are missing.
        self.begins_later = False  # Answers from the beginning of the time are deleted already.
        self._topics = settings.topics
        self._max_bytes = settings.records.max_bytes
        self._checkers, self._finished = checkers, finished
        self._routing = routing
        self._checked_kinds = checked_kinds
        self._answers = sqlite3.connect("", isolation_level=None)
        # All in one transaction: one for each answer takes ten times as long.
        self._answers.executescript(
            "PRAGMA journal_mode = OFF; CREATE TABLE answer (partition INTEGER, at INTEGER, checker TEXT, fate TEXT, "
            "mark TEXT, PRIMARY KEY (partition, at, checker, mark)) WITHOUT ROWID; BEGIN"
        )

    def close(self) -> None:
        self._answers.close()

    @property
    def missing(self) -> int:
        return sum(each["missing"] for each in self.fates.values())

    @property
    def checkers(self) -> list[str]:
        return sorted({checker for checker, _ in self.fates})

    def rows(self, checker: str) -> Iterator[dict[str, Any]]:
        """The hours of a checker in which it received something, in order."""
        for (name, hour), fates in sorted(self.fates.items()):
            row = {each: fates[each] for each in COLUMNS} | {"skipped": sum(fates[each] for each in _SKIPPED)}
            if name == checker and any(row.values()):
                yield {"hour": hour, "received": sum(row.values())} | row

    def summary(self) -> Mapping[str, Any]:
        """All figures, as JSON has them."""
        return {
            "since": self.since,
            "messages": self.messages,
            "accounts": [
                {"checker": name, **row, "skipped": {each: self.fates[name, row["hour"]][each] for each in _SKIPPED}}
                for name in self.checkers
                for row in self.rows(name)
            ],
            "others": {name: sum(self.fates[each]["others"] for each in self.fates if each[0] == name)
                       for name in self.checkers},
            "missing": self.named,
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """The figures for a person."""
        since = f"{self.since:%Y-%m-%d %H:%M}Z"
        if self.begins_later:
            yield f"Answers from before {since} are deleted already; the accounts begin there."
        columns = ("received", *COLUMNS)
        for checker in self.checkers:
            rows = [*self.rows(checker)]
            if not rows and checker in _TITLES:
                continue
            yield _TITLES.get(checker, checker)
            yield f"  {'hour, UTC':<16}" + "".join(f"{name.replace('_', ' '):>14}" for name in columns)
            for row in [*rows, {name: sum(row[name] for row in rows) for name in columns}]:
                hour = f"{row['hour']:%Y-%m-%d %H:%M}" if "hour" in row else "all"
                yield f"  {hour:<16}" + "".join(f"{row[name]:>14,}" for name in columns)
        yield f"{counted(self.messages, 'message')} on {self._topics.outputs} since {since}."
        if not self.checkers:
            yield "No checker was running."
        elif not self.missing:
            yield "Nothing is missing."
        else:
            missing = f"{counted(self.missing, 'answer')} missing"
            yield f"{missing}: lost, or skipped by rules that have changed since ([[routing.rules]])."
            for each in self.named[:_NAMED]:
                at = f"{self._topics.outputs}[{each['partition']}]@{each['offset']}"
                record = plain(each["record_id"]) or "unreadable"
                yield f"  {record}  {plain(each['source'])}  by {each['checker']}  {at}"
            if self.missing > _NAMED:
                yield "  … (--json names up to 1,000)"

    def answer(self, topic: str, value: bytes | None) -> None:
        """Note a verdict or a dead letter; repeats with one origin are one answer."""
        try:
            found = orjson.loads(value or b"")
            origin = found["origin"]
            place = int(origin["partition"]), int(origin["offset"])
            if origin["topic"] != self._topics.outputs:
                return
            if topic == self._topics.dead_letter:
                fate, mark = "unreadable" if found["reason"] in _UNREADABLE else "dead_letters", found["payload_sha256"]
            else:
                fate, mark = "abstained" if topic == self._topics.abstained else "decided", found["record_id"]
            row = *place, str(found["checker"]), fate, str(mark)
            self._answers.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)", row)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, OverflowError):
            # Anything else on these topics is not an answer.
            return

    def message(self, message: Received) -> None:
        """Account for a message of the outputs topic, of which all answers are noted."""
        self.messages += 1
        hour = datetime.fromtimestamp(max(0, message.timestamp or 0) // 3_600_000 * 3600, UTC)
        place = message.partition, message.offset
        found = self._answers.execute(
            "SELECT checker, fate, mark FROM answer WHERE partition = ? AND at = ?", place
        ).fetchall()
        # By checker and mark: a topic that was deleted and created again had other records at the same offsets.
        answers = {(checker, mark): fate for checker, fate, mark in found}
        content = hashlib.sha256(message.value or b"").hexdigest() if answers else ""
        # It was unreadable then, whatever this version can read.
        dead = any(fate == "unreadable" and mark == content for (_, mark), fate in answers.items())
        record = None if dead else self._read(message.value)
        kind = None if record is None else record.kind  # type: ignore[union-attr]  # every record has one
        asked = recheck_of(message.headers)
        for checker, kinds in self._checkers.items():
            fate = "others"
            if record is not None and kind in kinds and asked in {None, checker}:
                # An answer beats the draw: rules may have been others then. A record that failed, and was decided when
                # it was read again after a crash, is decided.
                answer = answers.get((checker, record.id)) or answers.get((checker, content))
                fate = answer or self._unanswered(checker, record, *place, by_rules=asked is None)
            self._count(checker, hour, fate, place, record)
        if self._checked_kinds is None or kind in self._checked_kinds:
            return
        held = any(place[1] >= self._finished[checker].get(place[0], (0, 0))[1] for checker in self._checkers)
        unanswered = "held" if held else "missing"
        if record is None:
            self._count(UNCHECKED, hour, "dead_letters" if dead else unanswered, place)
        else:
            self._count(NOBODY, hour, answers.get((NOBODY, record.id)) or unanswered, place, record)

    def _read(self, value: bytes | None) -> Envelope | Head | None:
        """The record, or the head of an invalid one that every checker's rules skip: none reads it in full."""
        try:
            return read_record(value, max_bytes=self._max_bytes)
        except Unreadable:
            pass
        if (head := read_head(value, self._max_bytes)) is None:
            return None
        takers = [checker for checker, kinds in self._checkers.items() if head.kind in kinds]
        return head if takers and all(self._routing.left_out(checker, head) for checker in takers) else None

    def _unanswered(self, checker: str, record: Envelope | Head, partition: int, offset: int, *, by_rules: bool) -> str:
        """The fate of a record without an answer."""
        began, finished = self._finished[checker].get(partition, (0, 0))
        if offset < began:
            return "others"
        if offset >= finished:
            return "held"
        return (self._routing.left_out(checker, record) if by_rules else None) or "missing"

    def _count(
        self, checker: str, hour: datetime, fate: str, place: tuple[int, int], record: Envelope | Head | None = None
    ) -> None:
        self.fates[checker, hour][fate] += 1
        if fate == "missing" and len(self.named) < _MOST_NAMED:
            source, record_id = ("", "") if record is None else (record.source, record.id)
            named = {"checker": checker, "source": source, "record_id": record_id}
            self.named.append(named | {"partition": place[0], "offset": place[1]})
