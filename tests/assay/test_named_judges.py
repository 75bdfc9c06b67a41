"""`assay check` with a judge by name: downloaded before it begins, and used without a network after that."""

import json
from pathlib import Path

from schemas import Verdict
from tests.assay.running import assay
from tests.models.grounding.hub import COMMIT, HubServer, empty_cache
from tests.models.grounding.setting import random_deberta, spelling_tokenizer, write_checkpoint

LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}
NOWHERE = "http://127.0.0.1:9"


def records(folder: Path) -> Path:
    """One with a short reference, and one with a sentence that the judge cannot read whole."""
    envelope = {"kind": "generation", "source": "s", "model": "m", "task": "summary"}
    reference = "The parcel left Leipzig on Monday. It arrives on Thursday. " * 20
    texts = ("The parcel left on Monday.", "x" * 600)
    lines = [json.dumps({**envelope, "id": text[:3], "reference": reference, "response": text}) for text in texts]
    path = folder / "records.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_a_named_judge_is_downloaded_first_and_works_without_a_network_after_that(tmp_path: Path) -> None:
    hub = HubServer()
    hub.repositories["somebody/nli"] = write_checkpoint(
        tmp_path / "model", random_deberta(LABELS), spelling_tokenizer()
    )
    file = records(tmp_path)
    settings = {"ASSAY_JUDGE__LOCAL__JUDGE": f"nli:somebody/nli@{COMMIT}"}

    with hub.running() as address, empty_cache(tmp_path / "hub", address):
        first = assay("check", file, "--checker", "consistency", cwd=tmp_path, **settings)
    with empty_cache(tmp_path / "hub", NOWHERE):
        again = assay("check", file, "--checker", "consistency", cwd=tmp_path, **settings)

    judged, refused = (Verdict.model_validate_json(line) for line in first.stdout.splitlines())
    assert judged.outcome in {"accept", "reject"}
    assert str(judged.judge) == "local/nli:somebody/nli@0123456789ab"
    assert (refused.outcome, refused.evidence.model_dump()["cause"]) == ("abstain", "too_long")
    assert "somebody/nli is under the licence mit" in first.stderr
    assert "licence" not in again.stderr
    assert [json.loads(line)["score"] for line in again.stdout.splitlines()] == [judged.score, None]
