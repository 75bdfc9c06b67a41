"""Whether a server is there at all."""

import httpx

from checkers.retrieval.audit.stores.address import Address, Server
from checkers.retrieval.audit.stores.store import StoreFailed, first_line

_PATIENCE_SECONDS = 5.0
"""A server that is up answers in milliseconds; the clients of the stores would wait for minutes, or for ever."""


def require_answer(address: Address, server: Server) -> None:
    """Return once the server has answered anything.

    Raises:
        StoreFailed: it is not there, or did not answer in time.
    """
    try:
        httpx.get(server.url, timeout=_PATIENCE_SECONDS)
    except httpx.TimeoutException as error:
        raise StoreFailed(f"{address.shown} did not answer within {_PATIENCE_SECONDS:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreFailed(f"{address.shown} cannot be reached: {first_line(error)}") from error
