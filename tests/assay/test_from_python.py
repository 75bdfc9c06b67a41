"""Checks from Python: the command line's verdicts, with or without a running event loop, by models that are kept."""

import asyncio
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import assay
from checkers.model_patience import ModelPatience
from schemas import Unreadable
from tests.assay.running import ROOT, environment, install, installed
from tests.assay.running import assay as command

CALM = {"id": "calm", "kind": "generation", "source": "s", "model": "m", "response": "Please wait."}
LOUD = CALM | {"id": "loud", "response": "WAIT!"}
EMPTY = CALM | {"id": "empty", "response": ""}

KEPT = """
import asyncio
from assay import Checker, CheckerSettings, Decision, Generation, ModelUnavailable, Undecidable

built, closed, asked = [], [], []


class Settings(CheckerSettings):
    mark: str = "!"


class Kept(Checker[Settings]):
    name = "kept"

    def __init__(self, settings, models):
        super().__init__(settings, models)
        built.append(self)

    async def decide(self, record: Generation) -> Decision:
        asked.append(record.id)
        if record.id == "away":
            raise ModelUnavailable("connection refused", retry_after=0.01)
        if record.id == "crash":
            raise KeyError("of its own")
        if not record.response:
            raise Undecidable("empty_response", "there is nothing")
        if record.id == "slow":
            while record.model not in asked:
                await asyncio.sleep(0.01)
            assert self not in closed
        mark = self.settings.mark
        return Decision(accepted=mark not in record.response, reason=f"Listened for {mark}.")

    async def close(self) -> None:
        closed.append(self)
"""


@pytest.fixture
def kept(unconfigured: Path) -> Iterator[ModuleType]:
    """A checker that notes what becomes of it; the folder's own configuration makes the service a new one."""
    site = unconfigured / "site"
    install(site, module="kept", source=KEPT, entry_points={"kept": "kept:Kept"})
    (unconfigured / "assay.toml").write_text("[kept]\nmark = '!'\n")
    with installed(site):
        yield importlib.import_module("kept")


def told(verdict: assay.Verdict) -> assay.Verdict:
    """The verdict without what no two checks share."""
    return verdict.model_copy(update={"usage": assay.Usage(), "checked_at": verdict.occurred_at})


def test_the_verdicts_are_those_of_the_command_line(kept: ModuleType, tmp_path: Path) -> None:
    lines = (ROOT / "examples" / "records.jsonl").read_text("utf-8").splitlines()
    # What has no time of its own gets that of the check.
    records = [json.loads(each) | {"occurred_at": "2026-11-23T00:00:00Z"} for each in lines]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    ran = command("check", "in.jsonl", "--checker", "kept", "--checker", "longtail", cwd=tmp_path)
    found = assay.check(records, checkers=["kept", "longtail"])
    assert [verdicts[0].record_id for verdicts in found] == [record["id"] for record in records]
    printed = [assay.Verdict.model_validate_json(each) for each in ran.stdout.splitlines()]
    assert [told(verdict) for verdicts in found for verdict in verdicts] == [told(verdict) for verdict in printed]
    assert {verdict.checker for verdicts in found for verdict in verdicts} == {"kept", "longtail", "none"}


async def test_a_running_event_loop_is_no_hindrance_and_acheck_does_not_keep_it(kept: ModuleType) -> None:
    assert assay.check(LOUD, checkers=["kept"]).outcome == "reject"
    slow = asyncio.create_task(assay.acheck([CALM | {"id": "slow", "model": "last"}], checkers=["kept"]))
    # It waits for this one, which is checked only if the loop goes on.
    assert (await assay.acheck(CALM | {"id": "last"}, checkers=["kept"])).outcome == "accept"
    assert [each.outcome for each in await slow] == ["accept"]


async def test_models_are_kept_until_the_configuration_changes(
    kept: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = asyncio.create_task(assay.acheck(CALM | {"id": "slow", "model": "last"}, checkers=["kept"]))
    while "slow" not in kept.asked:
        assert (await assay.acheck(CALM, checkers=["kept"])).outcome == "accept"
    assert len(kept.built) == 1
    monkeypatch.setenv("ASSAY_KEPT__MARK", ".")
    assert (await assay.acheck(CALM, checkers=["kept"])).outcome == "reject"
    # What is under way ends with the models that it began with.
    assert (len(kept.built), kept.closed) == (2, [])
    assay.check(CALM | {"id": "last"}, checkers=["kept"])
    assert (await slow).outcome == "accept"
    assert kept.closed == kept.built[:1]


def test_all_is_closed_when_python_ends_and_a_forked_process_begins_anew(kept: ModuleType, tmp_path: Path) -> None:
    program = f"""
import os, assay, kept

async def close(self):
    print("closed")

kept.Kept.close = close
print(assay.check({CALM}, checkers=["kept"]).outcome, flush=True)
if not os.fork():
    print(assay.check({LOUD}, checkers=["kept"]).outcome, flush=True)
    os._exit(0)
os.wait()
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        cwd=tmp_path,
        env=environment(tmp_path / "site"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, ["accept", "reject", "closed"], "")


def test_what_is_not_accepted_fails_a_test_and_says_why(kept: ModuleType) -> None:
    assay.assert_accepted([CALM, CALM], checkers=["kept"])
    with pytest.raises(AssertionError) as failed:
        assay.assert_accepted([CALM, LOUD, EMPTY], checkers=["kept"])
    assert str(failed.value).splitlines() == [
        "2 of 3 records not accepted",
        "REJECT   loud        0.00  s / m  by kept",
        "         Listened for !.",
        "ABSTAIN  empty          -  s / m  by kept",
        "         Could not decide: there is nothing.",
    ]
    with pytest.raises(AssertionError, match=r"^1 of 1 record not accepted\nABSTAIN"):
        assay.assert_accepted(EMPTY, checkers=["kept"])


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"kind": "poem"}, Unreadable, "kind 'poem'; allowed are generation, "),
        ([CALM, {"kind": "generation"}], Unreadable, "records[1]: generation.source: Field required; "),
        (CALM | {"response": "x" * 2_000_000}, Unreadable, "allowed are 1048576 (records.max_bytes)"),
        (json.dumps(CALM), TypeError, "expected a mapping or a record type, got str"),
        (None, TypeError, "'NoneType' object is not iterable"),
    ],
)
async def test_what_is_no_record_is_refused_by_name(
    unconfigured: Path, given: Any, error: type[Exception], said: str
) -> None:
    for call in (assay.check, assay.assert_accepted):
        with pytest.raises(error) as raised:
            call(given)
        assert said in str(raised.value)
    with pytest.raises(error):
        await assay.acheck(given)


def test_a_model_that_is_away_is_waited_for_once_and_not_by_each_of_many_tests(
    kept: ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("assay.cached_service.ModelPatience", lambda say: ModelPatience(say, 1.0))
    away = CALM | {"id": "away"}
    verdicts = assay.check(away, checkers=["kept"])
    tried = len(kept.asked)
    assert "could not be reached for 1 s: connection refused" in verdicts.reason
    assert tried > 1
    assert assay.check(away, checkers=["kept"]).outcome == "abstain"
    assert len(kept.asked) == tried + 1
    assert [each.message for each in caplog.records] == [
        "a model cannot be reached (connection refused); trying for 1 s"
    ]
    # Later it may only restart.
    time.sleep(1.1)
    tried = len(kept.asked)
    assert assay.check(away, checkers=["kept"]).outcome == "abstain"
    assert len(kept.asked) > tried + 1
