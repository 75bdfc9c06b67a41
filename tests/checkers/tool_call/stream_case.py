"""Tool calls on the stream: right ones, wrong ones, and one about which nothing is known."""

from checkers.checker import Models
from checkers.tool_call import PLUGIN
from schemas import to_json
from tests.checkers.case import StreamCase, prompted
from tests.checkers.tool_call.setting import call, listens
from tests.support.stub_endpoint import StubEndpoint


def _checker(stub: StubEndpoint):
    return PLUGIN.build(
        PLUGIN.settings.model_validate({}), Models(judge=prompted(stub, "judge", form="short", threshold=0))
    )


FAILED = {"result": {"isError": True, "content": "the Elster is out"}}
CALLS = [
    call(id="a0"),
    call(id="a1", **FAILED, response="Sorry, the Elster is out on that day."),
    call(id="r0", name="hire_boat"),
    call(id="r1", arguments={"boat": "Amsel", "day": "2026-07-04"}),
    call(id="r2", **FAILED, response="The Elster is yours."),
    call(id="nothing", tools=[], prompt=None),
]
CASE = StreamCase(
    endpoint=lambda: StubEndpoint(answer=listens),
    checker=_checker,
    records={one.id: to_json(one) for one in CALLS},
    accepted={"a0", "a1"},
    rejected={"r0", "r1", "r2"},
    causes={"nothing": "no_reference"},
    counted=[("accept", "acme-agent-2", 2), ("reject", "acme-agent-2", 3)],
)
