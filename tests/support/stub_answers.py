"""Good answers of the stand-in for an endpoint to a judge's questions.

A sentence is supported if all its words of four letters and more stand in the reference. Other questions, with a fence
of sentences, are answered by copies of them.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import orjson

from tests.support.stub_request import StubRequest

_WORD = re.compile(r"\w{4,}|\bnot\b|\d+")


def is_supported(sentence: str, reference: str) -> bool:
    """True if the reference has all words of the sentence that count."""
    return set(_WORD.findall(reference.lower())).issuperset(_WORD.findall(sentence.lower()))


def judge_answer(request: StubRequest) -> str:
    """The reply of a judge, or of its model as writer, that goes by the reference."""
    marks = [is_supported(one, request.reference) for one in request.sentences]
    told = dict(zip(request.numbered, marks, strict=True)) if request.numbered else {}
    why = {number: "the same words" if mark else "not said" for number, mark in told.items()}
    notes = {number: "not " not in reason for number, reason in request.notes.items()}
    known: dict[str, str] = {
        "list": verdicts_of(told),
        "paper": verdicts_of(told, why),
        "convert": verdicts_of(notes, dict.fromkeys(notes, "it says so")),
        "reason": orjson.dumps({"reason": "not in the reference"}).decode(),
        "improve": orjson.dumps({"improved": request.reference.split(".")[0] + "."}).decode(),
        "informs": "yes",
        "answerable": "no",
        "": _copies(request.sentences, marks),
    }
    return known.get(request.kind, "yes" if all(marks) else "no")


def _copies(sentences: Sequence[str], marks: Sequence[bool]) -> str:
    reasons = ["the same words" if mark else "not in the reference" for mark in marks]
    copies = [{"sentence": text, "reason": why} for text, why in zip(sentences, reasons, strict=True)]
    return orjson.dumps({"reason": copies, "is_consistent": all(marks)}).decode()


def verdicts_of(marks: Mapping[int, bool], reasons: Mapping[int, str] | None = None) -> str:
    """A reply of the list form, or of the paper's, with `reasons`."""
    verdicts = [
        {"number": number, **({} if reasons is None else {"reason": reasons[number]}), "supported": mark}
        for number, mark in marks.items()
    ]
    return orjson.dumps({"verdicts": verdicts}).decode()


def without_claim(*texts: str) -> Callable[[StubRequest], str]:
    """Goes by the reference, but finds that these sentences give no information."""

    def answer(request: StubRequest) -> str:
        if request.kind == "informs":
            return "no" if request.quotes["Answer"] in texts else "yes"
        return judge_answer(request)

    return answer
