"""Replaying dead letters: each goes back onto its topic, whole, and once."""

import base64
import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import structlog
from pydantic import ValidationError

from schemas import DeadLetter, DeadLetterReason, Unreadable, read_record
from streams.lookup import RecordLookup
from streams.messages import REPLAYED_FROM, Outgoing, Publisher, TooLarge
from streams.settings import StreamSettings
from streams.topic_reader import read_topic

_log = structlog.get_logger(__name__)

_MARK = "assay-replayed"
"""Header of the note, keyed like the letter, that it was replayed; its value is the letter's id."""

Status = Literal["replayed", "replayed_before", "unreadable", "payload_lost", "too_large"]
"""`unreadable`: what made it a dead letter is its bytes, which a replay cannot change."""


class Replayed(NamedTuple):
    """The result of replaying one dead letter."""

    letter: DeadLetter
    status: Status
    detail: str = ""
    """Why it was not replayed; quotes nothing of the message."""


async def read_dead_letters(
    settings: StreamSettings, *, reasons: Collection[DeadLetterReason] = (), ids: Collection[str] = ()
) -> AsyncIterator[tuple[DeadLetter, bool]]:
    """The dead letters on their topic now, each once, and whether each was replayed before.

    Only those with these `reasons` and `ids`, if any are given. Only the id of each letter is kept in memory.
    """
    seen, replayed = set[str](), set[str]()
    async for message in read_topic(settings.kafka, settings.topics.dead_letter):
        if message.value is None:
            replayed.update(value.decode() for name, value in message.headers if name == _MARK)
    async for message in read_topic(settings.kafka, settings.topics.dead_letter):
        if message.value is None:
            continue
        try:
            letter = DeadLetter.model_validate_json(message.value)
        except ValidationError:
            _log.warning("not a dead letter, it is skipped", partition=message.partition, offset=message.offset)
            continue
        # Each redelivery wrote one more.
        if letter.id in seen or (reasons and letter.reason not in reasons) or (ids and letter.id not in ids):
            continue
        seen.add(letter.id)
        yield letter, letter.id in replayed


async def replay(
    settings: StreamSettings,
    *,
    reasons: Collection[DeadLetterReason] = (),
    ids: Collection[str] = (),
    repaired: Mapping[str, bytes] = MappingProxyType({}),
) -> AsyncIterator[Replayed]:
    """Put dead letters back onto the topics they came from; what became of each, one by one.

    A letter is replayed once: a note next to it says so, and a second call skips it. Ended between the two, a replay
    may repeat one message, whose verdict then has the same id. A message that would be unreadable again is skipped.
    `repaired`: the payload to send instead, by the letter's id; the others as in `read_dead_letters`.

    Raises:
        StreamError: no broker answered, or there is no topic of dead letters; what was yielded is done.
    """
    async with Publisher(settings).running() as publisher:
        async for letter, before in read_dead_letters(settings, reasons=reasons, ids=ids):
            payload = None if before else repaired.get(letter.id) or await _original(settings, letter)
            if before:
                yield Replayed(letter, "replayed_before")
            elif payload is None:
                at = f"{letter.origin.topic}[{letter.origin.partition}]@{letter.origin.offset}"
                yield Replayed(letter, "payload_lost", f"only its beginning was kept, and {at} no longer holds it")
            elif letter.id not in repaired and _is_unreadable(settings, letter, payload):
                yield Replayed(letter, "unreadable")
            else:
                mark = letter.id.encode()
                key = None if letter.key_base64 is None else base64.b64decode(letter.key_base64)
                try:
                    await publisher.publish(Outgoing(letter.origin.topic, key, payload, [(REPLAYED_FROM, mark)]))
                except TooLarge as error:
                    yield Replayed(letter, "too_large", f"{error}; the producer takes less")
                    continue
                await publisher.publish(Outgoing(settings.topics.dead_letter, mark, None, [(_MARK, mark)]))
                yield Replayed(letter, "replayed")


def _is_unreadable(settings: StreamSettings, letter: DeadLetter, payload: bytes) -> bool:
    if letter.origin.topic != settings.topics.outputs:
        return letter.reason not in ("checker_failed", "undeliverable")
    try:
        read_record(payload, max_bytes=settings.records.max_bytes)
    except Unreadable:
        return True
    return False


async def _original(settings: StreamSettings, letter: DeadLetter) -> bytes | None:
    if not letter.truncated:
        return letter.payload
    async with RecordLookup(settings).running() as lookup:
        payload = await lookup.read(letter.origin)
    same = payload is not None and hashlib.sha256(payload).hexdigest() == letter.payload_sha256
    return payload if same else None
