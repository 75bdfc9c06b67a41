"""Records from files onto the topic."""

import asyncio
import tempfile
from collections.abc import AsyncIterator

from streams.record_lines import Line, read_lines
from streams.record_sender import send_records
from tests.support.scenarios import Place
from tests.support.traffic import first_of, record


async def lines_of(*lines: bytes) -> AsyncIterator[Line]:
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"\n".join(lines))
        file.seek(0)
        async for line in read_lines(file, keep_bytes=2**20):
            yield line


async def test_lines_are_sent_byte_for_byte_and_faulty_ones_refused_with_their_number(place: Place):
    settings = await asyncio.to_thread(place.prepare, place.settings())
    odd = b'  {"kind":"generation", "source":"s","model":"m","response":"\xc3\xa4"}'
    refused: list[tuple[int, str]] = []
    lines = [odd + b"\r", b"", b'{"kind":"x"}', b"{", b' "kind": "generation"', b"}", record(1)]
    assert await send_records(settings, lines_of(*lines), lambda *one: refused.append(one)) == 2
    assert [(line, why.partition(":")[0]) for line, why in refused] == [(3, "unknown_kind"), (4, "not_json")]
    assert sorted(await first_of(place.servers, settings.topics.outputs, 2)) == sorted([odd, record(1)])
