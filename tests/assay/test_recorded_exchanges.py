"""What a judge was asked and what it replied stands beside the verdict, where it was recorded."""

import asyncio
import json
from pathlib import Path

import pytest

from assay.recorded_exchanges import RecordedExchanges
from schemas import Verdict
from store.redaction import Redaction
from tests.assay.running import assay
from tests.support.page import PageStore, opened
from tests.support.stub_endpoint import StubEndpoint

RECORD = {
    "kind": "generation",
    "source": "s",
    "model": "m",
    "reference": "The board approved the budget on Monday.",
    "response": "The board met in Ghent.",
}


def checked(folder: Path, judge: str) -> tuple[Verdict, Verdict]:
    """Verdicts on two records, with a recording in exchanges.jsonl."""
    other = RECORD | {"response": "The <b>board</b> met at 555-0199."}
    (folder / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (RECORD, other)))
    (folder / "assay.toml").write_text(f'[judge]\nrecord_to = "exchanges.jsonl"\n{judge}')
    ran = assay("check", "records.jsonl", "--checker", "consistency", "--out", "verdicts", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    one, two = (folder / "verdicts").read_text().splitlines()
    return Verdict.model_validate_json(one), Verdict.model_validate_json(two)


@pytest.fixture(scope="module")
def by_endpoint(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Verdict, Verdict]:
    folder = tmp_path_factory.mktemp("recorded")
    with StubEndpoint() as stub:
        return folder / "exchanges.jsonl", *checked(
            folder, f'backend = "openai"\nbase_url = "{stub.base_url}"\nmodel = "j"'
        )


async def test_the_questions_of_a_verdict_are_found_with_their_replies(by_endpoint):
    recording, one, two = by_endpoint
    found = RecordedExchanges([recording], Redaction([]))
    for verdict, said, unsaid in ((one, "Ghent", "555-0199"), (two, "555-0199", "Ghent")):
        exchanges = await found.of(verdict)
        assert exchanges
        assert {exchange.model for exchange in exchanges} == {"openai/j"}
        told = [text for exchange in exchanges for _, text in exchange.messages]
        assert any(said in text for text in told)
        assert not any(unsaid in text for text in told)
        assert all(json.loads(exchange.reply) for exchange in exchanges)


async def test_they_are_blotted_out_as_the_store_is(by_endpoint):
    recording, _, two = by_endpoint
    exchanges = await RecordedExchanges([recording], Redaction([r"\d{3}-\d{4}"])).of(two)
    assert all("555-0199" not in text for exchange in exchanges for _, text in exchange.messages)
    assert any("████████" in text for exchange in exchanges for _, text in exchange.messages)


async def test_what_is_added_to_a_recording_is_found_and_what_is_torn_or_gone_is_not(by_endpoint, tmp_path: Path):
    recording, one, two = by_endpoint
    lines = recording.read_bytes().splitlines(keepends=True)
    first = [line for line in lines if any(digest.encode() in line for digest in one.exchanges)]
    growing = tmp_path / "growing.jsonl"
    found = RecordedExchanges([growing], Redaction([]))
    assert await found.of(one) == []
    growing.write_bytes(b"no line of ours\n" + b"".join(first) + lines[-1][:20])
    assert await found.of(one)
    assert await found.of(two) == []
    growing.write_bytes(b"".join(lines[:1]))
    growing.write_bytes(b"".join(lines))
    assert await found.of(two)


async def test_the_page_shows_them_as_text(by_endpoint, tmp_path: Path):
    recording, _, two = by_endpoint
    store = PageStore(f"sqlite:///{tmp_path}/store.db")
    store.keep([json.loads(two.model_dump_json())])
    async with opened(store, find_exchanges=RecordedExchanges([recording], Redaction([])).of) as client:
        page = await (await client.get(f"/verdicts/{two.id}")).text()
    assert "What was asked, and the replies" in page
    assert "consistency.summary" in page
    assert "&lt;b&gt;board" in page
    assert "<b>board" not in page


def test_grades_of_the_local_judge_are_shown_and_nothing_is_noted_where_nothing_is_recorded(tmp_path: Path):
    one, _ = checked(tmp_path, 'backend = "local"')
    (exchange,) = asyncio.run(RecordedExchanges([tmp_path / "exchanges.jsonl"], Redaction([])).of(one))
    assert "probability" in exchange.reply or "support" in exchange.reply
    (tmp_path / "assay.toml").write_text("")
    ran = assay("check", "records.jsonl", "--checker", "consistency", cwd=tmp_path)
    assert all(json.loads(line)["exchanges"] == [] for line in ran.stdout.splitlines())
