"""Blotting out what patterns match, in the texts of a message."""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import re2
from pydantic import BaseModel, StringConstraints

_BLOT = "█"

_PERSONAL = frozenset({"tenant", "session"})
"""Names by which nothing is looked up."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def compiled(pattern: str) -> Any:
    """The pattern; raises `ValueError` with what is wrong with it."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        fault = error.args[0]
        raise ValueError(f"{pattern!r} is no RE2 pattern: {fault.decode('utf-8', 'replace')}") from None


class Redaction:
    """Replaces each character of a match, so that the offsets in evidence stay true.

    What is one of a few words by its type stays, and so do names, by which messages are found.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [compiled(pattern) for pattern in patterns]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def of(self, message: ModelT) -> ModelT:
        """The message with its texts blotted out."""
        kept = _kept(type(message))
        fields = {
            name: value if name in kept else self._blotted(value)
            for name, value in (*message.__dict__.items(), *(message.model_extra or {}).items())
        }
        return message.model_copy(update=fields)

    def _blotted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, BaseModel):
            return self.of(value)
        if isinstance(value, dict):
            return {self._text(key): self._blotted(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._blotted, value))
        return value

    def _text(self, text: str) -> str:
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
    return frozenset(
        name
        for name, field in model.model_fields.items()
        if name not in _PERSONAL and (_is_label(field.annotation) or _is_name(field.metadata))
    )


def _is_label(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        return _is_name(metadata) or _is_label(inner)
    return origin is Literal or any(map(_is_label, get_args(annotation)))


def _is_name(metadata: Iterable[Any]) -> bool:
    return any(isinstance(each, StringConstraints) for each in metadata)
