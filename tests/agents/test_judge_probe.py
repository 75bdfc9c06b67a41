"""The judge's part of readiness."""

import asyncio

import httpx
from prometheus_client import CollectorRegistry

from agents.judge import JudgeProbe
from models.settings import JudgeSettings
from streams.http import HttpServer
from streams.settings import HttpSettings


async def test_a_judge_that_takes_connections_and_says_nothing_stays_unready():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    endpoint = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = endpoint.sockets[0].getsockname()[1]
    probe = JudgeProbe(JudgeSettings(backend="openai", base_url=f"http://127.0.0.1:{port}/v1", model="m"))
    server = HttpServer(HttpSettings(port=0), CollectorRegistry(), alive={}, ready={"judge": probe})
    await server.start()
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            for _ in range(2):
                answer = await client.get(f"http://127.0.0.1:{server.port}/readyz")
                assert answer.status_code == 503
                assert answer.json()["parts"]["judge"].startswith("no answer from judge.base_url")
    finally:
        await server.stop()
        endpoint.close()
