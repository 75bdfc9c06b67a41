"""Reading a model's reply strictly in the form that was asked for: nothing is guessed or picked out of prose."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

_FENCED = re.compile(r"\s*```(?:json|JSON)?[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")
_SHOWN_FAULTS = 5

_ReplyT = TypeVar("_ReplyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one exchange."""

    content: str | None
    finish_reason: str | None
    refused: bool
    """True if the reply's field for refusals is set."""
    called_tools: bool
    prompt_tokens: int
    completion_tokens: int


class Unusable(ValueError):
    """A reply that is not of the form that was asked for; the message is for the model's second try and for people."""


def read_reply(completion: Completion, form: type[_ReplyT]) -> _ReplyT:
    """The reply of a completion; white space and one Markdown fence around it are allowed.

    Raises:
        Unusable: anything else, with what is wrong.
    """
    if completion.refused or completion.finish_reason == "content_filter":
        raise Unusable("the reply is a refusal")
    if completion.called_tools:
        raise Unusable("the reply calls tools; none were offered")
    if completion.finish_reason == "length":
        raise Unusable("the reply was cut off at the token limit; it must be shorter")
    content = (completion.content or "").strip()
    if not content:
        raise Unusable("the reply is empty")
    fenced = _FENCED.fullmatch(content)
    text = fenced[1] if fenced else content
    try:
        reply = form.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise Unusable(_faults(error)) from None
    # Only now: pydantic bounds the depth, and takes the last of two equal keys without a word.
    json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    return reply


def salvaging(form: type[_ReplyT], field: str) -> Callable[[str], _ReplyT | None]:
    """A question's `salvage`: the form with as many objects of its list `field` as the text holds whole.

    Every other field of the form needs a default.
    """
    opening = re.compile(rf'"{re.escape(field)}"\s*:\s*\[')

    def salvage(text: str) -> _ReplyT | None:
        # An unescaped quotation mark stands in no string, so this is no part of one.
        opened = opening.search(text)
        entries = _whole_objects(text, opened.end()) if opened else []
        if not entries:
            return None
        try:
            return form.model_validate_json(json.dumps({field: entries}), strict=True)
        except ValidationError:
            return None

    return salvage


def _whole_objects(text: str, at: int) -> list[Any]:
    """The objects of the list whose first element begins at `at`, up to the end or the first that is not whole."""
    found: list[Any] = []
    while (start := _BETWEEN.match(text, at).end()) < len(text) and text[start] == "{":  # type: ignore[union-attr]
        try:
            entry, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found.append(entry)
    return found


def _faults(error: ValidationError) -> str:
    # Places and messages only: the input is the model's, and may carry anything.
    faults = [
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(faults[:_SHOWN_FAULTS])


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise Unusable("an object in the reply has the same key twice")
    return unique


def _no_constant(literal: str) -> None:
    raise Unusable(f"{literal} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)
