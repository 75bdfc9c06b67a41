"""`assay failures`: the demo's broken release is named, in its alert too, and nothing else is."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

import assay as package
from agents.monitor.outcomes import SeriesKey
from agents.monitor.settings import TrustSettings
from agents.monitor.trust_series import Plan, TrustSeries
from schemas import Alert, Verdict
from tests.assay.running import ROOT, assay
from tests.support.rejections import rejection
from tests.support.stored import Stored
from tests.support.trust_verdicts import outcome_of

NOW = datetime.now(UTC).replace(minute=10, second=0, microsecond=0) - timedelta(hours=2)
RELEASE = ("metadata.release", "4.2")


@pytest.fixture(scope="module")
def update() -> list[Verdict]:
    """The demo's update, as the bundled judge sees it, within one hour."""
    records = [json.loads(line) for line in (ROOT / "examples" / "model_update.jsonl").read_text("utf-8").splitlines()]
    verdicts = [verdict for of_record in asyncio.run(package.acheck(records)) for verdict in of_record]
    return [
        each.model_copy(update={"checked_at": NOW + timedelta(seconds=10 * number), "occurred_at": None})
        for number, each in enumerate(verdicts)
    ]


@pytest.fixture
def filled(tmp_path: Path, update: list[Verdict]) -> Iterator[Stored]:
    stored = Stored(f"sqlite:///{tmp_path / 'verdicts.db'}")
    stored.keep(update)
    yield stored
    stored.close()


def test_the_broken_release_is_named_and_nothing_else(tmp_path: Path, filled: Stored):
    ran = assay("failures", "--json", cwd=tmp_path, ASSAY_STORE__URL=filled.url)
    assert ran.returncode == 0, ran.stderr
    (report,) = map(orjson.loads, ran.stdout.splitlines())
    assert [report[name] for name in ("source", "model", "checker")] == ["orders-bot", "acme-chat-4", "consistency"]
    assert [(one["name"], one["value"]) for one in report["common"]] == [RELEASE]
    one = report["common"][0]
    assert one["rejects_with"] / one["rejects"] > 0.8
    assert one["accepts_with"] / one["accepts"] < 0.3
    explained = one["rejects_with"] + sum(len(group["ids"]) for group in report["unexplained"])
    assert explained == report["compared"][0] == report["rejects"]

    ran = assay("failures", cwd=tmp_path, ASSAY_STORE__URL=filled.url)
    said = f"common: {one['rejects_with']} of {one['rejects']} rejects have metadata.release 4.2; "
    assert said in ran.stdout
    assert "orders-bot / acme-chat-4  by consistency" in ran.stdout
    assert ran.stderr.splitlines() == ["1 series with rejects in that time"]


def test_its_alert_names_the_release_and_nothing_else(update: list[Verdict]):
    series = TrustSeries(Plan.of(TrustSettings(), SeriesKey("orders-bot", "acme-chat-4", "consistency")))
    raised = []
    for each in update:
        if each.outcome != "abstain":
            versioned = each.model_copy(update={"metadata": {"release": each.attributes["metadata.release"][0]}})
            raised.append(series.update(outcome_of(versioned), each.checked_at))
    (drop,) = [each for each in raised if isinstance(each, Alert) and each.kind == "trust_drop"]
    assert [(one.name, one.value) for one in drop.common] == [RELEASE]


def test_series_and_times_are_chosen_and_a_store_is_needed(tmp_path: Path, sqlite_store: Stored):
    sqlite_store.keep([rejection(number, "t") for number in range(3)])
    since = ("--since", "2020-01-01")
    here = {"cwd": tmp_path, "ASSAY_STORE__URL": sqlite_store.url}
    assert "3 rejects and 0 accepts since" in assay("failures", *since, **here).stdout
    none = assay("failures", "--source", "other", *since, **here)
    assert (none.returncode, none.stdout) == (0, "")
    assert none.stderr.splitlines() == ["0 series with rejects in that time"]
    wrong = assay("failures", *since, "--until", "2019-01-01", **here)
    assert wrong.returncode == 2
    assert "--since is not before --until" in wrong.stderr
    without = assay("failures", cwd=tmp_path)
    assert without.returncode == 2
    assert "(store.url)" in without.stderr
