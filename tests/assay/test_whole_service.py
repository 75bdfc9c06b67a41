"""Everything at once, as a user configures it: checked, routed, budgeted, watched, rewritten, sent on and kept."""

import asyncio
import json
import re
import uuid
from pathlib import Path

from store.tables import IMPROVEMENTS, VERDICTS
from tests.assay.running import assay, environment
from tests.support.service import running_worker
from tests.support.stored import Stored
from tests.support.stub_answers import judge_answer
from tests.support.stub_endpoint import StubEndpoint
from tests.support.waiting import wait_until
from tests.support.webhook_target import SECRET, WebhookTarget

CONFIGURATION = """
[judge]
backend = "openai"
base_url = "{judge}"
model = "stub"
form = "short"
threshold = 0

[improver]
enabled = true

[[routing.rules]]
sources = ["unwatched"]
share = 0

[budgets.improver]
calls = 100000

[webhooks.tuning]
url = "{hook}"
topics = ["rejected", "improved"]
include_record = true

[store]
url = "sqlite:///verdicts.db"
"""

REFERENCE = "The parcel left Leipzig on Monday. It arrives on Thursday before noon."
RIGHT = "The parcel left Leipzig on Monday."
WRONG = "It arrives by plane from Porto."


def records(source: str, count: int, response: str) -> list[str]:
    body = {"kind": "generation", "source": source, "model": "m", "prompt": "When?", "reference": REFERENCE}
    return [json.dumps(body | {"id": f"{source}-{n}", "response": response}) for n in range(count)]


async def test_one_worker_does_all_that_is_configured(tmp_path: Path, kafka: str):
    target = WebhookTarget()
    with StubEndpoint(answer=judge_answer) as stub:
        async with target.running():
            (tmp_path / "assay.toml").write_text(CONFIGURATION.format(judge=stub.base_url, hook=target.url))
            variables = {
                "ASSAY_KAFKA__BOOTSTRAP_SERVERS": kafka,
                "ASSAY_TOPICS__PREFIX": f"whole-{uuid.uuid4().hex[:8]}",
                "ASSAY_WEBHOOKS__TUNING__SECRET": SECRET,
            }
            await asyncio.to_thread(_follow, tmp_path, variables, target)
    rejected = [request.body for request in target.requests if request.body["type"] == "assay.verdict.rejected.v1"]
    improved = [request.body for request in target.requests if request.body["type"] == "assay.improvement.v1"]
    assert {body["record"]["id"] for body in rejected} == {f"bot-{n}" for n in range(3)}
    assert {(body["data"]["record_id"], body["data"]["status"]) for body in improved} == {
        (f"bot-{n}", "improved") for n in range(3)
    }
    assert all(RIGHT in body["data"]["after"] for body in improved)
    stored = Stored(f"sqlite:///{tmp_path}/verdicts.db")
    assert stored.number(VERDICTS) == stored.recounted().total() == 5
    assert stored.number(IMPROVEMENTS) == 3
    stored.close()


def _follow(folder: Path, variables: dict[str, str], target: WebhookTarget) -> None:
    assert assay("topics", "create", cwd=folder, **variables).returncode == 0
    lines = [*records("bot", 3, f"{RIGHT} {WRONG}"), *records("good", 2, RIGHT), *records("unwatched", 4, WRONG)]
    sent = assay("send", "-", cwd=folder, stdin="\n".join(lines).encode(), **variables)
    assert sent.returncode == 0, sent.stderr
    with running_worker(folder, "--checkers", "consistency", environment=environment(**variables)) as service:
        assert service.wait_ready().keys() == {
            *("agents", "kafka", "judge", "consistency", "trust-monitor", "improver", "archivist"),
            *("webhook-tuning-rejected", "webhook-tuning-improved"),
        }
        wait_until(lambda: len(target.ids) == 6, service.said)
        service.wait_for("assay_left_out_total", 4)
        service.wait_for("assay_archived_total", 8)
        metrics = service.metrics()
        assert 'assay_improvements_total{model="m",source="bot",status="improved"} 3.0' in metrics
        stub = r'judge="openai/stub"'
        assert re.search(rf'assay_build_info\{{{stub},python_version="3[\d.]+",version="\d.+"\}} 1\.0\n', metrics)
        assert re.search(rf'assay_judge_answers_total\{{{stub},outcome="answered",task=".+"\}} [1-9]', metrics)
        assert "_created" not in metrics
        exported = assay("export", "rejected", "--format", "preferences", cwd=folder, **variables)
        assert exported.returncode == 0, exported.stderr
        pairs = [json.loads(line) for line in exported.stdout.splitlines()]
        assert len(pairs) == 3
        assert all(WRONG in json.dumps(pair["rejected"]) for pair in pairs)
        assert all(WRONG not in json.dumps(pair["chosen"]) for pair in pairs)
        assert service.terminate() == 0
    # Neither what was said nor any secret is logged.
    assert "Leipzig" not in service.log.read_text()
    assert SECRET not in service.log.read_text()
