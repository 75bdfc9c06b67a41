"""What one endpoint accepts: which form of structured output, and which name of the token limit.

Endpoints differ and do not announce it; it is learned from their first refusal.
"""

import re
from typing import Any, Literal

import orjson
from pydantic import BaseModel

from checkers.oracle.protocol import Message
from checkers.oracle.settings import Structured

Mode = Literal["json_schema", "json_object", "none"]

_STEP_DOWN: dict[Mode, Mode] = {"json_schema": "json_object", "json_object": "none"}
_FORMAT_REFUSED = re.compile(r"response_format|json_schema|json_object|structured output|guided_json", re.IGNORECASE)
_LIMIT_REFUSED = re.compile(r"max_completion_tokens")


class Dialect:
    """What an endpoint is known to accept."""

    def __init__(self, structured: Structured) -> None:
        self._learns_format = structured == "auto"
        self.mode: Mode = "json_schema" if structured == "auto" else structured
        self.limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
        self._forms: dict[type[BaseModel], _Form] = {}

    def request(self, messages: tuple[Message, ...], reply: type[BaseModel], max_tokens: int | None) -> dict[str, Any]:
        """The part of a request that depends on the endpoint: messages, form of the reply, token limit."""
        form = self._forms.get(reply)
        if form is None:
            form = self._forms[reply] = _Form(reply)
        if self.mode != "json_schema":
            messages = _with_instruction(messages, form.instruction)
        request: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in messages]
        }
        if self.mode != "none":
            request["response_format"] = form.formats[self.mode]
        if max_tokens is not None:
            request[self.limit_key] = max_tokens
        return request

    def concede(self, refusal: str, asked: dict[str, Any]) -> bool:
        """True if `asked` can be sent in another form after the endpoint's `refusal`; later requests have that form."""
        if "max_tokens" in asked and _LIMIT_REFUSED.search(refusal):
            self.limit_key = "max_completion_tokens"
            return True
        used: Mode = asked.get("response_format", {}).get("type", "none")
        if self._learns_format and used in _STEP_DOWN and _FORMAT_REFUSED.search(refusal):
            # Of many that were refused at once, only the first changes the mode.
            if self.mode == used:
                self.mode = _STEP_DOWN[used]
            return True
        return False


class _Form:
    def __init__(self, reply: type[BaseModel]) -> None:
        schema = reply.model_json_schema()
        _make_strict(schema)
        json_schema = {"name": reply.__name__, "strict": True, "schema": schema}
        self.formats: dict[Mode, dict[str, Any]] = {
            "json_schema": {"type": "json_schema", "json_schema": json_schema},
            "json_object": {"type": "json_object"},
        }
        self.instruction = (
            "Reply with a single JSON object and nothing else. It must match this JSON schema:\n"
            f"{orjson.dumps(schema).decode()}"
        )


def _make_strict(schema: Any) -> None:
    """Require every property, and allow no others and no defaults, as strict structured output demands."""
    if isinstance(schema, list):
        for part in schema:
            _make_strict(part)
    elif isinstance(schema, dict):
        schema.pop("default", None)
        if isinstance(schema.get("properties"), dict):
            schema["required"] = list(schema["properties"])
            schema["additionalProperties"] = False
        for part in schema.values():
            _make_strict(part)


def _with_instruction(messages: tuple[Message, ...], instruction: str) -> tuple[Message, ...]:
    if messages and messages[0].role == "system":
        return (Message("system", f"{messages[0].content}\n\n{instruction}"), *messages[1:])
    return (Message("system", instruction), *messages)
