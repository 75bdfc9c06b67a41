"""Sessions: which records are turns of the same one, and what was said before each."""

from collections.abc import Sequence
from typing import TypeVar

from cachetools import LRUCache

from schemas import Envelope, Generation, Turn
from schemas.turns import MOST_TURNS

_MOST_SESSIONS = 10_000
"""Of a file; of more, the ones silent for longest are forgotten."""

RecordT = TypeVar("RecordT", bound=Envelope)


def session_of(record: Envelope) -> tuple[str, str, str] | None:
    """Tenant, source and session of a record that is a turn, else None; sources and tenants have their own sessions."""
    if not isinstance(record, Generation) or record.session is None:
        return None
    return record.tenant or "", record.source, record.session


def before(turns: Sequence[Turn], record_id: str) -> Sequence[Turn]:
    """The turns before that of a record; all of them if it is none of them yet."""
    at = next((at for at, turn in enumerate(turns) if turn.record_id == record_id), len(turns))
    return turns[:at]


class Sessions:
    """Those of the records of a file, in its order."""

    def __init__(self) -> None:
        self._turns: LRUCache[tuple[str, str, str], list[Turn]] = LRUCache(_MOST_SESSIONS)

    def follow(self, record: RecordT) -> RecordT:
        """The record behind the turns before it, and from now on one of them; each id is one turn."""
        if not isinstance(record, Generation) or (key := session_of(record)) is None:
            return record
        turns = self._turns.setdefault(key, [])
        earlier = before(turns, record.id)
        if len(earlier) == len(turns):
            self._turns[key] = [*turns, record.turn][-MOST_TURNS - 1 :]
        return record.after(tuple(earlier[-MOST_TURNS:]))
