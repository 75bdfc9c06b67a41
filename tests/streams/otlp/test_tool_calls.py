"""Calls of tools become records: those that a model makes, those that failed before it answered, and tools alone."""

from typing import Any

import orjson
import pytest

from schemas import Generation, ToolCall, read_record, to_json
from streams.otlp.decoding import read_request
from streams.otlp.records import Made, RecordMaker
from streams.otlp.settings import OtlpSettings
from tests.support.otlp import TRACE, as_json, chat, message, openinference_retrieval, span, traces

HOURS = {"name": "hours", "description": "Opening hours", "parameters": {"type": "object", "required": ["day"]}}
DEFINITIONS = {"gen_ai.tool.definitions": orjson.dumps([{"type": "function", **HOURS}]).decode()}
ASKED = message("user", "When do you open on Monday?")
CALL = {"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": "Monday"}}


def _maker() -> RecordMaker:
    return RecordMaker(OtlpSettings(), max_bytes=20_000)


def _made(*spans: Any, maker: RecordMaker | None = None) -> Made:
    return (maker or _maker()).make(read_request(as_json(traces(*spans)), "traces"))


def _calls(made: Made) -> list[ToolCall]:
    for record in made.records:
        assert read_record(to_json(record), max_bytes=20_000) == record
    return [record for record in made.records if isinstance(record, ToolCall)]


def _said(*messages: dict[str, Any]) -> str:
    return orjson.dumps(list(messages)).decode()


def _chat(said: list[dict[str, Any]], *answered: Any, **more: Any) -> dict[str, Any]:
    messages = {"gen_ai.input.messages": _said(*said), "gen_ai.output.messages": _said(message("assistant", *answered))}
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
    made = _made(documents, span(7, _chat([*earlier, ASKED], "Let me look.", CALL, second), at=2))
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
            "gen_ai.input.messages": _said(message("user", "When?")),
            "gen_ai.output.messages": _said(
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
    (record,) = _calls(_made(span(7, attributes)))
    assert (record.name, record.arguments, record.prompt) == ("hours", '{"day": "Monday"}', "When?")
    assert [tool.model_dump() for tool in record.tools] == [HOURS]


def _result(value: Any, id_: str = "c1", **more: Any) -> dict[str, Any]:
    return message("tool", {"type": "tool_call_response", "id": id_, "response": value, **more})


def test_a_call_that_failed_is_a_record_with_what_was_told_of_it():
    said = [ASKED, message("assistant", CALL), _result({"error": "no such day"})]
    made = _made(span(9, _chat(said, "We open at nine."), at=3))
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
    assert bool(_calls(_made(span(9, _chat(said, "We open at nine."))))) is failed
    # A failure before the last question was told before.
    assert not _calls(_made(span(9, _chat([*said, message("user", "Thanks.")], "You are welcome."))))


def test_a_span_of_a_tool_is_a_record_if_no_model_has_shown_the_call():
    made = _made(span(8, _tool()))
    (record,) = _calls(made)
    assert (record.id, record.name) == (f"{TRACE}-0000000000000008", "hours")
    assert (record.arguments, record.result) == ('{"day": "Monday"}', '{"opens": "09:00"}')
    model = span(7, _chat([ASKED], CALL), at=0)
    seen = _made(model, span(8, _tool(), at=2))
    assert [record.id for record in _calls(seen)] == [f"{TRACE}-0000000000000007-call-1"]
    assert seen.left_out == {"context": 1}
    # LangChain's spans of tools name no call.
    unnamed = {"openinference.span.kind": "TOOL", "tool.name": "hours", "input.value": "{'day': 'Monday'}"}
    assert len(_calls(_made(model, span(8, unnamed, at=2)))) == 1
    # Across requests, too.
    maker = _maker()
    assert len(_calls(_made(model, maker=maker))) == 1
    assert not _calls(_made(span(8, _tool(), at=2), maker=maker))
