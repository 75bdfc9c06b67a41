"""Traces: the ids of the producer's call, from the record or from its message's headers."""

import json

import pytest
from hypothesis import given

from schemas import Generation, Trace, Verdict, read_record, to_json
from tests.schemas.test_verdicts import FIELDS
from tests.support.record_strategies import json_values

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE_ID}-{SPAN_ID}-01".encode()
MINIMAL = {"kind": "generation", "source": "minutes", "model": "acme-chat-4", "response": "It was approved."}


def _read(trace: object) -> Generation:
    record = read_record(json.dumps({**MINIMAL, "trace": trace}).encode(), max_bytes=10**6)
    assert isinstance(record, Generation)
    return record


def test_a_record_and_its_verdict_carry_a_trace():
    trace = {"trace_id": TRACE_ID, "span_id": SPAN_ID, "response_id": "resp-7"}
    assert json.loads(to_json(_read(trace)))["trace"] == trace
    verdict = Verdict.model_validate({**FIELDS, "outcome": "accept", "score": 1, "trace": trace, "tenant": "acme"})
    assert json.loads(to_json(verdict))["trace"] == trace


@given(json_values)
def test_a_trace_that_is_none_is_left_out_and_the_record_is_read(value):
    found = _read(value).trace
    assert found is None or isinstance(value, dict)


@pytest.mark.parametrize(
    "headers",
    [
        [("ce_traceparent", PARENT)],
        [("traceparent", b"00-" + b"1" * 32 + b"-" + b"2" * 16 + b"-00"), ("ce_traceparent", PARENT)],
        [("ce_traceparent", b"nothing"), ("traceparent", PARENT), ("other", None)],
        [("traceparent", b"01" + PARENT[2:] + b"-what-comes-later")],
    ],
)
def test_the_events_own_traceparent_comes_first_and_a_later_version_may_say_more(headers):
    assert Trace.of_headers(headers) == Trace(trace_id=TRACE_ID, span_id=SPAN_ID)


@pytest.mark.parametrize(
    "value",
    [None, b"ff" + PARENT[2:], PARENT + b"-more", PARENT.upper(), f"00-{'0' * 32}-{SPAN_ID}-01".encode()],
)
def test_forbidden_traceparents_are_passed_over(value):
    assert Trace.of_headers([("traceparent", value)]) is None
