"""A stand-in for an OpenAI-compatible endpoint: real HTTP on loopback, scriptable, cheap per request.

In a test, `with StubEndpoint(delay=0.01) as stub:` serves from a thread and knows `stub.base_url`. As a process of its
own, `python -m tests.support.stub_endpoint --delay 0.2 --limit 64` prints its port as the first line.

What it does with a request is an `Act`. Acts come from `script`, a callable or a list that is used up from its front;
without one, or once it is used up, every request gets a good answer. A good answer is made by `answer`, a callable from
the request to the text of the reply; the default answers as a judge that goes by the reference. A `limit` makes
requests beyond it wait for a place, as a queueing endpoint does.

HTTP is spoken by hand, as far as clients of this kind need it: one request at a time on a connection, kept alive,
bodies with a Content-Length. A framework would cost more than the client that is being measured.
"""

import argparse
import asyncio
import contextlib
import importlib
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Self

import orjson

from tests.support.ports import free_port
from tests.support.stub_acts import Act, Script, good
from tests.support.stub_answers import judge_answer
from tests.support.stub_request import StubRequest

_KEPT_REQUESTS = 20_000
_HEAD_BYTES = 2**20


class StubEndpoint:
    """The endpoint, served from a thread of its own while the context is open."""

    def __init__(
        self,
        *,
        delay: float = 0.0,
        limit: int | None = None,
        script: Script | Iterable[Act] = (),
        answer: Callable[[StubRequest], str] = judge_answer,
        port: int | None = None,
    ) -> None:
        self.delay = delay
        """Seconds from a request's start to its response."""
        self.answer = answer
        self.probability: Callable[[StubRequest, int], float] | None = None
        """P(true or yes) of the word at a place of the reply, from 0; None gives no log-probabilities."""
        self.port = free_port() if port is None else port
        self.requests: deque[StubRequest] = deque(maxlen=_KEPT_REQUESTS)
        """Chat requests, the oldest first."""
        self.most_at_once = 0
        self.read = self.written = 0
        """Tokens of the prompts that it was sent and did not refuse, and of the replies that were fetched."""
        self._clients: set[asyncio.StreamWriter] = set()
        self._under_way = 0
        self._places = contextlib.nullcontext() if limit is None else asyncio.Semaphore(limit)
        self._script: Script
        self.play(script)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, script: Script | Iterable[Act]) -> None:
        """Follow another script from now on."""
        if callable(script):
            self._script = script
        else:
            acts = deque(script)
            self._script = lambda _: acts.popleft() if acts else good()

    def down(self) -> None:
        """Refuse connections, and drop those that stand."""
        self._in_loop(self._close())

    def up(self) -> None:
        """Listen again, on the same port."""
        self._in_loop(self.listen())

    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True, name="stub-endpoint")
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self.down()
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await self.listen()
            started.set()
            await self._ended.wait()

        asyncio.run(serve())

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def listen(self) -> None:
        """Open the port, in the running loop."""
        self._server = await asyncio.start_server(
            self._converse, "127.0.0.1", self.port, backlog=1024, limit=_HEAD_BYTES
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for client in self._clients:
            client.transport.abort()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other of a connection."""
        self._clients.add(writer)
        try:
            while True:
                request = await _read(reader)
                if request.path.partition("?")[0].endswith("/models"):
                    _respond(writer, 200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})
                    continue
                self.requests.append(request)
                async with self._places:
                    # What nobody waits for any longer is dropped, as model servers do.
                    if _is_left(reader, writer):
                        return
                    self._under_way += 1
                    self.most_at_once = max(self.most_at_once, self._under_way)
                    try:
                        await self._act(request, reader, writer)
                    finally:
                        self._under_way -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._clients.discard(writer)
            writer.close()

    async def _act(self, request: StubRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        act = self._script(request)
        if act.kind != "status" and act.document is None:
            self.read += request.size // 4 + 1
        if act.kind == "hang":
            await reader.read()
            return
        await asyncio.sleep(self.delay if act.delay is None else act.delay)
        if act.kind == "close" or _is_left(reader, writer):
            writer.transport.abort()
        elif act.kind == "status":
            error = {"message": act.detail, "type": "stub", "param": None, "code": None}
            _respond(writer, act.status, {"error": error} if act.document is None else act.document, act.headers)
        elif act.document is None:
            whole = self._completion(act, request)
            self.written += whole["usage"]["completion_tokens"]
            _respond(writer, 200, whole, act.headers)
        else:
            _respond(writer, 200, act.document, act.headers)

    def _completion(self, act: Act, request: StubRequest) -> dict[str, Any]:
        content = act.change(self.answer(request)) if act.change else self.answer(request)
        prompt_tokens, completion_tokens = request.size // 4 + 1, len(content) // 4 + 1
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, "refusal": None, **act.message},
                    "logprobs": self._logprobs(request, content),
                    "finish_reason": act.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
        }

    def _logprobs(self, request: StubRequest, content: str) -> dict[str, Any] | None:
        if self.probability is None or not request.body.get("logprobs"):
            return None
        tokens: list[dict[str, Any]] = []
        place = 0
        for text in re.split(r"(?<=:)(true|false)|^(yes|no)$", content):
            if text is None:
                continue
            alternatives = {text: 1.0}
            words = next((pair for pair in (("true", "false"), ("yes", "no")) if text in pair), None)
            if words is not None:
                alternatives[words[0]] = self.probability(request, place)
                alternatives[words[1]] = 1 - alternatives[words[0]]
                place += 1
            listed = [{"token": one, "logprob": math.log(max(value, 1e-9))} for one, value in alternatives.items()]
            tokens.append({**listed[0], "top_logprobs": listed})
        return {"content": tokens}


async def _read(reader: asyncio.StreamReader) -> StubRequest:
    """The next request."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ", 2)
    return StubRequest(
        method=method, path=path, headers=headers, body=orjson.loads(body) if body else {}, at=time.monotonic()
    )


def _respond(
    writer: asyncio.StreamWriter, code: int, document: object, headers: Mapping[str, str] | None = None
) -> None:
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    named = {"content-type": "application/json", "content-length": len(body), **(headers or {})}
    head = f"HTTP/1.1 {code} Stub\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items()) + "\r\n"
    writer.write(head.encode() + body)


def _is_left(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    return reader.at_eof() or writer.is_closing()


async def _run(stub: StubEndpoint) -> None:
    await stub.listen()
    print(stub.port, flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve until ended, from the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds to an answer")
    parser.add_argument("--limit", type=int, default=None, help="requests under way at once; those beyond wait")
    parser.add_argument("--script", help="module:function that makes the act with a request")
    options = parser.parse_args()
    # A loop in C where there is one: the stub shares its processor with what is measured.
    with contextlib.suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    stub = StubEndpoint(port=options.port, delay=options.delay, limit=options.limit)
    if options.script:
        module, _, function = options.script.partition(":")
        stub.play(getattr(importlib.import_module(module), function))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(stub))


if __name__ == "__main__":
    main()
