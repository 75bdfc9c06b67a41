"""The HTTP client beneath the `openai` package: it reads no response beyond a size, whatever the endpoint sends."""

from typing import Any

import openai

from checkers.oracle.faults import Refused
from checkers.oracle.posting import MOST_BYTES

_OF_THE_TRANSFER = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that no longer apply to a body that was read and decoded."""


class BoundedClient(openai.DefaultAioHttpClient):
    """Responses come read; none is streamed."""

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """The response to `request`.

        Raises:
            Refused: it is too large.
        """
        response = await super().send(request, stream=True, **options)
        told = {name.lower(): value for name, value in response.headers.raw}
        if b"content-encoding" not in told and int(told.get(b"content-length", MOST_BYTES + 1)) <= MOST_BYTES:
            # The usual case, without the work of making a response anew.
            await response.aread()
            return response
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise Refused(f"its answer has more than {MOST_BYTES} bytes")
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_TRANSFER]
        return type(response)(
            response.status_code, headers=headers, content=bytes(body), request=request, extensions=response.extensions
        )
