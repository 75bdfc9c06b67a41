"""A writer for the stub endpoint: it mends a sentence with words of the passages."""

import json

from tests.support.stub_acts import Act, says
from tests.support.stub_answers import judge_answer as writer_answer
from tests.support.stub_request import StubRequest

__all__ = ["asked", "asks_for_rewrites", "rewrites", "writer_answer"]


def asks_for_rewrites(request: StubRequest) -> bool:
    """True if it is a question to the writer."""
    return request.kind == "improve"


def asked(request: StubRequest) -> str:
    """The sentence that is to be written anew."""
    return request.quotes["This sentence of the text was rejected"]


def rewrites(improved: str) -> Act:
    """An answer of the writer."""
    return says(json.dumps({"improved": improved}))
