"""Names of attributes: OpenTelemetry's GenAI conventions, OpenInference's and Traceloop's, the first that is there."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

Field: TypeAlias = Literal["source", "model", "prompt", "response", "session", "tenant", "tool", "arguments", "result"]
"""A field of a record that is read from an attribute."""

FIELDS: Mapping[Field, tuple[str, ...]] = {
    "source": ("service.name",),
    "model": ("gen_ai.request.model", "llm.model_name", "gen_ai.response.model"),
    "prompt": (),
    "response": (),
    "session": ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id"),
    "tenant": ("assay.tenant",),
    "tool": ("gen_ai.tool.name", "tool.name"),
    "arguments": ("gen_ai.tool.call.arguments", "input.value"),
    "result": ("gen_ai.tool.call.result", "output.value"),
}
"""Attributes of the span, else of its resource. Prompts and responses are in messages; the last three are a tool's."""

METADATA = (
    "gen_ai.response.model",
    "gen_ai.prompt.name",
    "gen_ai.prompt.version",
    "gen_ai.agent.name",
    "gen_ai.agent.version",
    "service.version",
    "deployment.environment.name",
)
"""Kept in the record's metadata under the same names."""

RESPONSE_ID = "gen_ai.response.id"
PROVIDER = "gen_ai.provider.name"
SERVICE = "service.name"
COMPACTED = "gen_ai.conversation.compacted"

GENERATIONS: Mapping[str, frozenset[str]] = {
    "gen_ai.operation.name": frozenset({"chat", "text_completion", "generate_content"}),
    "openinference.span.kind": frozenset({"LLM"}),
    "llm.request.type": frozenset({"chat", "completion"}),
}
"""Calls of a model. Agents and workflows around them say the same again."""

RETRIEVALS: Mapping[str, frozenset[str]] = {
    "gen_ai.operation.name": frozenset({"retrieval", "vector_db_retrieve", "search_memory"}),
    "openinference.span.kind": frozenset({"RETRIEVER"}),
}

TOOLS: Mapping[str, frozenset[str]] = {
    "gen_ai.operation.name": frozenset({"execute_tool"}),
    "openinference.span.kind": frozenset({"TOOL"}),
}
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_DEFINITIONS = ("gen_ai.tool.definitions", "llm.tools", "llm.request.functions")
"""Of a call of a model, the tools that it could call; as one value, else laid out flat."""

SYSTEM = "gen_ai.system_instructions"
INPUT = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
OUTPUT = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
"""As one value, else laid out flat: `llm.output_messages.0.message.content`."""

INPUT_TEXT, INPUT_TYPE = "input.value", "input.mime_type"
OUTPUT_TEXT, OUTPUT_TYPE = "output.value", "output.mime_type"

DOCUMENTS = ("retrieval.documents", "gen_ai.retrieval.documents", "gen_ai.memory.records", "traceloop.entity.output")
QUERY = ("gen_ai.retrieval.query.text", INPUT_TEXT)
