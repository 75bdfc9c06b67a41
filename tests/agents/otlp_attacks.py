"""What somebody who means harm sends: OTLP that is broken, and requests that are no good."""

import asyncio
import contextlib
import gzip
import random

from tests.support.otlp import as_json, chat, span, traces


def broken_messages(draw: random.Random, number: int) -> list[bytes]:
    """Requests of spans, protobuf and JSON, with bytes exchanged, left out and put in."""
    requests = [traces(span(7, chat())), traces(span(7, chat(**{"gen_ai.output.messages": '[{"role": "assist'})))]
    forms = [encoded for request in requests for encoded in (as_json(request), request.SerializeToString())]
    return [_broken(draw, draw.choice(forms)) for _ in range(number)]


def _broken(draw: random.Random, message: bytes) -> bytes:
    broken = bytearray(message)
    for _ in range(draw.choice([1, 2, 5])):
        at = draw.randrange(len(broken))
        match draw.randrange(3):
            case 0:
                broken[at] = draw.randrange(256)
            case 1:
                del broken[at : at + draw.randrange(9)]
            case _:
                broken[at:at] = draw.randbytes(draw.randrange(9))
    return bytes(broken)


_GOOD = traces(span(1, chat())).SerializeToString()
_SMALL_BOMB = gzip.compress(bytes(30_000_000))


def hostile(draw: random.Random, token: str) -> bytes:
    """A whole request, or what pretends to be one; none of them is right."""
    path = draw.choice([b"/v1/traces", b"/v1/logs"])
    given = f"Authorization: Bearer {token}\r\n".encode()
    kind = b"Content-Type: application/x-protobuf\r\n"
    noise = draw.randbytes(draw.randrange(1, 2000))
    start = b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"

    def length(number: int) -> bytes:
        return f"Content-Length: {number}\r\n\r\n".encode()

    return draw.choice(
        [
            start + kind + length(len(_GOOD)) + _GOOD,
            start + given.replace(b"Bearer ", b"Bearer x") + kind + length(len(_GOOD)) + _GOOD,
            start + given + b"Content-Type: text/html\r\n" + length(len(_GOOD)) + _GOOD,
            start + given + kind + b"Content-Encoding: gzip\r\n" + length(len(_SMALL_BOMB)) + _SMALL_BOMB,
            start + given + kind + b"Content-Encoding: gzip\r\n" + length(len(noise)) + noise,
            start + given + kind + length(10**12) + noise,
            start + given + kind + length(len(noise) + 500) + noise,
            start + given + kind + b"Content-Length: -5\r\n\r\n" + noise,
            start + given + kind + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n" + noise,
            start + given + kind + length(len(noise) + 1) + b"\xff" + noise,
            start + given + b"Content-Type: application/json\r\n" + length(len(noise)) + noise,
            start + given + b"Content-Type: application/json\r\n" + length(60_000) + b"[" * 60_000,
            b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            b"POST /v1/metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + length(0),
            b"POST " + path + b" HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
            noise + b"\r\n\r\n",
        ]
    )


async def raw_answer(port: int, request: bytes) -> bytes:
    """The answer to these bytes; empty if the connection was closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(request)
            await writer.drain()
            return await asyncio.wait_for(reader.read(), 30)
    finally:
        writer.close()
    return b""
