"""The stand-in endpoint as a process of its own, as benchmarks use it."""

import subprocess
import sys

from tests.models.asking import question
from tests.models.conftest import MakeModel


async def test_it_prints_its_port_and_answers(oracle_of: MakeModel) -> None:
    command = [sys.executable, "-m", "tests.support.stub_endpoint", "--delay", "0.01", "--limit", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220 nothing else runs yet
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            answer = await oracle_of(base_url=f"http://127.0.0.1:{port}/v1", timeout_seconds=5).ask(question())
        finally:
            process.terminate()

    assert [entry.sentence for entry in answer.reply.reason] == ["The board met on Monday.", "It approved nothing."]
