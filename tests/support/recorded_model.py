"""A real model's answers, asked for once and kept as the backend `replay` gives them again."""

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import orjson

from schemas import Verdict

MODEL = "qwen2.5-coder-1.5b-instruct"


def record(description: str | None, recording: Path, verdicts: Callable[..., Awaitable[dict[str, Verdict]]]) -> None:
    """Print the verdicts that a model behind `--base-url` leads to, and keep its answers in the file `recording`.

    `verdicts` takes the settings of a judge as keywords.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True)
    options = parser.parse_args()

    async def asked(exchanges: Path) -> dict[str, Verdict]:
        patient = {"timeout_seconds": 2880, "concurrency": 1}
        address = {"backend": "openai", "base_url": options.base_url, "model": MODEL}
        return await verdicts(recording=exchanges, **address, **patient)

    with tempfile.TemporaryDirectory() as folder:
        exchanges = Path(folder) / "exchanges.jsonl"
        for name, verdict in asyncio.run(asked(exchanges)).items():
            print(f"{name:<18} {verdict.outcome:<8} {verdict.reason}", flush=True)
        lines = map(orjson.loads, exchanges.read_bytes().splitlines())
        kept = [orjson.dumps(line) for line in lines if line["type"] == "answer"]
    recording.write_bytes(b"\n".join(kept) + b"\n")
