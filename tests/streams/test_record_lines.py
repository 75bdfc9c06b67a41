"""Lines are cut where editors cut them, and sent byte for byte."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import Unreadable
from streams import record_lines as reading
from streams.record_lines import Line, read_lines
from streams.record_sender import send_records
from tests.support.scenarios import Place
from tests.support.traffic import first_of, record


async def read(path: Path, keep_bytes: int = 1000) -> list[Line]:
    with path.open("rb", buffering=0) as stream:
        return [line async for line in read_lines(stream, keep_bytes=keep_bytes)]


@settings(deadline=None, max_examples=60)
@given(
    parts=st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\r\n", b" ", b"c" * 50, "é".encode()]), max_size=40),
    chunk=st.integers(1, 9),
)
async def test_lines_are_those_of_the_whole_text(tmp_path_factory, parts, chunk):
    text = b"".join(parts)
    path = tmp_path_factory.mktemp("lines") / "in"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_CHUNK_BYTES", chunk)
        found = await read(path)
    expected = [(number, line.rstrip(b"\r")) for number, line in enumerate(text.split(b"\n"), start=1) if line.strip()]
    assert [(line.number, line.data) for line in found] == expected


async def test_of_a_line_without_end_only_the_beginning_is_kept(tmp_path):
    path = tmp_path / "in"
    with path.open("wb") as file:
        file.write(b"x" * 3_000_000 + b"\n{}\n")
    long, short = await read(path, keep_bytes=100)
    assert (len(long.data), long.length) == (101, 3_000_001)
    assert (short.number, short.data, short.end) == (2, b"{}", 3_000_004)


async def test_a_pipe_is_read_as_it_fills():
    output, into = os.pipe()
    with os.fdopen(output, "rb", buffering=0) as stream, os.fdopen(into, "wb", buffering=0) as writer:
        found = read_lines(stream, keep_bytes=100)
        writer.write(b"one\ntw")
        assert (await anext(found)).data == b"one"
        writer.write(b"o\n")
        assert (await anext(found)).data == b"two"
        writer.close()
        with pytest.raises(StopAsyncIteration):
            await anext(found)


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("layout", [{"indent": 2}, {"indent": "\t", "separators": (" ,", ": ")}], ids=str)
async def test_a_record_over_several_lines_is_one_fault_and_costs_no_other_record(tmp_path, start, layout):
    record = {"kind": "generation", "source": "s", "model": "m", "response": "r", "contexts": ["a", {"text": "b"}]}
    whole, laid_out = json.dumps(record).encode(), json.dumps(record, **layout).encode()
    cut = whole[:20]
    path = tmp_path / "in"
    path.write_bytes(start + b"\n".join([laid_out, laid_out, b"rubbish", whole, cut, b"  " + whole, b"", whole]))
    found = []
    for line in await read(path):
        try:
            line.record(max_bytes=1000)
            found.append("record")
        except Unreadable as error:
            found.append(error.detail)
    several = f"a record must be on one line; this one takes {len(laid_out.splitlines())}"
    assert found[:2] == [several, several]
    assert [detail[:23] for detail in found[2:5]] == ["not JSON at column 1: E", "record", "not JSON at column 10: "]
    assert found[5:] == ["record", "record"]


@pytest.mark.parametrize(
    ("separator", "lines"), [(",\n ", 5), (",\n", 5), (",\n\n", 8)], ids=["indented", "not indented", "blank lines"]
)
async def test_an_array_of_records_is_told_as_one(tmp_path, separator, lines):
    record = json.dumps({"kind": "generation", "source": "s", "model": "m", "response": "r"})
    path = tmp_path / "in"
    path.write_text(f"[{separator.join([record] * 4)}\n]\n{record}\n[12:30] started\n{record}", "utf-8")
    array, *after = await read(path)
    with pytest.raises(Unreadable, match=f"a record must be on one line; a JSON array takes {lines}$"):
        array.record(max_bytes=1000)
    assert [line.data.decode() for line in after] == [record, "[12:30] started", record]


async def test_lines_are_sent_byte_for_byte_and_faulty_ones_refused_with_their_number(prepared: Place, tmp_path):
    settings, path = prepared.checked(), tmp_path / "in"
    odd = b'  {"kind":"generation", "source":"s","model":"m","response":"\xc3\xa4"}'
    refused: list[tuple[int, str]] = []
    lines = [odd + b"\r", b"", b'{"kind":"x"}', b"{", b' "kind": "generation"', b"}", record(1)]
    path.write_bytes(b"\n".join(lines))
    with path.open("rb", buffering=0) as file:
        found = read_lines(file, keep_bytes=1000)
        assert await send_records(settings, found, lambda *one: refused.append(one)) == 2
    assert [(line, why.partition(":")[0]) for line, why in refused] == [(3, "unknown_kind"), (4, "not_json")]
    assert sorted(await first_of(prepared.servers, settings.topics.outputs, 2)) == sorted([odd, record(1)])
