"""Probes on Kafka, all of it: the scheduler asks a subject, the checker scores the answers, the gap shows."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.checker_agent import CheckerAgent
from agents.scheduler import Scheduler
from assay.cli.worker import select_agents
from assay.config import Misconfigured, load_configuration
from assay.wiring import build_worker
from checkers.checker import Models
from checkers.longtail import PLUGIN
from checkers.longtail.checker import LongtailSettings
from models.build import build_model
from models.settings import SubjectSettings
from schemas import ProbeEvidence
from streams.topics import create_topics
from tests.checkers.longtail.probes import SimulatedSubject, corpus_in, right_at, statements
from tests.support.scenarios import Place
from tests.support.stub_endpoint import StubEndpoint
from tests.support.traffic import first_verdicts
from tests.support.waiting import until
from tests.support.workers import agents_here

SUBJECT = {"source": "probe-scheduler", "model": "acme"}


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    """A subject that knows the head and never the tail."""
    with StubEndpoint(answer=SimulatedSubject(statements(), right_at({"head": 1.0, "tail": 0.0}))) as endpoint:
        yield endpoint


async def test_a_subject_that_knows_the_head_alone_has_the_whole_gap(
    place: Place, stub: StubEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("checkers.longtail.source.SECONDS_BETWEEN", 0.01)
    raw: dict[str, Any] = place.settings()
    await create_topics(place.checked())
    settings = LongtailSettings.model_validate({"probes": {"corpus": corpus_in(tmp_path)}})
    subject = build_model(SubjectSettings(base_url=stub.base_url, model="acme-1"))
    models = Models(subjects={"acme": subject})
    assert PLUGIN.source is not None
    source = PLUGIN.source(settings, models)
    agents = [partial(CheckerAgent, PLUGIN.build(settings, models), count=PLUGIN.count), partial(Scheduler, source)]
    async with agents_here(agents, raw) as worker:
        await until(lambda: worker.metric("assay_probe_gap_ratio", **SUBJECT, polarity="all") == 1.0)
        for outcome, distribution in (("accept", "head"), ("reject", "tail")):
            labels = {**SUBJECT, "distribution": distribution, "outcome": outcome, "domain": "temporal"}
            counts = [
                worker.metric("assay_probe_verdicts_total", **labels, polarity=polarity)
                for polarity in ("positive", "negative")
            ]
            assert min(counts) > 0
        assert worker.metric("assay_probe_gap_lower_ratio", **SUBJECT, polarity="all") > 0.8
    topics = place.checked().topics
    (first, *_), (last, *_) = [
        await first_verdicts(place.servers, topic, 3) for topic in (topics.accepted, topics.rejected)
    ]
    assert isinstance(first.evidence, ProbeEvidence)
    assert isinstance(last.evidence, ProbeEvidence)
    assert (first.evidence.distribution, last.evidence.distribution) == ("head", "tail")
    assert first.source == "probe-scheduler"


class TestInTheService:
    """The scheduler among the agents of `assay worker`."""

    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in [name for name in os.environ if name.startswith("ASSAY_")]:
            monkeypatch.delenv(name)

    def configured(self, text: str):
        Path("assay.toml").write_text(text, encoding="utf-8")
        return load_configuration()

    def test_it_runs_where_a_corpus_is_set(self):
        assert "probe-scheduler" not in select_agents(self.configured(""))
        assert "probe-scheduler" in select_agents(self.configured('[longtail.probes]\ncorpus = "x"'))

    async def test_a_scheduler_without_a_subject_is_a_wrong_configuration(self, tmp_path: Path):
        corpus_in(tmp_path)
        loaded = self.configured('[longtail.probes]\ncorpus = "statements.jsonl"')
        with pytest.raises(Misconfigured, match="no subject is configured in subjects"):
            await build_worker(loaded, [], ["probe-scheduler"])
