"""A cascade as it is configured: the bundled local judge before an endpoint."""

import json
from pathlib import Path

from tests.assay.running import assay
from tests.support.stub_endpoint import StubEndpoint

REFERENCE = "The board approved the budget on Monday."
RESPONSES = {
    "sure": REFERENCE,
    "unsure": "The board did not approve the budget on Friday.",
}


def test_the_local_judge_decides_what_its_thresholds_allow_and_the_endpoint_the_rest(tmp_path: Path):
    records = [
        {"id": id_, "kind": "generation", "source": "s", "model": "m", "reference": REFERENCE, "response": response}
        for id_, response in RESPONSES.items()
    ]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    with StubEndpoint() as stub:
        (tmp_path / "assay.toml").write_text(
            f"""
[judge]
backend = "cascade"
base_url = "{stub.base_url}"
model = "large"
[consistency.thresholds]
accept_from = 0.5
"""
        )
        ran = assay("check", "records.jsonl", "--checker", "consistency", "--out", "verdicts", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        verdicts = [json.loads(line) for line in (tmp_path / "verdicts").read_text().splitlines()]
        asked = list(stub.requests)
    assert [(one["outcome"], one["judge"].split("/")[0]) for one in verdicts] == [
        ("accept", "local"),
        ("reject", "openai"),
    ]
    assert [one["cascade"]["escalated"] for one in verdicts] == [False, True]
    assert {request.sentences[0] for request in asked} == {RESPONSES["unsure"]}
