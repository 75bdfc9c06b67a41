"""Good answers of the stand-in for an endpoint, to consistency questions.

A sentence is consistent if all its words of four letters and more stand in the reference. Numbered sentences are
answered by their numbers, others by copies; questions with a fence `reasons` with an entry for each of them.
"""

import contextlib
import re
from collections.abc import Callable, Iterable

import orjson

from tests.support.stub_request import StubRequest

_WORD = re.compile(r"\w{4,}|\bnot\b")
_NUMBERED = re.compile(r'("number": ?)(\d+)')


def consistency_answer(request: StubRequest) -> str:
    """The reply to a consistency question, or to one that asks for a mark a reason."""
    if "reasons" in request.fences:
        return entries_of(
            (number, "it says so", "not " not in reason)
            for number, reason in zip(request.numbers, request.reasons, strict=True)
        )
    known = set(_WORD.findall(request.reference.lower()))
    marks = [known.issuperset(_WORD.findall(one.lower())) for one in request.sentences]
    reasons = ["the same words" if consistent else "not in the reference" for consistent in marks]
    if request.asked:
        return entries_of(zip(request.numbers, reasons, marks, strict=True))
    copies = [{"sentence": text, "reason": reason} for text, reason in zip(request.sentences, reasons, strict=True)]
    return orjson.dumps({"reason": copies, "is_consistent": all(marks)}).decode()


def entries_of(entries: Iterable[tuple[int, str, bool | None]]) -> str:
    """A reply of numbers, reasons and booleans."""
    told = [{"number": number, "reason": reason, "consistent": consistent} for number, reason, consistent in entries]
    return orjson.dumps({"entries": told}).decode()


def without_claim(*texts: str) -> Callable[[StubRequest], str]:
    """Goes by the reference, but finds that these sentences claim nothing."""

    def answer(request: StubRequest) -> str:
        entries = orjson.loads(consistency_answer(request))["entries"]
        empty = {number for number, text in zip(request.numbers, request.sentences, strict=True) if text in texts}
        return entries_of(
            (one["number"], *(("a courtesy", None) if one["number"] in empty else (one["reason"], one["consistent"])))
            for one in entries
        )

    return answer


def as_shown(text: str, request: StubRequest) -> str:
    """The reply with the numbers that the question shows, where it has those of the response's own sentences.

    An entry is added that finds the control sentence inconsistent.
    """
    shown = {number: place for place, number in request.own.items()}
    text = _NUMBERED.sub(lambda found: f"{found[1]}{shown.get(int(found[2]), found[2])}", text)
    with contextlib.suppress(orjson.JSONDecodeError):
        reply = orjson.loads(text)
        if isinstance(reply, dict) and isinstance(entries := reply.get("entries"), list):
            told = {"number": request.control, "reason": "nothing of it is there", "consistent": False}
            return orjson.dumps({**reply, "entries": [*entries, told]}).decode()
    return text
