"""`topics`, `send`, `worker` and `replay` on Apache Kafka, one after the other as a user would."""

import asyncio
import json
import re
import uuid
from pathlib import Path

from tests.assay.running import assay, environment
from tests.support.service import running_worker
from tests.support.traffic import put
from tests.support.waiting import wait_until

RECORDS = [
    {"id": "calm", "kind": "generation", "source": "s", "model": "m", "response": "all is well"},
    {"id": "loud", "kind": "generation", "source": "s", "model": "m", "response": "HELP!", "context": []},
    {"id": "broken", "kind": "generation", "source": "s", "model": "m", "response": "crash"},
]

# The checker asks no judge, and loading the local one would take most of these tests' time.
NO_JUDGE = {
    "ASSAY_JUDGE__BACKEND": "openai",
    "ASSAY_JUDGE__BASE_URL": "http://127.0.0.1:1/v1",
    "ASSAY_JUDGE__MODEL": "none",
}


def test_from_topics_to_a_replayed_dead_letter(tmp_path, site, kafka):
    configured = NO_JUDGE | {
        "ASSAY_KAFKA__BOOTSTRAP_SERVERS": kafka,
        "ASSAY_TOPICS__PREFIX": f"cli-{uuid.uuid4().hex[:8]}",
        "ASSAY_TOPICS__PARTITIONS": "1",
        "ASSAY_HTTP__PORT": "0",
    }
    prefix = configured["ASSAY_TOPICS__PREFIX"]

    early = assay("worker", "--checkers", "shouting", cwd=tmp_path, site=site, **configured)
    assert early.returncode == 3
    assert "assay topics create" in early.stderr.splitlines()[-1]
    too_early = assay("send", "-", cwd=tmp_path, stdin=b"", **configured)
    assert too_early.stderr.startswith(f"Error: no topic {prefix}.outputs at ")

    made = assay("topics", "create", cwd=tmp_path, **configured)
    assert (made.returncode, made.stdout.count(": created")) == (0, 14)
    assert f"{prefix}.outputs: created, keeps messages for 7 days (the brokers' default)\n" in made.stdout
    assert f"{prefix}.labels: created, keeps messages for ever\n" in made.stdout
    assert f"{prefix}.trust-state: created, keeps the last message of each key\n" in made.stdout
    longer = configured | {"ASSAY_TOPICS__RETENTION_DAYS__DEAD_LETTERS": "400"}
    again = assay("topics", "create", cwd=tmp_path, **longer)
    assert (again.returncode, again.stdout.count(": exists")) == (0, 14)
    differs = "keeps messages for 7 days, not for 400 days as in topics.retention_days: `kafka-configs.sh` changes it"
    assert f"{prefix}.dead-letter: exists, {differs}\n" in again.stdout

    file = tmp_path / "records.jsonl"
    file.write_text("\n".join([*map(json.dumps, RECORDS), "rubbish"]))
    sent = assay("send", file, cwd=tmp_path, **configured)
    assert sent.returncode == 3
    assert f"3 sent to {prefix}.outputs, 1 refused" in sent.stderr
    assert "line 4 was not sent: not_json" in sent.stderr

    # Producers of others send what `assay send` refuses.
    unreadable = b'{"kind": "generation", "source": "till", "id": "torn\\u001b[2J", "response": 3}'
    asyncio.run(put(kafka, f"{prefix}.outputs", [b"\xff\xfe", unreadable]))

    options = ("--checkers", "shouting", "--agents", "none")
    with running_worker(tmp_path, *options, environment=environment(site, **configured)) as service:
        wanted = (
            'assay_verdicts_total{checker="shouting",model="m",outcome="accept",source="s"} 1.0',
            'assay_verdicts_total{checker="shouting",model="m",outcome="reject",source="s"} 1.0',
            'assay_dead_letters_total{agent="shouting",reason="checker_failed"} 1.0',
            'assay_misspelt_fields_total{checker="shouting",field="contexts",kind="generation"} 1.0',
            'assay_dead_letters_total{agent="shouting",reason="not_utf8"} 1.0',
            'assay_dead_letters_total{agent="shouting",reason="invalid_record"} 1.0',
        )
        wait_until(lambda: set(wanted) <= set(service.metrics().splitlines()), service.said)
        assert "process_resident_memory_bytes" in service.metrics()
        runbook = 'assay_runbook_info{page="http://127.0.0.1:8090",url="http://127.0.0.1:8080/runbook"} 1.0'
        assert runbook in service.metrics()
        assert service.get("/readyz").json()["parts"]["judge"].startswith("no answer from judge.base_url")
        _replay(tmp_path, configured)
        wait_until(lambda: wanted[0].replace("1.0", "2.0") in service.metrics(), service.said)
        assert service.terminate() == 0
    assert "worker started" in [entry["event"] for entry in service.logged()]
    assert "HELP!" not in service.log.read_text()


def _replay(folder: Path, configured: dict[str, str]) -> None:
    listed = assay("replay", "--list", cwd=folder, **configured)
    assert "3 dead letters on" in listed.stderr
    groups = ["checker_failed from s: 1", "invalid_record from till: 1", "not_utf8 from an unknown source: 1"]
    assert sorted(line for line in listed.stdout.splitlines() if line[0] != " ") == groups
    assert re.search(r"^  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  .*\.outputs\[0\]@\d+$", listed.stdout, flags=re.MULTILINE)
    assert "    broken, " in listed.stdout
    assert "response: Input should be a valid string, got 3" in listed.stdout
    assert "\x1b" not in listed.stdout

    whole = assay("replay", "--list", "--json", cwd=folder, **configured)
    letters = {letter["reason"]: letter for letter in map(json.loads, whole.stdout.splitlines())}
    assert json.loads(letters["checker_failed"]["payload"]) == RECORDS[2]
    assert (letters["checker_failed"]["source"], letters["checker_failed"]["record_id"]) == ("s", "broken")
    assert letters["not_utf8"]["payload_base64"] == "//4="
    assert not letters["not_utf8"]["replayed_before"]
    identifier, beyond_help = letters["checker_failed"]["id"], letters["not_utf8"]["id"]

    (folder / "rubbish.json").write_text("{")
    rubbish = assay("replay", "--id", identifier, "--with", "rubbish.json", cwd=folder, **configured)
    assert rubbish.returncode == 2
    assert "rubbish.json is not a record: not_json" in rubbish.stderr

    (folder / "corrected.json").write_text(json.dumps(RECORDS[2] | {"response": "corrected"}))
    corrected = assay("replay", "--id", identifier, "--with", "corrected.json", cwd=folder, **configured)
    assert (corrected.returncode, "  replayed" in corrected.stdout) == (0, True), corrected.stderr
    again = assay("replay", "--reason", "checker_failed", cwd=folder, **configured)
    assert "replayed before" in again.stdout
    missing = assay("replay", "--id", "dead-nothing", "--id", beyond_help, cwd=folder, **configured)
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "1 skipped as unreadable: 1 not_utf8" in missing.stderr
    assert "no such dead letter: dead-nothing" in missing.stderr
