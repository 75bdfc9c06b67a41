"""HTTP for the `openai` client: aiohttp underneath, and no more of httpx than that client needs.

Measured with 64 requests under way, this takes well under half of the processor time of the client's own transport:
no cookies, redirects, hooks or request log, which a judge's endpoint has no use for.
"""

import ssl
import urllib.request
from typing import Any, NoReturn

import aiohttp
import httpx2

BODY = "assay.body"
"""The extension of a response that holds its bytes, already read."""

_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")
_CONNECT_SECONDS = 10.0


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends a request through aiohttp and reads its response to the end; belongs to one event loop."""

    def __init__(self, *, connections: int) -> None:
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, its body in the extension `BODY`; redirects are not followed.

        Raises:
            httpx2.ConnectError: no connection came about.
            httpx2.TimeoutException: the seconds of the request's extension `timeout` are over.
            httpx2.TransportError: the connection broke.
        """
        session = self._session or self._open(request.url)
        try:
            async with session.request(
                request.method,
                str(request.url),
                data=request.extensions["content"],
                headers=request.headers.multi_items(),
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=request.extensions["timeout"], sock_connect=_CONNECT_SECONDS),
            ) as response:
                body = await response.read()
                headers = [(name, value) for name in _KEPT_HEADERS if (value := response.headers.get(name))]
                status = response.status
        except (aiohttp.ClientError, TimeoutError) as error:
            _translate(error, request)
        return httpx2.Response(
            status, headers=headers, stream=httpx2.ByteStream(body), request=request, extensions={BODY: body}
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self, url: httpx2.URL) -> aiohttp.ClientSession:
        # Reading the certificates takes as long as a hundred exchanges: only where they are needed.
        context = ssl.create_default_context() if url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=context),
            cookie_jar=aiohttp.DummyCookieJar(),
            # Found out once: left to aiohttp (trust_env), it takes two turns of a thread for each request.
            proxy=_proxy_for(url),
        )
        return self._session


class AiohttpClient(httpx2.AsyncClient):
    """What the `openai` client is given as its `http_client`; for one endpoint."""

    def __init__(self, *, connections: int) -> None:
        self._direct = AiohttpTransport(connections=connections)
        self._urls: dict[str, httpx2.URL] = {}
        super().__init__(transport=self._direct)

    def build_request(
        self,
        method: str,
        url: httpx2.URL | str,
        *,
        content: Any = None,
        headers: Any = None,
        timeout: Any = None,
        **_: Any,
    ) -> httpx2.Request:
        """A request for `send`; `timeout` is for the whole exchange, in seconds."""
        # An endpoint has one or two addresses, and reading one takes longer than all else here.
        known = self._urls.get(str(url))
        if known is None:
            known = self._urls[str(url)] = httpx2.URL(url)
        return httpx2.Request(
            method,
            known,
            headers=headers,
            stream=httpx2.ByteStream(content or b""),
            extensions={"content": content, "timeout": timeout},
        )

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """The response, without following redirects."""
        return await self._direct.handle_async_request(request)


def _proxy_for(url: httpx2.URL) -> str | None:
    if urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _translate(error: Exception, request: httpx2.Request) -> NoReturn:
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        raise httpx2.ConnectError(str(error), request=request) from error
    if isinstance(error, TimeoutError):
        raise httpx2.ReadTimeout(str(error), request=request) from error
    raise httpx2.ReadError(str(error), request=request) from error
