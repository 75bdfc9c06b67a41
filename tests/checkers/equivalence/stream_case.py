"""Paraphrase decisions on the stream: `steady` sees no two sentences alike, `fickle` all; `strict` no two phrases."""

from checkers.checker import Models
from checkers.equivalence import PLUGIN
from tests.checkers.case import StreamCase, model, prompted
from tests.checkers.equivalence.setting import ALIGNED, APART, StubSubject, as_bytes, decision
from tests.support.stub_endpoint import StubEndpoint


def _endpoint() -> StubEndpoint:
    subjects = {
        "steady": StubSubject(),
        "fickle": StubSubject(sentences=lambda first, second: True),
        "strict": StubSubject(phrases=lambda first, second: False),
        "judge": StubSubject(),
    }
    return StubEndpoint(answer=lambda request: subjects[request.body["model"]](request))


def _checker(stub: StubEndpoint):
    subjects = {name: model(stub, name) for name in ("steady", "fickle", "strict")}
    return PLUGIN.build(PLUGIN.settings.model_validate({}), Models(judge=prompted(stub, "judge"), subjects=subjects))


DECISIONS = [
    decision(*ALIGNED, id="proved", model="steady"),
    decision(*ALIGNED, id="denied", model="strict"),
    decision(*APART, id="apart", model="steady"),
    decision(*ALIGNED, id="by the judge", model="nobody"),
    decision(*APART, id="trusted", answer=False, model="steady"),
    decision(*APART, id="contradicted", answer=False, model="fickle"),
    decision(*APART, id="untested", answer=False, model="nobody"),
]
CASE = StreamCase(
    endpoint=_endpoint,
    checker=_checker,
    records={one.id: as_bytes(one) for one in DECISIONS},
    accepted={"proved", "by the judge", "trusted"},
    rejected={"denied", "apart", "contradicted"},
    causes={"untested": "no_subject"},
    counted=[("accept", "steady", 2)],
)
