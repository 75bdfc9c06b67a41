"""Messages that come as events of their own, and the spans of their calls, which come before or after them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cachetools import TTLCache

from streams.otlp import names
from streams.otlp.decoding import Item
from streams.otlp.messages import NotTaken, as_text

_KEPT_SECONDS = 60.0
_KEPT_CHARACTERS = 16_000_000
_CALL_CHARACTERS = 4000
"""Counted for each call besides its messages: some four thousand are kept at most."""

_MOST_CHOICES = 128
"""The most that `n` may be at OpenAI's endpoint."""

_BODY = ("role", "content", "tool_calls")

_Message: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class _Said:
    messages: list[_Message] = field(default_factory=list)
    choices: dict[int, _Message] = field(default_factory=dict)
    """Those that no record was made of yet, by their numbers."""
    call: Item | None = None
    spoiled: bool = False
    """True if a message cannot be read, or was cut off."""
    characters: int = _CALL_CHARACTERS


class Conversations:
    """Joins the two for a minute, by trace and span: the span has no messages, and the events name no model."""

    def __init__(self) -> None:
        self._calls: TTLCache[tuple[str, str], _Said] = TTLCache(
            _KEPT_CHARACTERS, _KEPT_SECONDS, getsizeof=lambda said: said.characters
        )

    def add(self, event: Item) -> Item | None:
        """Keep the message; the call with its messages, if its span has come and the event is a choice.

        Raises:
            NotTaken: it holds no message.
        """
        key, said = self._found(event)
        role = names.MESSAGE_EVENTS[name_of(event)]
        body = event.attributes
        if role == "choice":
            number, message = body.get("index", 0), body.get("message", {})
            if not isinstance(message, dict) or not isinstance(number, int) or not 0 <= number < _MOST_CHOICES:
                raise NotTaken("unreadable")
            said.choices[number] = {"role": "assistant", **message}
            said.characters += len(as_text(message))
        else:
            message = {"role": role, **{name: body[name] for name in _BODY if name in body}}
            # It may have come before.
            if message not in said.messages:
                said.messages.append(message)
                said.characters += len(as_text(message))
        self._keep(key, said)
        return None if said.call is None else self.whole(said.call)

    def whole(self, call: Item) -> Item | None:
        """The call with the messages that came for it; None, and they are waited for, if no choice is among them.

        Raises:
            NotTaken: not all of them are whole.
        """
        key, said = self._found(call)
        said.call = call
        self._keep(key, said)
        if said.choices and said.spoiled:
            raise NotTaken("truncated")
        if not said.choices:
            return None
        # Each choice becomes a record once, under its number.
        choices = [said.choices.get(number, {}) for number in range(max(said.choices) + 1)]
        said.choices = {}
        messages = {names.INPUT[0]: list(said.messages), names.OUTPUT[0]: choices}
        return replace(call, attributes={**call.attributes, **messages})

    def spoil(self, event: Item) -> None:
        """Note that a message of the call is not whole."""
        key, said = self._found(event)
        said.spoiled = True
        self._keep(key, said)

    def _found(self, item: Item) -> tuple[tuple[str, str], _Said]:
        key = (item.trace_id, item.span_id)
        return key, self._calls.get(key) or _Said()

    def _keep(self, key: tuple[str, str], said: _Said) -> None:
        if said.characters <= _KEPT_CHARACTERS:
            self._calls[key] = said


def name_of(event: Item) -> str:
    """The name of a log record that is an event."""
    name = event.event or event.attributes.get(names.EVENT_NAME)
    return name if isinstance(name, str) else ""
