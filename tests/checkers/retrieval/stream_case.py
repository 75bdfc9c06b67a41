"""Hits on the stream: true matches, false ones, and one that says nothing."""

from checkers.checker import Models
from checkers.retrieval import PLUGIN
from schemas import to_json
from tests.checkers.case import StreamCase, prompted
from tests.checkers.retrieval.setting import StubMatcher, hit
from tests.support.stub_endpoint import StubEndpoint


def _checker(stub: StubEndpoint):
    return PLUGIN.build(PLUGIN.settings.model_validate({}), Models(judge=prompted(stub, "judge")))


HITS = [
    *(hit(f"Is desk {number} open?", f"Open is desk {number}?", id=f"a{number}") for number in range(4)),
    *(hit(f"Is desk {number} open?", f"Is desk {number + 7} open?", id=f"r{number}") for number in range(3)),
    hit("…", id="empty"),
]
CASE = StreamCase(
    endpoint=lambda: StubEndpoint(answer=StubMatcher()),
    checker=_checker,
    records={one.id: to_json(one) for one in HITS},
    accepted={"a0", "a1", "a2", "a3"},
    rejected={"r0", "r1", "r2"},
    causes={"empty": "empty_text"},
    counted=[("accept", "embedder", 4), ("reject", "embedder", 3)],
)
