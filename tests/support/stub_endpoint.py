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
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import orjson

from tests.support.ports import free_port
from tests.support.stub_acts import Act, Script, good
from tests.support.stub_answers import judge_answer
from tests.support.stub_request import StubRequest

_KEPT_REQUESTS = 20_000


class _Connection(asyncio.Protocol):
    def __init__(self, stub: "StubEndpoint") -> None:
        self.stub = stub
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.hanging = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self.transport = transport  # type: ignore[assignment]
        self.stub.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.stub.connections.discard(self)
        if self.hanging:
            self.hanging = False
            self.stub.free_place()

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = bytes(self.received[:end]).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(self.received) < end + 4 + length:
            return
        body = bytes(self.received[end + 4 : end + 4 + length])
        del self.received[: end + 4 + length]
        method, path, _ = first.split(" ", 2)
        request = StubRequest(
            method=method,
            path=path,
            headers=headers,
            body=orjson.loads(body) if body else {},
            at=time.monotonic(),
        )
        self.stub.take(request, self)

    def respond(self, code: int, document: object, headers: Mapping[str, str] | None = None) -> None:
        if self.transport is None:
            return
        body = document if isinstance(document, bytes) else orjson.dumps(document)
        named = {"content-type": "application/json", "content-length": len(body), **(headers or {})}
        head = f"HTTP/1.1 {code} Stub\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items()) + "\r\n"
        self.transport.write(head.encode() + body)

    def leave(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def drop(self) -> None:
        if self.transport is not None:
            self.transport.abort()


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
        self.limit = limit
        """Requests under way at once; those beyond wait."""
        self.answer = answer
        self.probability: Callable[[StubRequest, int], float] | None = None
        """P(true or yes) of the word at a place of the reply, from 0; None gives no log-probabilities."""
        self.port = free_port() if port is None else port
        self.requests: deque[StubRequest] = deque(maxlen=_KEPT_REQUESTS)
        """Chat requests, the oldest first."""
        self.most_at_once = 0
        self.read = self.written = 0
        """Tokens of the prompts that it was sent and did not refuse, and of the replies that were fetched."""
        self.connections: set[_Connection] = set()
        self._under_way = 0
        self._waiting: deque[tuple[StubRequest, _Connection]] = deque()
        self._script: Script
        self.play(script)
        self._loop: asyncio.AbstractEventLoop | None = None
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
        assert started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self.down()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self.listen())
        started.set()
        self._loop.run_forever()
        self._loop.close()

    def _in_loop(self, work: Any) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def listen(self) -> None:
        """Open the port, in the running loop."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in tuple(self.connections):
            connection.drop()

    def take(self, request: StubRequest, connection: _Connection) -> None:
        """Begin with a request, or let it wait for a place."""
        if request.path.partition("?")[0].endswith("/models"):
            connection.respond(200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})
            return
        self.requests.append(request)
        if self.limit is not None and self._under_way >= self.limit:
            self._waiting.append((request, connection))
        else:
            self._begin(request, connection)

    def _begin(self, request: StubRequest, connection: _Connection) -> None:
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        act = self._script(request)
        if act.kind != "status" and act.document is None:
            self.read += request.size // 4 + 1
        if act.kind == "hang":
            connection.hanging = True
            return
        delay = self.delay if act.delay is None else act.delay
        asyncio.get_running_loop().call_later(delay, self._end, act, request, connection)

    def _end(self, act: Act, request: StubRequest, connection: _Connection) -> None:
        if act.kind == "close":
            connection.drop()
        elif act.kind == "status":
            error = {"message": act.detail, "type": "stub", "param": None, "code": None}
            body = {"error": error} if act.document is None else act.document
            connection.respond(act.status, body, act.headers)
        else:
            whole = self._completion(act, request) if act.document is None else act.document
            if connection.transport is not None and isinstance(whole, dict):
                self.written += whole.get("usage", {}).get("completion_tokens", 0)
            connection.respond(200, whole, act.headers)
        if act.closes:
            connection.leave()
        self.free_place()

    def free_place(self) -> None:
        """One request is over: begin with the one that waits longest."""
        self._under_way -= 1
        while self._waiting and (self.limit is None or self._under_way < self.limit):
            request, connection = self._waiting.popleft()
            # What nobody waits for any longer is dropped, as model servers do.
            if connection.transport is not None:
                self._begin(request, connection)

    def _content(self, act: Act, request: StubRequest) -> str:
        return act.change(self.answer(request)) if act.change else self.answer(request)

    def _completion(self, act: Act, request: StubRequest) -> dict[str, Any]:
        content = self._content(act, request)
        asked = sum(len(message["content"]) for message in request.body["messages"])
        prompt_tokens, completion_tokens = asked // 4 + 1, len(content) // 4 + 1
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
