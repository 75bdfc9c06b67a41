"""One POST through httpx, bounded in time and size; what goes wrong is told as a fault of an exchange."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from models.faults import Refused, TimedOut, Transient, Unreachable

_MOST_BYTES = 16_000_000
"""Bound on a response: the parse of a sentence of 10,000 characters has some hundred bytes for each."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def is_bounded(length: int) -> bool:
    """True if a response may be so many bytes long."""
    return length <= _MOST_BYTES


async def bounded(pieces: AsyncIterator[bytes]) -> bytes:
    """The whole of a response.

    Raises:
        Refused: it is too large.
    """
    body = bytearray()
    async for piece in pieces:
        body += piece
        if not is_bounded(len(body)):
            raise Refused(f"its answer has more than {_MOST_BYTES} bytes")
    return bytes(body)


async def post(
    client: httpx.AsyncClient, url: str, content: bytes, *, seconds: float, params: Mapping[str, str] | None = None
) -> Response:
    """The response to `content`, whatever its status.

    Raises:
        ExchangeFault: there is none, or it is too large; the class says what to do about it.
    """
    try:
        async with asyncio.timeout(seconds), client.stream("POST", url, params=params, content=content) as response:
            return Response(response.status_code, response.headers, await bounded(response.aiter_bytes()))
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise Unreachable("cannot connect") from None
    except TimeoutError:
        raise TimedOut(f"no answer within {seconds:.3g} seconds") from None
    except httpx.HTTPError as error:
        raise Transient(f"the connection broke ({type(error).__name__})") from None
