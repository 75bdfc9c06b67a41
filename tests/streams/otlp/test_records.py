"""Calls of models and of tools become records with what they were based on; what is not whole is only counted."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from schemas import Generation, Retrieval, ToolCall, Unreadable, read_record, to_json
from streams.otlp.decoding import Signal, read_request
from streams.otlp.records import Made, RecordMaker
from streams.otlp.settings import OtlpSettings
from tests.support.otlp import (
    START,
    TRACE,
    as_json,
    chat,
    logs,
    message,
    openinference_chat,
    openinference_retrieval,
    pairs,
    span,
    traces,
    value,
)

Encode = Callable[[Any], bytes]
BREAK = {"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": "Monday"}}
RESULT = {"type": "tool_call_response", "id": "c1", "response": {"opens": "09:00"}}
PICTURE = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="}
OTHER_TRACE = "1" * 32


@pytest.fixture(params=["protobuf", "json"])
def encode(request: pytest.FixtureRequest) -> Encode:
    return as_json if request.param == "json" else lambda message: message.SerializeToString()


def _maker(**settings: Any) -> RecordMaker:
    return RecordMaker(OtlpSettings.model_validate(settings), max_bytes=20_000)


def _made(data: bytes, signal: Signal = "traces", **settings: Any) -> Made:
    return _maker(**settings).make(read_request(data, signal))


def _of_spans(*spans: Any, maker: RecordMaker | None = None) -> Made:
    return (maker or _maker()).make(read_request(as_json(traces(*spans)), "traces"))


def _one(data: bytes, signal: Signal = "traces", **settings: Any) -> Generation:
    made = _made(data, signal, **settings)
    assert made.left_out.total() == 0
    (record,) = made.records
    assert isinstance(record, Generation)
    return record


def test_a_call_is_a_record_with_ids_times_and_versions(encode: Encode):
    record = _one(encode(traces(span(7, chat(**{"gen_ai.conversation.id": "c-9", "assay.tenant": "acme"})))))
    assert record.model_dump(mode="json", exclude_defaults=True) == {
        "id": f"{TRACE}-0000000000000007",
        "kind": "generation",
        "task": "answer",
        "source": "shop-chat",
        "model": "acme-chat-4",
        "session": "c-9",
        "tenant": "acme",
        "prompt": "When does the shop open?",
        "response": "It opens at nine.",
        "occurred_at": datetime.fromtimestamp(START / 1e9 + 1, UTC).isoformat().replace("+00:00", "Z"),
        "trace": {"trace_id": TRACE, "span_id": "0000000000000007", "response_id": "resp-7"},
        "metadata": {
            "gen_ai.response.model": "acme-chat-4-0613",
            "service.version": "3.2",
            "deployment.environment.name": "staging",
        },
    }
    assert read_record(to_json(record), max_bytes=20_000) == record


def test_a_log_event_with_the_messages_as_values_is_the_same_record(encode: Encode):
    said = chat() | {
        "gen_ai.input.messages": [message("user", "When does the shop open?")],
        "gen_ai.output.messages": [message("assistant", "It opens at nine.")],
    }
    ids = {"trace_id": bytes.fromhex(TRACE), "span_id": (7).to_bytes(8, "big")}
    time = START + 10**9
    by_attributes = LogRecord(**ids, time_unix_nano=time, attributes=pairs(said))
    by_body = LogRecord(**ids, observed_time_unix_nano=time, body=value(said))
    expected = _one(encode(traces(span(7, chat()))))
    assert _one(encode(logs(by_attributes)), "logs") == _one(encode(logs(by_body)), "logs") == expected


@pytest.mark.parametrize(
    "attributes",
    [
        openinference_chat(("system", "Be brief."), ("user", "Hello."), ("user", "When does the shop open?")),
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "acme-chat-4",
            "input.value": "When does the shop open?",
            "output.value": "It opens at nine.",
        },
        {
            "llm.request.type": "chat",
            "gen_ai.request.model": "acme-chat-4",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "When does the shop open?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "It opens at nine.",
        },
        openinference_chat()
        | {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "When does the shop open?",
        },
    ],
)
def test_openinferences_and_traceloops_names_are_read(encode: Encode, attributes: dict[str, Any]):
    record = _one(encode(traces(span(7, attributes))))
    said = "When does the shop open?", "It opens at nine."
    assert (record.model, record.prompt, record.response) == ("acme-chat-4", *said)


def test_each_choice_is_a_record_and_what_a_model_thought_is_not_part_of_it(encode: Encode):
    thought = message("assistant", {"type": "reasoning", "content": "Hm."}, "At nine.")
    said = chat(**{"gen_ai.output.messages": orjson.dumps([thought, message("assistant", "At ten.")]).decode()})
    records = _made(encode(traces(span(7, said)))).records
    assert {record.id: record.response for record in records} == {
        f"{TRACE}-0000000000000007": "At nine.",
        f"{TRACE}-0000000000000007-1": "At ten.",
    }


def test_documents_retrieved_before_in_the_same_trace_are_the_contexts(encode: Encode):
    maker = _maker()
    documents = openinference_retrieval("opening hours", "Open from nine.", "Closed on Sundays.")
    found = _json({"id": "d9", "content": "Open late in May."})
    by_value = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": found}
    first = [
        span(1, documents, at=0),
        span(2, openinference_retrieval("parking", "Behind the house."), at=0, trace=OTHER_TRACE),
        span(3, by_value, at=1),
        span(4, openinference_retrieval("too late", "Not seen by the model."), at=5),
    ]
    made = maker.make(read_request(encode(traces(*first)), "traces"))
    # The call comes with the next request.
    (record,) = maker.make(read_request(encode(traces(span(9, chat(), at=3))), "traces")).records
    assert record.contexts == ("Open from nine.", "Closed on Sundays.", "Open late in May.")
    assert made.left_out == {"context": 1}
    search = made.records[0]
    assert isinstance(search, Retrieval)
    assert (search.query, search.matched.text, search.matched.id) == ("opening hours", "Open from nine.", "d0")
    assert [each.text for each in search.candidates] == ["Closed on Sundays."]


def test_results_of_tools_and_records_of_memories_are_contexts_by_their_spans_too(encode: Encode):
    tool = {"openinference.span.kind": "TOOL", "output.value": '{"opens":"09:00"}'}
    records = _json({"content": "Likes tea.", "score": 0.7}, {"content": {"city": "Ghent"}})
    memory = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": records}
    nothing = {"gen_ai.operation.name": "execute_tool"}
    other = span(4, tool | {"output.value": "of another trace"}, trace=OTHER_TRACE)
    maker = _maker()
    spans = span(1, tool), span(2, nothing), other, span(9, chat(), at=3)
    made = maker.make(read_request(encode(traces(*spans)), "traces"))
    (record,) = made.records
    assert record.contexts == ('{"opens":"09:00"}',)
    assert made.left_out == {"context": 2, "other": 1}
    # What was looked up comes before what tools answered.
    spans = span(3, memory, at=4), span(10, chat(), at=6)
    (record,) = maker.make(read_request(encode(traces(*spans)), "traces")).records
    assert record.contexts == ("Likes tea.", '{"city":"Ghent"}')


def test_contexts_are_else_what_tools_said_and_else_the_prompt_if_told_so(encode: Encode):
    earlier = [message("system", "We open at nine."), message("user", "I live in Ghent."), message("assistant", "Ah.")]
    tools = [message("assistant", BREAK), message("tool", RESULT)]
    with_tools = encode(traces(span(7, chat(said=[*earlier, *tools]))))
    without = encode(traces(span(7, chat(said=earlier))))
    system = orjson.dumps([{"type": "text", "content": "Be kind."}]).decode()
    instructed = encode(traces(span(7, chat(said=earlier, **{"gen_ai.system_instructions": system}))))
    compacted = encode(traces(span(7, chat(said=earlier, **{"gen_ai.conversation.compacted": True}))))
    assert _one(with_tools, contexts="prompt").contexts == ('{"opens":"09:00"}',)
    assert _one(without).contexts == ()
    assert _one(without, contexts="prompt").contexts == ("We open at nine.", "I live in Ghent.")
    assert _one(instructed, contexts="prompt").contexts == ("Be kind.", "We open at nine.", "I live in Ghent.")
    # The conversation is not whole: what is missing may be what the response is based on.
    assert _one(compacted, contexts="prompt").contexts == ()


def test_attributes_of_the_users_own_come_first(encode: Encode):
    own = {"tenant": ["acme.customer"], "response": ["acme.final"], "source": ["acme.feature"], "prompt": ["acme.ask"]}
    given = {"acme.customer": 12, "acme.final": "At nine.", "acme.feature": "hours", "acme.ask": "When?"}
    record = _one(encode(traces(span(7, chat() | given))), attributes=own)
    assert (record.tenant, record.response, record.source, record.prompt) == ("12", "At nine.", "hours", "When?")
    assert _one(encode(traces(span(7, chat()))), attributes=own).response == "It opens at nine."


def _json(*messages: dict[str, Any]) -> str:
    return orjson.dumps(messages).decode()


def _said(name: str, text: Any) -> dict[str, Any]:
    return chat(**{name: text if isinstance(text, str) else _json(*text)})


CUT = chat("ü" * 300)["gen_ai.input.messages"]


@pytest.mark.parametrize(
    ("reason", "attributes", "more"),
    [
        ("other", {"http.request.method": "GET"}, {}),
        ("other", chat() | {"gen_ai.operation.name": "invoke_agent"}, {}),
        ("own", chat() | {"gen_ai.provider.name": "assay.judge"}, {}),
        ("no_content", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "acme-chat-4"}, {}),
        ("no_content", {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": '[{"id": "d1"}]'}, {}),
        ("not_text", _said("gen_ai.input.messages", [message("user", "What is this?", PICTURE)]), {}),
        ("not_text", _said("gen_ai.output.messages", [message("assistant", "Look:", PICTURE)]), {}),
        *(("truncated", _said("gen_ai.input.messages", CUT[:end]), {}) for end in (2, 40, 200, len(CUT) - 1)),
        ("truncated", chat(), {"dropped_attributes_count": 2}),
        ("unreadable", _said("gen_ai.output.messages", "[}"), {}),
        ("unreadable", _said("gen_ai.output.messages", [message("assistant", {"type": "text", "content": 3})]), {}),
        ("unreadable", {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": "3"}, {}),
        ("unreadable", chat(), {"span_id": b""}),
        ("invalid", chat("When?", "It opens\0 at nine."), {}),
        ("invalid", chat() | {"gen_ai.request.model": "m" * 300}, {}),
        ("oversized", chat("When?", "nine " * 9000), {}),
    ],
)
def test_what_is_not_whole_is_counted_by_reason(encode: Encode, reason: str, attributes: Any, more: Any):
    made = _made(encode(traces(span(7, attributes, **more), span(8, chat()))))
    assert made.left_out == {reason: 1}
    assert [record.id for record in made.records] == [f"{TRACE}-0000000000000008"]


@pytest.mark.parametrize(("service", "scope"), [("assay", "openai"), ("assay-worker", ""), ("shop", "assay")])
def test_the_judges_own_calls_are_never_records(encode: Encode, service: str, scope: str):
    resource = {"service.name": service}
    assert _made(encode(traces(span(7, chat()), resource=resource, scope=scope))).left_out == {"own": 1}
    assert _one(encode(traces(span(7, chat()), resource={"service.name": "assaying"}))).source == "assaying"


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b"{]", b"\x0a\xff", b"nothing", b'{"resourceSpans": {}}', b'{"resourceSpans":[3]}']
)
def test_what_is_no_request_is_told_from_one(data: bytes):
    with pytest.raises(Unreadable):
        read_request(data, "traces")


@given(st.data())
def test_a_request_whose_bytes_are_changed_is_read_counted_or_refused(data: st.DataObject):
    request = traces(span(1, openinference_retrieval("hours", "Open from nine.")), span(7, chat(), at=2))
    changed = bytearray(data.draw(st.sampled_from([as_json(request), request.SerializeToString()])))
    for at, byte in data.draw(st.lists(st.tuples(st.integers(0, len(changed) - 1), st.integers(0, 255)), max_size=4)):
        changed[at] = byte
    try:
        made = _made(bytes(changed[: data.draw(st.integers(0, len(changed)))]))
    except Unreadable:
        return
    assert all(read_record(to_json(record), max_bytes=20_000) == record for record in made.records)


HOURS = {"name": "hours", "description": "Opening hours", "parameters": {"type": "object", "required": ["day"]}}
DEFINITIONS = {"gen_ai.tool.definitions": orjson.dumps([{"type": "function", **HOURS}]).decode()}
ASKED = message("user", "When do you open on Monday?")
CALL = {"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": "Monday"}}


def _calls(made: Made) -> list[ToolCall]:
    for record in made.records:
        assert read_record(to_json(record), max_bytes=20_000) == record
    return [record for record in made.records if isinstance(record, ToolCall)]


def _chat(said: list[dict[str, Any]], *answered: Any, **more: Any) -> dict[str, Any]:
    messages = {"gen_ai.input.messages": _json(*said), "gen_ai.output.messages": _json(message("assistant", *answered))}
    return chat() | messages | DEFINITIONS | more


def _tool(**more: Any) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "hours",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"day": "Monday"}',
        "gen_ai.tool.call.result": '{"opens": "09:00"}',
    } | more


def test_each_call_that_a_model_makes_is_a_record_with_all_that_it_knew():
    earlier = [message("system", "We are closed in May."), message("user", "Hello."), message("assistant", "Hi!")]
    second = CALL | {"id": "c2", "arguments": '{"day": "Sun'}
    documents = span(1, openinference_retrieval("hours", "Open from nine."), at=0)
    made = _of_spans(documents, span(7, _chat([*earlier, ASKED], "Let me look.", CALL, second), at=2))
    first, cut = _calls(made)
    assert (first.id, cut.id) == (f"{TRACE}-0000000000000007-call-1", f"{TRACE}-0000000000000007-call-2")
    assert (first.name, first.arguments, cut.arguments) == ("hours", '{"day":"Monday"}', '{"day": "Sun')
    assert (first.source, first.model, first.prompt) == ("shop-chat", "acme-chat-4", "When do you open on Monday?")
    assert first.contexts == ("We are closed in May.", "Hello.", "Hi!", "Open from nine.")
    assert [tool.model_dump() for tool in first.tools] == [HOURS]
    assert first.result is first.response is None
    assert first.trace
    assert first.trace.span_id == "0000000000000007"
    # What it said besides is a record, too.
    assert [record.response for record in made.records if isinstance(record, Generation)] == ["Let me look."]


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "acme-chat-4",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "When?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "hours",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"day": "Monday"}',
            "llm.tools.0.tool.json_schema": orjson.dumps({"type": "function", "function": HOURS}).decode(),
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "acme-chat-4",
            "gen_ai.input.messages": _json(message("user", "When?")),
            "gen_ai.output.messages": _json(
                message("assistant", {"type": "tool_use", "id": "c1", "name": "hours", "input": '{"day": "Monday"}'})
            ),
            "gen_ai.tool.definitions": orjson.dumps(
                [{"name": "hours", "description": "Opening hours", "input_schema": HOURS["parameters"]}, {"none": 1}, 3]
            ).decode(),
        },
    ],
    ids=["openinference", "anthropic"],
)
def test_the_names_of_other_packages_are_read(attributes: dict[str, Any]):
    (record,) = _calls(_of_spans(span(7, attributes)))
    assert (record.name, record.arguments, record.prompt) == ("hours", '{"day": "Monday"}', "When?")
    assert [tool.model_dump() for tool in record.tools] == [HOURS]


def _result(value: Any, id_: str = "c1", **more: Any) -> dict[str, Any]:
    return message("tool", {"type": "tool_call_response", "id": id_, "response": value, **more})


def test_a_call_that_failed_is_a_record_with_what_was_told_of_it():
    said = [ASKED, message("assistant", CALL), _result({"error": "no such day"})]
    made = _of_spans(span(9, _chat(said, "We open at nine."), at=3))
    (record,) = _calls(made)
    assert record.id == f"{TRACE}-0000000000000009-failed-1"
    assert (record.result, record.is_error, record.response) == ('{"error":"no such day"}', True, "We open at nine.")
    assert (record.arguments, record.prompt) == ('{"day":"Monday"}', "When do you open on Monday?")
    (answer,) = [record for record in made.records if isinstance(record, Generation)]
    assert answer.contexts == ('{"error":"no such day"}',)


@pytest.mark.parametrize(
    ("results", "failed"),
    [
        ([_result({"opens": "09:00"})], False),
        ([_result("It is closed.", is_error=True)], True),
        ([_result({"error": "busy"}), message("assistant", CALL | {"id": "c2"}), _result({"opens": "9"}, "c2")], False),
        ([_result({"opens": "9"}), message("assistant", CALL | {"id": "c2"}), _result({"error": "busy"}, "c2")], True),
        ([_result({"error": "of another call"}, "c7")], False),
        ([{"role": "tool", "tool_call_id": "c1", "content": "ValueError: Monday"}], True),
        ([], False),
    ],
)
def test_only_what_failed_in_the_end_counts_as_failed(results: list[dict[str, Any]], failed: bool):
    said = [ASKED, message("assistant", CALL), *results]
    assert bool(_calls(_of_spans(span(9, _chat(said, "We open at nine."))))) is failed
    # A failure before the last question was told before.
    assert not _calls(_of_spans(span(9, _chat([*said, message("user", "Thanks.")], "You are welcome."))))


def test_a_span_of_a_tool_is_a_record_if_no_model_has_shown_the_call():
    made = _of_spans(span(8, _tool()))
    (record,) = _calls(made)
    assert (record.id, record.name) == (f"{TRACE}-0000000000000008", "hours")
    assert (record.arguments, record.result) == ('{"day": "Monday"}', '{"opens": "09:00"}')
    model = span(7, _chat([ASKED], CALL), at=0)
    seen = _of_spans(model, span(8, _tool(), at=2))
    assert [record.id for record in _calls(seen)] == [f"{TRACE}-0000000000000007-call-1"]
    assert seen.left_out == {"context": 1}
    # LangChain's spans of tools name no call.
    unnamed = {"openinference.span.kind": "TOOL", "tool.name": "hours", "input.value": "{'day': 'Monday'}"}
    assert len(_calls(_of_spans(model, span(8, unnamed, at=2)))) == 1
    # Across requests, too.
    maker = _maker()
    assert len(_calls(_of_spans(model, maker=maker))) == 1
    assert not _calls(_of_spans(span(8, _tool(), at=2), maker=maker))
