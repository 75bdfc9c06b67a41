"""Dead letters come back whole; what is none is named."""

import asyncio

from structlog.testing import capture_logs

from schemas import DeadLetter, Origin
from streams.replay import Replayed, read_dead_letters, replay
from streams.settings import StreamSettings
from tests.support.checkers import Accept
from tests.support.scenarios import Place
from tests.support.traffic import collect, put, record
from tests.support.workers import agents_here, checking, worker_here


async def test_what_is_no_dead_letter_is_named_by_its_place_and_passed_over(place: Place):
    settings = await asyncio.to_thread(place.prepare, place.settings())
    at = Origin(topic=settings.topics.outputs, partition=0, offset=0)
    letter = DeadLetter.of(b"{", reason="not_json", detail="broken", origin=at, checker="any", keep_bytes=100)
    torn = [letter.model_copy(update={field: "no base64"}) for field in ("payload_base64", "key_base64")]
    messages = [b"{", b'{"id": 1}', None, *(one.model_dump_json().encode() for one in (*torn, letter))]
    await put(place.servers, settings.topics.dead_letter, messages)
    with capture_logs() as logged:
        found = [one.id async for one, _ in read_dead_letters(settings)]
    assert found == [letter.id]
    assert [one["event"] for one in logged] == ["not a dead letter, it is skipped"] * 4
    assert len({(one["partition"], one["offset"]) for one in logged}) == 4


async def test_a_truncated_dead_letter_is_fetched_whole_from_where_it_stood(place: Place):
    raw = place.settings(records={"max_bytes": 2000})
    settings = await asyncio.to_thread(place.prepare, raw)
    long = record(1, response="word " * 150_000)
    await put(place.servers, settings.topics.outputs, [long])
    async with agents_here([checking(Accept())], raw):
        seen = await collect(place.servers, settings.topics, letters=1)
        (letter,) = seen.letters.values()
        assert letter.truncated
        assert letter.payload == long[:700_000]
    # As long as no longer one is allowed, it would be a dead letter again.
    assert [each.status for each in await _all(settings)] == ["unreadable"]
    longer = place.settings()
    async with worker_here([Accept()], longer):
        (done,) = await _all(StreamSettings.model_validate(longer))
        assert done.status == "replayed"
        seen = await collect(place.servers, settings.topics, records=1)
        assert set(seen.verdicts) == {"r1"}


async def _all(settings: StreamSettings, **options) -> list[Replayed]:
    return [each async for each in replay(settings, **options)]
