"""Recorded traffic of deployed models through Apache Kafka and a worker with the local judge."""

import asyncio
import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import traffic
from benchmarks.recorded import DONE_SECONDS, as_record, verdicts
from benchmarks.tables import table
from streams.settings import KafkaSettings, StreamSettings, TopicSettings
from streams.topics import create_topics
from tests.support.kafka import ADDRESS_VARIABLE, running_kafka
from tests.support.service import running_service
from tests.support.traffic import put

DETECTORS = ("hhem_2_1", "hhem_v1", "trueteacher", "true_nli")


@dataclass(frozen=True, slots=True)
class Judged:
    """One recorded response and its verdict."""

    llm: str
    detectors: dict[str, float]
    outcome: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Took:
    """The time and memory of a run through Kafka."""

    seconds: float
    peak_bytes: int


async def through_kafka(servers: str, lines: Sequence[bytes]) -> tuple[dict[str, dict[str, Any]], Took]:
    """Send `lines` and let a worker judge them: the verdicts by record id, and the time from first to last."""
    topics = TopicSettings(prefix=f"bench-{os.getpid()}")
    settings = StreamSettings(kafka=KafkaSettings(bootstrap_servers=servers), topics=topics)
    await create_topics(settings)
    with running_service(servers, topics.prefix) as service:
        started = time.monotonic()
        await put(servers, topics.outputs, lines)
        await asyncio.to_thread(service.wait_for, "assay_verdicts_total", len(lines), seconds=DONE_SECONDS)
        took = Took(time.monotonic() - started, _peak_bytes(service.pid))
        return await verdicts(servers, topics, len(lines)), took


def _peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return int(psutil.Process(pid).memory_info().rss)


def report(judged: Sequence[Judged], took: Took) -> str:
    """The tables, as text."""
    by_model: dict[str, list[Judged]] = {}
    for one in judged:
        by_model.setdefault(one.llm, []).append(one)
    rows = []
    for llm, own in sorted(by_model.items(), key=lambda item: -_success(item[1])):
        outcomes = [sum(one.outcome == outcome for one in own) for outcome in ("accept", "reject", "abstain")]
        means = [_recorded(own, name) for name in DETECTORS]
        rows.append([llm, *outcomes, _success(own), _mean_score(own), *means])
    text = table(["model", "accept", "reject", "abstain", "success", "score", *DETECTORS], rows)

    success = [_success(own) for own in by_model.values()]
    scores = [_mean_score(own) for own in by_model.values()]
    order = []
    for name in DETECTORS:
        recorded = [_recorded(own, name) for own in by_model.values()]
        order.append([name, spearmanr(success, recorded).statistic, spearmanr(scores, recorded).statistic])
    text += "\n\nRank correlation of the models (Spearman)\n"
    text += table(["with", "by success rate", "by mean score"], order)

    compared = [one for one in judged if "true_nli" in one.detectors]
    true_nli = [int(one.detectors["true_nli"] >= 0.5) for one in compared]
    # A response without a sentence has no score; as a ranking it stands below every response with one.
    area = roc_auc_score(true_nli, [-1.0 if one.score is None else one.score for one in compared])
    text += f"\n\nSingle responses against true_nli: AUROC {area:.3f} over {len(compared)}\n"
    text += f"{len(judged) / took.seconds:.1f} records a second; worker's peak memory {took.peak_bytes / 2**20:.0f} MiB"
    return text


def _success(judged: Sequence[Judged]) -> float:
    """Accepted among those decided, as dashboards have it."""
    return sum(one.outcome == "accept" for one in judged) / max(1, sum(one.outcome != "abstain" for one in judged))


def _score(verdict: dict[str, Any]) -> float | None:
    """The score; that of a response which is left open stands in its evidence."""
    score: float | None = verdict["score"]
    return verdict["evidence"].get("score") if score is None else score


def _recorded(judged: Sequence[Judged], detector: str) -> float:
    """The mean of a detector's scores; some responses have none recorded."""
    return fmean([one.detectors[detector] for one in judged if detector in one.detectors])


def _mean_score(judged: Sequence[Judged]) -> float:
    return fmean([one.score or 0.0 for one in judged])


def run(data: Path, limit: int | None = None) -> None:
    """Send the recorded responses, or the first so many, and print the tables."""
    examples = traffic(data)[:limit]
    address = os.environ.get(ADDRESS_VARIABLE)
    with contextlib.ExitStack() as stack:
        servers = address or stack.enter_context(running_kafka(fast=True)).bootstrap_servers
        lines = [
            as_record(example, str(number), source="leaderboard", model=example.group)
            for number, example in enumerate(examples)
        ]
        found, took = asyncio.run(through_kafka(servers, lines))
    judged = [
        Judged(example.group, example.recorded, verdict["outcome"], _score(verdict))
        for number, example in enumerate(examples)
        for verdict in [found[str(number)]]
    ]
    print(report(judged, took))
