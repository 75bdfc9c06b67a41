"""A request as the stand-in for an endpoint got it, and what it asks.

The sentences of a consistency question are numbered where they stand in the response, and a line names the numbers that
are asked about. Those of other questions may be a JSON list in a fence (of strings, or of objects with a `number` and a
`sentence`) or stand one on a line, with or without a number before each.
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
_MARKS = re.compile(r"as in \[1-([0-9a-f]+)\] and \[2-\1\]\.$", re.MULTILINE)
_ASKED = re.compile(r"^Judge sentences (\d+ to \d+|\d+(?:, \d+)*) of it by", re.MULTILINE)
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

    @cached_property
    def marked(self) -> dict[int, str]:
        """All numbered sentences that are shown, the control sentence among them, by the numbers shown."""
        return marked_in(self._said, self.fences.get("response", ""))

    @cached_property
    def asked(self) -> dict[int, str]:
        """Those that are asked about, by the numbers shown."""
        return {number: self.marked[number] for number in asked_in(self._said)} if self.marked else {}

    @property
    def _said(self) -> str:
        return "\n".join(message["content"] for message in self.body.get("messages", []))

    @cached_property
    def control(self) -> int | None:
        """The number shown before the control sentence, if it was made in this process: nothing else tells it."""
        return next((number for number, text in self.asked.items() if is_control(text, self.reference)), None)

    @property
    def own(self) -> dict[int, int]:
        """The response's own sentences that are asked about: their place in it, from 1, by the number shown."""
        control = self.control
        return {
            number: number - (control is not None and number > control) for number in self.asked if number != control
        }

    @property
    def sentences(self) -> list[str]:
        """The sentences of the response asked about; a question about it as a whole has its text as the only one."""
        if self.asked:
            return [text for number, text in self.asked.items() if number != self.control]
        return _listed(self.fences.get("sentences", self.fences.get("response", "")))

    @property
    def numbers(self) -> list[int]:
        """Which sentences of the response are asked about, counted from 1, or the numbers of reasons."""
        return list(self.own.values()) or [one["number"] for one in _objects(self.fences.get("reasons", ""))]

    @property
    def reasons(self) -> list[str]:
        return [one["reason"] for one in _objects(self.fences.get("reasons", ""))]

    @property
    def reference(self) -> str:
        """The text that the sentences are to be held against."""
        return self.fences.get("reference", "")


def marked_in(said: str, response: str) -> dict[int, str]:
    """The numbered sentences of a response by the marks that a question says they have, without what lies between."""
    mark = _MARKS.search(said)
    if mark is None:
        return {}
    _, *parts = re.split(rf"\[(\d+)-{mark[1]}\] ", response)
    return {int(number): text.rstrip() for number, text in zip(parts[::2], parts[1::2], strict=True)}


def asked_in(said: str) -> list[int]:
    """The numbers that a question asks about."""
    found = _ASKED.findall(said)[-1]
    first, _, last = found.partition(" to ")
    return list(range(int(first), int(last) + 1)) if last else [int(one) for one in found.split(", ")]


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
