"""A model file as judge: llama.cpp's server on loopback, in its own process that ends with this one."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from models.model_loading import ModelThread, ModelUnusable, loading
from models.protocol import Answer, Model, Question, ReplyT
from models.settings import EndpointSettings

DEFAULT = "Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf"
_COMMIT = "91cad51170dc346986eccefdc2dd33a9da36ead9"
_SLOTS, _CONTEXT_TOKENS = 2, 8192  # questions at once, which share the processor, and the window of each by default
_SECONDS = 240.0  # time limit of a request that a processor can keep, where none is set

_LOG = structlog.get_logger(__name__)


class LlamaModel(ModelThread[Model]):
    """The model of a file; belongs to one event loop, and is loaded with the first question, or by `load`."""

    def __init__(self, settings: EndpointSettings, chat: Callable[[EndpointSettings], Model]) -> None:
        """`chat` makes the model that asks the server."""
        self._settings, self._chat, self._source = settings, chat, settings.model or DEFAULT
        self.name = f"llama/{Path(self._source).name}"
        self._server: subprocess.Popen[bytes] | None = None
        super().__init__(f"the model {Path(self._source).name}", self._started)

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        """As any model; raises ModelFailed, too, if the file cannot be had or loaded."""
        return await (await self.model()).ask(question)

    async def close(self) -> None:
        """End the server."""
        if not self.fault:
            await (await self.model()).close()
        self.end()
        if self._server is not None:
            self._server.terminate()
            await asyncio.to_thread(self._server.wait)

    def _started(self) -> Model:
        """Start the server and wait until it answers; raises ModelUnusable."""
        with loading("package", "xllamacpp", extra="llm"):
            import xllamacpp  # noqa: F401 the server's process imports it; here it is only looked for
        file, begun = model_file(self._source), time.monotonic()
        context = self._settings.context_tokens or _CONTEXT_TOKENS
        command = [sys.executable, "-m", __name__, str(file), str(context)]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        address = self._server.stdout.readline().decode().strip() if self._server.stdout else ""
        if not address:
            raise ModelUnusable(f"llama.cpp cannot load {file}; standard error has its reason")
        _LOG.info("the judge's model is loaded", file=str(file), seconds=round(time.monotonic() - begun, 1))
        place = {"backend": "openai", "base_url": f"{address}/v1", "model": file.name}
        seconds = self._settings.timeout_seconds if "timeout_seconds" in self._settings.model_fields_set else _SECONDS
        own = {**place, "timeout_seconds": seconds, "context_tokens": context, "concurrency": _SLOTS}
        return self._chat(self._settings.model_copy(update=own))


def model_file(source: str) -> Path:
    """A file on this machine, or OWNER/REPOSITORY/FILE[@COMMIT] of the Hugging Face hub; raises ModelUnusable."""
    if (path := Path(source).expanduser()).is_file():
        return path
    name, _, revision = source.partition("@")
    parts = name.split("/", 2)
    if len(parts) != 3 or not all(parts) or not parts[2].endswith(".gguf"):
        raise ModelUnusable(f"judge.model: {source!r} is no file here, and no OWNER/REPOSITORY/FILE.gguf[@COMMIT]")
    with loading("judge.model", source, extra="llm"):
        from huggingface_hub import hf_hub_download

        commit = revision or (_COMMIT if source == DEFAULT else None)
        return Path(hf_hub_download("/".join(parts[:2]), parts[2], revision=commit))


def serve(file: str, context: str) -> None:
    """Say where, and serve until standard input ends, which it does however the process that holds it ends."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path, options.verbosity = file, 1
    options.n_ctx, options.n_parallel = int(context) * _SLOTS, _SLOTS
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = os.cpu_count() or 1
    options.hostnames, options.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)
    # Nobody reads more than that line, and a full pipe would hold the server up.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdin.buffer.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
