"""A writer for the stub endpoint: it mends every sentence with words of the reference."""

import json
from typing import Any

from tests.support.stub_acts import Act, says
from tests.support.stub_answers import judge_answer
from tests.support.stub_request import StubRequest


def asks_for_rewrites(request: StubRequest) -> bool:
    """True if it is a question to the writer, sentence by sentence."""
    return '"reason"' in request.fences.get("sentences", "")


def asked(request: StubRequest) -> list[dict[str, Any]]:
    """The list that a question to the writer shows: number, sentence, reason."""
    listed: list[dict[str, Any]] = json.loads(request.fences["sentences"])
    return listed


def writer_answer(request: StubRequest) -> str:
    """Every sentence becomes the reference's first; questions to a judge are answered as the stub does."""
    if not asks_for_rewrites(request):
        return judge_answer(request)
    first = request.reference.partition(".")[0] + "."
    return _entries([(one["number"], first) for one in asked(request)])


def rewrites(*entries: tuple[int, str]) -> Act:
    """An answer of the writer with exactly these entries: number, improved."""
    return says(_entries(entries))


def _entries(entries: Any) -> str:
    listed = [
        {"number": number, "reason": "made to agree with the source", "improved": improved}
        for number, improved in entries
    ]
    return json.dumps({"sentences": listed})
