"""Judges behind the stand-in for an endpoint that are put to the self-test: one that knows, and a coin."""

from hashlib import blake2b

from models.judges.self_test import pairs
from models.prompts import UNKNOWN_QUESTION
from tests.support.stub_answers import judge_answer, verdicts_of
from tests.support.stub_request import StubRequest


def truth(request: StubRequest) -> bool | None:
    """Whether the pair that it asks about is supported; None if it is about none."""
    flat = " ".join
    shown = {flat(text.split()) for text in (*request.sentences, request.quotes.get("Answer", ""))}
    for pair in pairs():
        same = (pair.question or UNKNOWN_QUESTION) == request.quotes.get("Question", UNKNOWN_QUESTION)
        if same and pair.passages.splitlines() == request.reference.splitlines():
            answer = flat(pair.answer.split())
            if any(text and text in answer for text in shown):
                return pair.supported
    return None


def perfect(request: StubRequest) -> str:
    known = truth(request)
    if known is None or request.kind not in {"supported", "list"}:
        return judge_answer(request)
    return verdicts_of(dict.fromkeys(request.numbered, known)) if request.numbered else "yes" if known else "no"


def coin(request: StubRequest, place: int) -> float:
    return 0.05 + 0.9 * blake2b(str(request.body["messages"][-1]).encode(), digest_size=1).digest()[0] / 255
