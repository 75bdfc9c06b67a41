"""Metrics: bounded in labels, and over real HTTP."""

import asyncio

import httpx
from prometheus_client import CollectorRegistry, generate_latest

from schemas import Usage
from streams.http import HttpServer
from streams.judge_metrics import JudgeMetrics
from streams.metrics import StreamMetrics
from streams.settings import HttpSettings
from tests.support.checkers import Accept


async def test_subjects_beyond_the_maximum_are_counted_as_other():
    registry = CollectorRegistry()
    metrics = StreamMetrics(registry, max_subjects=2).checker("accept")
    for number in range(10):
        metrics.verdict(await _verdict(source=f"s{number}", model="m"))
    metrics.verdict(await _verdict(source="s1", model="m"))
    text = generate_latest(registry).decode()
    totals = [line for line in text.splitlines() if line.startswith("assay_verdicts_total")]
    assert len(totals) == 3
    assert 'assay_verdicts_total{checker="accept",model="other",outcome="accept",source="other"} 8.0' in totals
    assert 'assay_verdicts_total{checker="accept",model="m",outcome="accept",source="s1"} 2.0' in totals


def test_what_a_judge_cost_is_counted():
    registry = CollectorRegistry()
    usage = Usage(calls=2, cached=1, prompt_tokens=30, completion_tokens=4, seconds=0.5, cost=0.25)
    JudgeMetrics(registry).answered("openai/x", "consistency.summary", usage)
    labels = {"judge": "openai/x", "task": "consistency.summary"}
    assert registry.get_sample_value("assay_judge_calls_total", labels) == 2
    assert registry.get_sample_value("assay_judge_cache_hits_total", labels) == 1
    assert registry.get_sample_value("assay_judge_tokens_total", labels | {"direction": "prompt"}) == 30
    assert registry.get_sample_value("assay_judge_cost_total", labels) == 0.25


async def test_health_names_the_part_that_is_not_ready():
    judge: list[str | None] = ["no answer"]

    async def well() -> str | None:
        return None

    async def judge_probe() -> str | None:
        if judge[0] == "raise":
            raise ConnectionError("secret address")
        return judge[0]

    server = HttpServer(HttpSettings(port=0), CollectorRegistry(), alive={"agents": well}, ready={"judge": judge_probe})
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
            assert (await client.get("/healthz")).status_code == 200
            answer = await client.get("/readyz")
            assert answer.status_code == 503
            assert answer.json() == {"ok": False, "parts": {"agents": "ok", "judge": "no answer"}}
            judge[0] = "raise"
            assert (await client.get("/readyz")).json()["parts"]["judge"] == "the probe failed: ConnectionError"
            judge[0] = None
            assert (await client.get("/readyz")).status_code == 200
            assert (await client.get("/metrics")).headers["content-type"].startswith("text/plain")
    finally:
        await server.stop()


async def test_a_probe_that_hangs_is_an_answer():
    async def hang() -> str | None:
        await asyncio.sleep(60)
        return None

    server = HttpServer(HttpSettings(port=0), CollectorRegistry(), alive={}, ready={"judge": hang})
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=10) as client:
            assert (await client.get("/readyz")).json()["parts"]["judge"] == "no answer within 2 s"
    finally:
        await server.stop()


async def _verdict(source: str, model: str):
    from schemas import Generation

    return await Accept().check(Generation(kind="generation", source=source, model=model, response="x"))
