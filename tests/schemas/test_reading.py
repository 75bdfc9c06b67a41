"""Reading: any bytes are a record or an answer why not, never another exception."""

import json
import time
from random import Random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import DeadLetterReason, Envelope, Unreadable, read_record
from tests.support.malformed import MAX_BYTES, REASONS, SHAPES
from tests.support.record_strategies import documents, json_values

MAX_DETAIL = 2000

MINIMAL = {"kind": "generation", "source": "minutes", "model": "acme-chat-4", "response": "It was approved."}


def refused(data: bytes | None, *, max_bytes: int = MAX_BYTES) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        read_record(data, max_bytes=max_bytes)
    return caught.value


def read_or_refuse(data: bytes | None, *, max_bytes: int = MAX_BYTES) -> Unreadable | None:
    """Read `data`; whatever is wrong with it is a known reason with a detail of bounded length."""
    try:
        assert isinstance(read_record(data, max_bytes=max_bytes), Envelope)
    except Unreadable as unreadable:
        fault = unreadable
    else:
        return None
    assert fault.reason in get_args(DeadLetterReason)
    assert 0 < len(fault.detail) <= MAX_DETAIL
    assert fault.detail.isprintable()
    return fault


@given(st.none() | st.binary(max_size=300))
def test_any_bytes_are_a_record_or_unreadable(data):
    read_or_refuse(data)


@given(documents, st.data())
def test_a_record_with_any_field_replaced_is_a_record_or_unreadable(document, data):
    field = data.draw(st.sampled_from(sorted(document)))
    read_or_refuse(json.dumps({**document, field: data.draw(json_values)}).encode())


@given(documents, st.data())
def test_a_record_with_any_byte_replaced_is_a_record_or_unreadable(document, data):
    whole = bytearray(json.dumps(document).encode())
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(whole))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_every_malformed_shape_is_refused_with_its_reason(shape, seed):
    fault = read_or_refuse(SHAPES[shape](Random(seed)))
    assert fault is not None
    assert fault.reason == REASONS[shape]


def test_a_message_of_exactly_the_limit_is_read():
    data = json.dumps(MINIMAL).encode()
    assert read_record(data, max_bytes=len(data)).source == "minutes"
    assert refused(data, max_bytes=len(data) - 1).reason == "oversized"


def test_nesting_up_to_the_limit_is_read():
    nested = json.loads("[" * 63 + "]" * 63)
    read_record(json.dumps({**MINIMAL, "extra": nested}).encode(), max_bytes=MAX_BYTES)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'\xef\xbb\xbf{"kind": "generation"}', "not JSON at column 1: Unexpected UTF-8 BOM"),
        (b'{"a": }', "not JSON at column 7:"),
        (b"[{}, {}]", "no JSON object; expected one with a 'kind' for each record"),
        (
            json.dumps({**MINIMAL, "response": 1, "respons": "x", "context": []}).encode(),
            "the record has the unknown field 'context' (did you mean 'contexts'?)",
        ),
        (
            json.dumps({"kind": "generation", "source": "s", "model": "m", "respons": "x"}).encode(),
            "Field required; the record has the unknown field 'respons' (did you mean 'response'?)",
        ),
    ],
)
def test_a_usual_slip_is_named(data, said):
    assert said in refused(data).detail


@pytest.mark.parametrize(
    "document",
    [
        {**MINIMAL, "contexts": [5] * 300_000},
        {**MINIMAL, "extra": "[" * 900_000},
        {**MINIMAL, "extra": [1.5] * 150_000},
        {**MINIMAL, "response": '"\\' * 200_000},
    ],
    ids=["bad_items", "brackets_in_text", "numbers", "escapes"],
)
def test_a_megabyte_is_read_or_refused_without_holding_up_the_event_loop(document):
    data = json.dumps(document).encode()
    started = time.thread_time()
    fault = read_or_refuse(data, max_bytes=2**20)
    assert fault is None or fault.reason == "invalid_record"
    assert time.thread_time() - started < 2
