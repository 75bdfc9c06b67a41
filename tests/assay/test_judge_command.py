"""`assay judge check`, and a worker that does not start with a judge that fails its self-test."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from models.judges.self_test import pairs
from tests.assay.running import assay, assay_process
from tests.models.judges.self_tested import coin, perfect
from tests.support.stub_endpoint import StubEndpoint


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Path]:
    def write(stub: StubEndpoint, more: str = "") -> Path:
        judge = f'backend = "openai"\nbase_url = "{stub.base_url}"\nmodel = "stub"\n{more}'
        (tmp_path / "assay.toml").write_text(f"[judge]\n{judge}")
        return tmp_path

    return write


def test_it_tells_how_often_the_judge_is_right_and_what_to_set(configured: Callable[..., Path]):
    with StubEndpoint(answer=perfect) as stub:
        folder = configured(stub)
        ran = assay("judge", "check", "--json", cwd=folder, XDG_CACHE_HOME=str(folder))
        assert ran.returncode == 0, ran.stderr
        found = json.loads(ran.stdout)
        assert {one["form"]: one["accuracy"] for one in found["forms"]} == {"short": 1.0, "list": 1.0}
        assert sum(kind["pairs"] for kind in found["forms"][0]["kinds"].values()) == len(pairs())
        assert found["usage"]["calls"] == len(stub.requests)
        assert list(folder.glob("assay/self-tests/*.json"))
        told = assay("judge", "check", cwd=folder, XDG_CACHE_HOME=str(folder)).stdout
    assert "short form: right on 100%" in told
    assert 'form = "list"' in told


def test_one_that_guesses_is_warned_of_and_starts_no_worker_that_requires_more(configured: Callable[..., Path]):
    with StubEndpoint() as stub:
        stub.probability = coin
        folder = configured(stub, "require_self_test = true\n")
        ran = assay("judge", "check", cwd=folder, XDG_CACHE_HOME=str(folder))
        assert ran.returncode == 1
        assert "warning: below 75%: do not rely on its verdicts." in ran.stdout
        started = assay_process("worker", "--checkers", "consistency", cwd=folder, XDG_CACHE_HOME=str(folder))
    assert started.returncode == 2
    assert "below 75%, and judge.require_self_test is set" in started.stderr
