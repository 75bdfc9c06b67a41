"""Lines are cut where editors cut them, whatever their length and wherever the chunks end."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import lines as reading
from assay.lines import Line, bounded_lines, read_lines


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
    expected = [(number, line.strip()) for number, line in enumerate(text.split(b"\n"), start=1) if line.strip()]
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


def test_bounded_lines_keep_the_count_and_show_which_are_too_long():
    stream = io.BytesIO(b"one\n\n" + b"x" * 700_000 + b"\ntwo")
    assert [len(line) for line in bounded_lines(stream, keep_bytes=10)] == [4, 1, 12, 3]


def test_bounded_lines_begin_without_a_byte_order_mark():
    stream = io.BytesIO(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo")
    assert list(bounded_lines(stream, keep_bytes=10)) == [b"one\n", b"\xef\xbb\xbftwo"]
