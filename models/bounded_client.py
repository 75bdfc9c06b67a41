"""The HTTP client beneath the `openai` package: it reads no response beyond a size, whatever the endpoint sends."""

from typing import Any

import openai

from models.posting import bounded, is_bounded

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
        try:
            if (
                b"content-encoding" not in told
                and b"content-length" in told
                and is_bounded(int(told[b"content-length"]))
            ):
                # The usual case, without the work of making a response anew.
                await response.aread()
                return response
            body = await bounded(response.aiter_bytes())
        finally:
            # At once, rather than when it is collected.
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_THE_TRANSFER]
        return type(response)(
            response.status_code, headers=headers, content=body, request=request, extensions=response.extensions
        )
