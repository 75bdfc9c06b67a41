"""HTTP to one endpoint: many requests at once that differ in their bodies alone, over connections that are kept."""

import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import aiohttp
import yarl

from checkers.oracle.faults import TimedOut, Transient, Unreachable

_CONNECT_SECONDS = 10.0
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Response:
    """A response, read to its end."""

    status: int
    headers: Mapping[str, str]
    """Found in any case of letters."""
    body: bytes


class Poster:
    """Posts bodies to `url`; belongs to one event loop."""

    def __init__(self, url: str, *, headers: Mapping[str, str], connections: int) -> None:
        self._url = yarl.URL(url)
        self._headers = dict(headers)
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes, *, seconds: float) -> Response:
        """The response, whatever its status; redirects are not followed.

        Raises:
            Unreachable: no connection came about.
            TimedOut: there was no whole response within `seconds`.
        Transient: the connection broke.
        """
        session = self._session or self._open()
        try:
            async with session.post(
                self._url,
                data=body,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS),
            ) as response:
                return Response(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            _sort(error, seconds)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        # Reading the certificates takes as long as a hundred exchanges: only where they are needed.
        context = ssl.create_default_context() if self._url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=context),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            # Found out once: left to aiohttp (trust_env), it takes two turns of a thread for each request.
            proxy=_proxy_for(self._url),
        )
        return self._session


def _proxy_for(url: yarl.URL) -> str | None:
    if url.host is None or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _sort(error: Exception, seconds: float) -> NoReturn:
    reason = f"{error}"[:_SHOWN] or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        raise Unreachable(f"cannot connect: {reason}") from None
    if isinstance(error, TimeoutError):
        raise TimedOut(f"no answer within {seconds:.3g} seconds") from None
    raise Transient(f"the connection broke: {reason}") from None
