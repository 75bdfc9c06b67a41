"""The tokens with which values begin, from the endpoint's own tokenizer: wrong values can be kept out by them."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx

from models.faults import passing
from models.protocol import OracleUnavailable
from models.settings import EndpointSettings

_QUOTE = '"'
_RETRY_SECONDS = 5.0


class EndpointTokenizer:
    """`/tokenize` beside the API, as vLLM and llama.cpp have it."""

    def __init__(self, settings: EndpointSettings) -> None:
        self._model = settings.model
        root = urlsplit(str(settings.base_url))._replace(query="").geturl()
        self._url = f"{root.removesuffix('/v1')}/tokenize" if settings.base_url else None
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        if settings.api_key is not None:
            headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self._client = httpx.AsyncClient(headers=headers, timeout=settings.timeout_seconds)
        self._quote: list[int] | None = None

    async def first_tokens(self, values: Sequence[str]) -> list[int] | None:
        """For each value the token with which it begins behind a quotation mark; None if there is no tokenizer.

        Raises:
            OracleUnavailable: the endpoint cannot be reached.
        """
        if self._quote is None:
            self._quote = await self._tokens(_QUOTE)
        if self._quote is None:
            return None
        found: list[int] = []
        for value in values:
            tokens = await self._tokens(_QUOTE + value)
            if tokens is None:
                return None
            # The mark may be one token with what follows it.
            behind = len(self._quote) if tokens[: len(self._quote)] == self._quote else 0
            if len(tokens) == behind:
                return None
            found.append(tokens[behind])
        return found

    async def close(self) -> None:
        await self._client.aclose()

    async def _tokens(self, text: str) -> list[int] | None:
        if self._url is None:
            return None
        # What one of the two servers calls `prompt`, the other calls `content`.
        asked = {"model": self._model, "prompt": text, "content": text, "add_special_tokens": False}
        try:
            response = await self._client.post(self._url, json=asked)
        except httpx.TransportError as error:
            raise OracleUnavailable(f"{self._url}: {error}", retry_after=_RETRY_SECONDS) from None
        # Not implemented is for good, as is whatever says that there is no such path.
        if response.status_code != httpx.codes.NOT_IMPLEMENTED and passing(response.status_code, ""):
            raise OracleUnavailable(f"{self._url}: status {response.status_code}", retry_after=_RETRY_SECONDS)
        try:
            tokens = response.json()["tokens"] if response.is_success else None
        except (ValueError, KeyError, TypeError):
            return None
        return tokens if isinstance(tokens, list) and all(isinstance(one, int) for one in tokens) else None
