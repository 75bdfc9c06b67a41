"""Many datapoints in plain language against an endpoint of 100 ms a call, 64 at once for labeller and judge each."""

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from assay.config import Configuration, load_configuration
from assay.trust.preparing import Options, prepare
from assay.trust.results import Result, Tally
from assay.trust.run import Run
from assay.wiring import wired
from benchmarks.no_data.datasets import RUBRICS
from benchmarks.tables import table
from tests.support.worker_process import ROOT

DATAPOINTS = 515
AT_MOST = 1.1
"""Times the ideal."""

_DELAY_SECONDS = 0.1
_AT_ONCE = 64
_WORDS = "De trein nei Ljouwert hat tsien minuten fertraging, mar de oansluting wurdt helle. "


async def speed() -> bool:
    """Print the time and the ideal; whether it is within the bound."""
    with tempfile.TemporaryDirectory() as folder:
        stub = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.support.stub_endpoint", "--delay", str(_DELAY_SECONDS)),
                *("--answer", "tests.support.labelling:agreeable"),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        try:
            assert stub.stdout is not None  # noqa: S101 - a pipe was asked for
            port = int(stub.stdout.readline())
            seconds, subject, judge = await _measured(Path(folder), port)
        finally:
            stub.kill()
            stub.wait()
    # Two models, each of which takes so many at once: the one that is asked more sets the pace.
    ideal = max(subject, judge) * _DELAY_SECONDS / _AT_ONCE
    ratio = seconds / ideal
    rows: list[list[object]] = [[DATAPOINTS, subject, judge, seconds, ideal, ratio, "" if ratio <= AT_MOST else "SLOW"]]
    print(table(["datapoints", "calls: labeller", "judge", "seconds", "ideal", "times the ideal", ""], rows))
    return ratio <= AT_MOST


async def _measured(folder: Path, port: int) -> tuple[float, int, int]:
    configuration = _configuration(folder, port)
    file = folder / "datapoints.jsonl"
    file.write_bytes(
        b"".join(
            orjson.dumps({"x": {"prompt": f"Fraach {n}", "output": f"{n}. {_WORDS * 10}"}}) + b"\n"
            for n in range(DATAPOINTS)
        )
    )
    options = Options(file=file, rubrics=(str(RUBRICS / "west-frisian.yaml"),), evaluator="llm:labeller")
    async with wired(configuration, []) as service:
        prepared = prepare(options, configuration, service.models)
        tally = Tally(prepared.table.problem.labels, rounds=prepared.rules.rounds, phi=0, relaxed=False)

        def emit(result: Result) -> None:
            tally.add(result)

        run = Run(prepared.table, prepared.rules, window=prepared.window, say=print)
        started = time.perf_counter()
        await run.over(prepared.datapoints, emit)
        seconds = time.perf_counter() - started
        if tally.successes != DATAPOINTS:
            raise RuntimeError(f"{tally.successes} of {DATAPOINTS} passed; the stub agrees to everything")
        calls = [
            getattr(oracle, "total").calls  # noqa: B009 - both are metered
            for oracle in (service.models.subjects["labeller"], service.models.judge)
        ]
    await asyncio.sleep(0)
    return seconds, calls[0], calls[1]


def _configuration(folder: Path, port: int) -> Configuration:
    file = folder / "assay.toml"
    endpoint = f'base_url = "http://127.0.0.1:{port}/v1"\nconcurrency = {_AT_ONCE}\n'
    file.write_text(
        f'[judge]\nbackend = "openai"\nmodel = "judge"\n{endpoint}[subjects.labeller]\nmodel = "m"\n{endpoint}'
    )
    return load_configuration(file)
