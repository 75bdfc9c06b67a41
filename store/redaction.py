"""Blotting out what patterns match, in the texts of a message."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

import re2
from pydantic import BaseModel, StringConstraints

_BLOT = "█"

ModelT = TypeVar("ModelT", bound=BaseModel)


def compiled(pattern: str) -> Any:
    """The pattern; raises `ValueError` with what is wrong with it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise ValueError(f"{pattern!r} is no RE2 pattern: {error.args[0].decode(errors='replace')}") from None


class Redaction:
    """Replaces each character of a match, so that the offsets in evidence stay true.

    What is one of a few words by its type stays, and so do names, by which messages are found: all but those of a
    tenant and a session.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [compiled(pattern) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def of(self, message: ModelT) -> ModelT:
        """The message with its texts blotted out."""
        fields = message.__dict__ | (message.model_extra or {})
        texts = fields.keys() - _kept(type(message))
        return message.model_copy(update={name: self._blotted(fields[name]) for name in texts})

    def _blotted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, BaseModel):
            return self.of(value)
        if isinstance(value, dict):
            return {self.text(key): self._blotted(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._blotted, value))
        return value

    def text(self, text: str) -> str:
        """The text with what matches blotted out."""
        # All patterns see the text as it was: what one of them blots out must not hide the match of another.
        spans = [match.span() for pattern in self._patterns for match in pattern.finditer(text)]
        if not spans:
            return text
        characters = list(text)
        for start, end in spans:
            characters[start:end] = _BLOT * (end - start)
        return "".join(characters)


@cache
def _kept(model: type[BaseModel]) -> frozenset[str]:
    """Fields of a model that are no texts."""
    types = {name: (*_parts(field.annotation), *field.metadata) for name, field in model.model_fields.items()}
    return frozenset(
        name
        for name, parts in types.items()
        if any(get_origin(part) is Literal or isinstance(part, StringConstraints) for part in parts)
    ) - {"tenant", "session"}


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)
