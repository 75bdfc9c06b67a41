"""A request as the stand-in for an endpoint got it, and what it asks.

The sentences in a fence may be a JSON list (of strings, or of objects with a `number` and a `sentence`) or stand one on
a line, with or without a number before each.
"""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from checkers.consistency import material
from checkers.consistency.control import control_sentence

_CONTROLS: dict[str, set[str]] = {}
"""The control sentences that were made in this process, with the references that they were made for."""


def _remembered(sentences: Sequence[str], reference: str, number: int) -> str:
    made = control_sentence(sentences, reference, number)
    _CONTROLS.setdefault(made, set()).add(reference)
    return made


def is_control(sentence: str, reference: str) -> bool:
    """True if it was made as a control sentence for this reference, or one that this is a piece of."""
    return any(reference in one for one in _CONTROLS.get(sentence, ()))


material.control_sentence = _remembered

_TAG = re.compile(r"The code of the markers in this message is ([0-9a-f]+)\.")
_NUMBER = re.compile(r"\s*\[?\d+[\].):]+\s+")


@dataclass(frozen=True, kw_only=True)
class StubRequest:
    """A request as the stub got it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    """`time.monotonic` of its arrival."""

    @property
    def size(self) -> int:
        """Characters of its messages."""
        return sum(len(message["content"]) for message in self.body.get("messages", []))

    @cached_property
    def fences(self) -> dict[str, str]:
        """The fenced texts of the last user message that has any, by label."""
        for message in reversed(self.body.get("messages", [])):
            found = _TAG.search(message["content"]) if message["role"] == "user" else None
            if found:
                pattern = rf"^<([a-z0-9_]+)-{found[1]}>\n(.*?)\n</\1-{found[1]}>$"
                return dict(re.findall(pattern, message["content"], re.DOTALL | re.MULTILINE))
        return {}

    @property
    def sentences(self) -> list[str]:
        """The sentences of the response asked about; a question about it as a whole has its text as the only one."""
        listed = _listed(self.fences.get("sentences", self.fences.get("response", "")))
        return [one for one in listed if not is_control(one, self.reference)]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the sentences or reasons asked about; none where they have none."""
        listed = _objects(self.fences.get("sentences") or self.fences.get("reasons", ""))
        return [one["number"] for one in listed if not is_control(one.get("sentence", ""), self.reference)]

    @cached_property
    def control(self) -> int | None:
        """The number of the control sentence, if it was made in this process: nothing else tells it."""
        listed = _objects(self.fences.get("sentences", ""))
        return next((one["number"] for one in listed if is_control(one.get("sentence", ""), self.reference)), None)

    @property
    def reasons(self) -> list[str]:
        return [one["reason"] for one in _objects(self.fences.get("reasons", ""))]

    @property
    def reference(self) -> str:
        """The text that the sentences are to be held against."""
        return self.fences.get("reference", "")


def _objects(text: str) -> list[dict[str, Any]]:
    with contextlib.suppress(orjson.JSONDecodeError):
        listed = orjson.loads(text)
        if isinstance(listed, list):
            return [one for one in listed if isinstance(one, dict) and "number" in one]
    return []


def _listed(text: str) -> list[str]:
    with contextlib.suppress(orjson.JSONDecodeError):
        listed = orjson.loads(text)
        if isinstance(listed, list):
            return [one["sentence"] if isinstance(one, dict) else str(one) for one in listed]
    return [_NUMBER.sub("", line, count=1).strip() for line in text.splitlines() if line.strip()]
