"""Records: writing and reading them loses nothing, the producer's trace included."""

import json
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas import Envelope, Generation, Trace, Unreadable, Verdict, read_record, to_json
from tests.schemas.test_verdicts import FIELDS
from tests.support.record_strategies import documents, json_values

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE_ID}-{SPAN_ID}-01".encode()
MINIMAL = {"kind": "generation", "source": "minutes", "model": "acme-chat-4", "response": "It was approved."}


def read(document: dict[str, Any], *, max_bytes: int = 10**6) -> Envelope:
    return read_record(json.dumps(document).encode(), max_bytes=max_bytes)


def generation(**fields: Any) -> Generation:
    record = read({**MINIMAL, **fields})
    assert isinstance(record, Generation)
    return record


def kept_of(said: Any, written: Any) -> Any:
    """`written` without what was filled in beside what was said."""
    if isinstance(said, dict) and isinstance(written, dict):
        return {name: kept_of(said[name], written[name]) for name in said if name in written}
    if isinstance(said, list) and isinstance(written, list) and len(said) == len(written):
        return [kept_of(one, other) for one, other in zip(said, written, strict=True)]
    return written


@given(documents)
def test_writing_then_reading_a_record_is_the_identity_and_everything_the_producer_said_is_kept(document):
    record = read(document)
    assert read_record(to_json(record), max_bytes=10**6) == record
    written = json.loads(to_json(record))
    said = {name: value for name, value in document.items() if name != "occurred_at"}
    assert {name: kept_of(said[name], written[name]) for name in said} == said


@given(st.datetimes().filter(lambda moment: 1 < moment.year < 9999), st.integers(-23 * 60, 23 * 60))
def test_a_time_with_a_zone_is_expressed_in_utc(moment, minutes):
    local = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    read_back = generation(occurred_at=local.isoformat()).occurred_at
    assert read_back == local
    assert read_back.utcoffset() == timedelta(0)


@pytest.mark.parametrize("label", [1, 0, True, False, "1", "true", -(2**63)])
def test_a_label_keeps_its_type(label):
    document = {"kind": "labelling", "source": "s", "model": "m", "datapoint": "01", "rubric": "r", "label": label}
    read_back = json.loads(to_json(read(document)))["label"]
    assert (read_back, type(read_back)) == (label, type(label))


def test_the_task_is_told_from_what_is_there():
    assert generation(reference="An article.").effective_task == "summary"
    assert generation(reference="An article.", prompt="What?").effective_task == "answer"
    assert generation(contexts=["A passage."], task="paraphrase").effective_task == "paraphrase"


def test_contexts_may_be_objects_as_retrievers_return_them_and_count_by_their_texts():
    objects = [
        "one",
        {"text": "two", "score": 0.7, "metadata": {"page": 3}},
        {"page_content": "three", "type": "Document"},
        {"id": "9", "text": None, "content": "four", "meta": {}},
    ]
    as_texts = generation(contexts=["one", "two", "three", "four"])
    assert generation(contexts=objects).contexts == as_texts.contexts
    assert generation(contexts=objects).id == as_texts.id
    with pytest.raises(Unreadable, match=r"contexts\.1: an object needs its text .* text, page_content, content"):
        generation(contexts=["one", {"score": 0.7}])


@pytest.mark.parametrize(
    ("fields", "misspelt"),
    [
        ({"context": ["A passage."]}, {"contexts": "context"}),
        ({"refrence": "An article.", "Prompt": "?"}, {"reference": "refrence", "prompt": "Prompt"}),
        ({"context": "kept for ourselves", "contexts": ["A passage."]}, {}),
        ({"sessionId": "1", "response_id": "2", "prompt_version": "3", "label": "accept", "trace": {}, "": 1}, {}),
        ({f"contexts{number}": 1 for number in range(100_000)}, {"contexts": "contexts63"}),
    ],
    ids=["one", "two", "known one is there", "others", "many"],
)
def test_an_unknown_field_that_is_nearly_one_that_the_record_lacks_is_noticed(fields, misspelt):
    assert read({**MINIMAL, **fields}, max_bytes=10**7).misspelt == misspelt


def test_a_name_is_one_line():
    for separator in "\n\r\t\x85\u2028\u2029":
        with pytest.raises(ValidationError):
            Generation.model_validate({**MINIMAL, "source": f"support{separator}bot"})


def test_a_record_and_its_verdict_carry_a_trace():
    trace = {"trace_id": TRACE_ID, "span_id": SPAN_ID, "response_id": "resp-7"}
    assert json.loads(to_json(generation(trace=trace)))["trace"] == trace
    verdict = Verdict.model_validate({**FIELDS, "outcome": "accept", "score": 1, "trace": trace, "tenant": "acme"})
    assert json.loads(to_json(verdict))["trace"] == trace


@given(json_values)
def test_a_trace_that_is_none_is_left_out_and_the_record_is_read(value):
    found = generation(trace=value).trace
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
