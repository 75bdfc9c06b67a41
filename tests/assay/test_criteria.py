"""Criteria of the user's own on the command line: configured, tried, checked, calibrated."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.config import Misconfigured, load_configuration
from tests.assay.running import assay
from tests.checkers.criteria.setting import ASK, BROKEN, KEPT, WORDS, by_word, reply, write_examples
from tests.support.stub_endpoint import StubEndpoint

SECTION = f"""
[criteria.no_refunds]
ask = "{ASK}"
reject_if = "yes"
"""


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(answer=by_word) as endpoint:
        yield endpoint


@pytest.fixture
def folder(tmp_path: Path, stub: StubEndpoint) -> Path:
    """A folder with the section and a judge that can answer it."""
    write_examples(tmp_path)
    judge = (
        f'[judge]\nbackend = "openai"\nbase_url = "{stub.base_url}"\nmodel = "stub"\nform = "short"\nthreshold = 0\n'
    )
    (tmp_path / "assay.toml").write_text(f'{judge}{SECTION}examples = "examples.jsonl"\n')
    return tmp_path


def _lines(*records: Any) -> bytes:
    return b"\n".join(json.dumps(one.model_dump(mode="json")).encode() for one in records)


def test_each_section_is_a_checker(folder: Path) -> None:
    with (folder / "assay.toml").open("a") as file:
        file.write(f'[criteria.other]\nask = "{ASK}"\nreject_if = "no"\n[budgets.other]\ncalls = 5\n')
        file.write('[[routing.rules]]\ncheckers = ["no_refunds"]\nshare = 0.5\n')
    shown = assay("config", "check", cwd=folder, ASSAY_CRITERIA__OTHER__UNIT="record")
    assert shown.returncode == 0, shown.stderr
    assert "no_refunds, other" in shown.stdout
    assert "[criteria.other]" in shown.stdout
    assert 'unit = "record"' in shown.stdout
    assert not shown.stderr
    ran = assay("check", "-", "--json", cwd=folder, stdin=_lines(reply(BROKEN, id="r"), reply(KEPT, id="a")))
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    outcomes = {(one["checker"], one["record_id"]): one["outcome"] for one in found}
    assert outcomes["no_refunds", "r"] == outcomes["other", "a"] == "reject"
    assert outcomes["no_refunds", "a"] == outcomes["other", "r"] == "accept"
    shown = assay("check", "-", "--checker", "no_refunds", cwd=folder, stdin=_lines(reply(BROKEN))).stderr
    assert f"“{WORDS}” {ASK} Yes." in shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[criteria.consistency]\nask = "a?"\nreject_if = "no"', "criteria.consistency: a checker or"),
        ('[criteria.a]\nask = "a?\\nReply yes."\nreject_if = "no"', "should be a question on one line"),
        ('[criteria.a]\nask = "a?"\nreject_if = "no"\n[budgets.b]\ncalls = 1', "budgets.b: nothing has this name"),
    ],
)
def test_a_wrong_section_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured) as raised:
        load_configuration(file)
    assert said in str(raised.value)


def test_it_is_tried_on_its_examples_and_on_made_answers(folder: Path, stub: StubEndpoint) -> None:
    ran = assay("criteria", "check", "no_refunds", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "18 answers\n  right on 100% (82% to 100%)" in ran.stdout
    for kind, count in (("examples", 5), ("made", 4)):
        for label in ("accept", "reject"):
            assert re.search(rf"{kind}, {label} +{count} of {count}\n", ran.stdout)
    assert "not accept" not in ran.stderr
    for request in stub.requests:
        last, *_ = [one for one in reversed(request.body["messages"]) if one["role"] == "user"]
        asked = last["content"].partition("Answer:")[2].partition("\n\n")[0]
        shown = [one["content"] for one in request.body["messages"][1:-1]]
        # No example is shown when it is asked about.
        assert not asked or not any(asked in one for one in shown)
    figures = json.loads(assay("criteria", "check", "no_refunds", "--json", cwd=folder).stdout)
    assert figures["forms"][0]["accuracy"] == 1.0
    assert figures["forms"][0]["kinds"]["examples, reject"] == {"right": 5, "pairs": 5}


def test_the_ready_criteria_can_be_used_with_twenty_examples_each() -> None:
    file = Path("examples/criteria/assay.toml")
    loaded = load_configuration(file)
    own = {name: plugin for name, plugin in loaded.installed.plugins.items() if plugin.section}
    assert len(own) == 5
    for name in own:
        rows = Path(f"examples/criteria/{name}.jsonl").read_text("utf-8").splitlines()
        labels = [json.loads(row)["label"] for row in rows]
        assert labels.count("accept") == labels.count("reject") == 10
