"""Who may see the page: a content policy on every answer, a token, and requests that come from the page itself."""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from web.settings import is_loopback

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

COOKIE = "assay"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_OPEN = ("/login", "/static/")  # paths that need no token


async def set_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Put the policy onto every answer."""
    response.headers.update(HEADERS)
    is_static = request.path.startswith("/static/")
    response.headers.setdefault(hdrs.CACHE_CONTROL, "no-cache" if is_static else "no-store")


class Guard:
    """Lets requests through."""

    def __init__(self, host: str, token: str | None) -> None:
        """`host` is the address that is listened on."""
        # Where a token is demanded another name has no cookie, and may be a proxy's.
        self._local = is_loopback(host) and token is None
        self._token = token
        # The cookie is not the token, and ends with the process.
        self._session = secrets.token_urlsafe(32)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer those that may not."""
        # A foreign name that points here is how a page elsewhere would read this one.
        if self._local and not is_loopback(_name(request.host)):
            raise web.HTTPMisdirectedRequest(text="this page is opened by 127.0.0.1 or localhost")
        if request.method not in {hdrs.METH_GET, hdrs.METH_HEAD} and not _from_here(request):
            raise web.HTTPForbidden(text="the request comes from another page")
        if self._may_see(request) or request.path.startswith(_OPEN):
            return await handler(request)
        if request.method == hdrs.METH_GET and "text/html" in request.headers.get(hdrs.ACCEPT, ""):
            raise web.HTTPSeeOther("/login")
        raise web.HTTPUnauthorized(text="a token is needed", headers={hdrs.WWW_AUTHENTICATE: "Bearer"})

    def log_in(self, response: web.StreamResponse, token: str) -> bool:
        """Let the browser in if the token is the right one; false if it is not."""
        if self._token is None or not _equal(token, self._token):
            return False
        response.set_cookie(COOKIE, self._session, httponly=True, samesite="Strict", path="/")
        return True

    def _may_see(self, request: web.Request) -> bool:
        if self._token is None:
            return True
        scheme, _, given = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        bears = scheme.lower() == "bearer" and _equal(given.strip(), self._token)
        return bears or _equal(request.cookies.get(COOKIE, ""), self._session)


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), right.encode())


def _name(host: str) -> str:
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host


def _from_here(request: web.Request) -> bool:
    if site := request.headers.get("Sec-Fetch-Site"):
        return site == "same-origin"
    return urlsplit(request.headers.get(hdrs.ORIGIN, "")).netloc == request.host != ""
