"""What verdicts, improvements and alerts have in common, and the way back to the record that one of them is about."""

from typing import Annotated, NamedTuple

import orjson
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from schemas import Envelope, Origin, Unreadable, explain, read_record
from schemas.base import Name, Timestamp
from streams.lookup import RecordLookup
from streams.settings import StreamSettings


class Head(BaseModel):
    """Who said what about whom, and when; the rest of the message is not looked at, whatever its version."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_:-]{1,256}$")]
    """It stands in HTTP headers, and before a full stop in what is signed."""
    checker: Name
    source: Name
    model: Name
    record_id: Name | None = None
    """Absent in an alert, which is about many."""
    origin: Origin | None = None
    """Where the record stands."""
    at: Timestamp = Field(validation_alias=AliasChoices("checked_at", "improved_at", "raised_at"))


class Original(NamedTuple):
    """A record as its producer wrote it."""

    data: bytes
    record: Envelope


def read_head(data: bytes | None) -> Head:
    """The head of a verdict, an improvement or an alert.

    Raises:
        Unreadable: it is none of these; saying why.
    """
    if not data:
        raise Unreadable("empty", "the message is empty; expected a verdict, an improvement or an alert")
    try:
        return Head.model_validate(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise Unreadable("not_json", f"not JSON at line {error.lineno}, column {error.colno}") from None
    except ValidationError as error:
        raise Unreadable("invalid_record", f"no verdict, improvement or alert: {explain(error)}") from None


async def original(lookup: RecordLookup, head: Head, settings: StreamSettings) -> Original | None:
    """The record that `head` is about, or None where it is gone.

    Only the topic of outputs is looked at, whatever the message says. Where it was deleted and made again it holds
    other records at the same places, which are not taken for this one.

    Raises:
        StreamError: no broker told whether it is there.
    """
    if head.origin is None or head.origin.topic != settings.topics.outputs:
        return None
    data = await lookup.read(head.origin)
    if data is None:
        return None
    try:
        record = read_record(data, max_bytes=settings.records.max_bytes)
    except Unreadable:
        return None
    return Original(data, record) if (record.source, record.id) == (head.source, head.record_id) else None
