"""Labellings on the stream: an honest labeller, and one that gives back what it is shown."""

import json
from typing import Any

from checkers.checker import Models
from checkers.labelling import PLUGIN
from tests.checkers.case import StreamCase, model, prompted
from tests.checkers.labelling.players import EXAMPLES, IN_PHENOMENON, StubLabeller, bit_strings
from tests.support.stub_endpoint import StubEndpoint

RUBRIC = EXAMPLES / "in-phenomenon.yaml"
STRINGS = bit_strings()[:8]
RIGHT = StubLabeller(IN_PHENOMENON).label


def _labelling(name: str, x: str = STRINGS[0], **fields: Any) -> bytes:
    body = {"datapoint": x, "rubric": "in-phenomenon", "label": 0, "model": "honest"}
    return json.dumps({"id": name, "kind": "labelling", "source": "moderation", **body, **fields}).encode()


def _endpoint() -> StubEndpoint:
    honest, echo = StubLabeller(), StubLabeller()
    echo.generates = lambda x, _: x
    return StubEndpoint(answer=lambda request: (echo if request.body["model"] == "echo" else honest)(request))


def _checker(stub: StubEndpoint):
    subjects = {name: model(stub, name) for name in ("honest", "echo")}
    settings = PLUGIN.settings.model_validate({"rubrics": {"in-phenomenon": str(RUBRIC)}})
    return PLUGIN.build(settings, Models(judge=prompted(stub, "judge"), subjects=subjects))


HONEST = {f"honest{number}": _labelling(f"honest{number}", x, label=RIGHT(x)) for number, x in enumerate(STRINGS)}
ECHO = {f"echo{number}": _labelling(f"echo{number}", model="echo") for number in range(4)}
CASE = StreamCase(
    endpoint=_endpoint,
    checker=_checker,
    records={
        **HONEST,
        **ECHO,
        "contradicted": _labelling("contradicted", STRINGS[4], label=1 - int(str(RIGHT(STRINGS[4])))),
        "nobody": _labelling("nobody", model="nobody"),
        "tone": _labelling("tone", rubric="tone"),
        "banana": _labelling("banana", label="banana"),
    },
    accepted=HONEST.keys(),
    rejected={*ECHO, "contradicted"},
    causes={"nobody": "no_subject", "tone": "no_rubric", "banana": "unknown_label"},
    counted=[("accept", "honest", 8), ("reject", "honest", 1), ("reject", "echo", 4)],
)
