"""Embeddings of an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import openai

from checkers.oracle.faults import quoted
from checkers.oracle.local.encoder import ModelUnusable
from checkers.oracle.settings import EndpointSettings

_BATCH = 128
"""Sentences a request: endpoints bound their number, and a request that fails is repeated as a whole."""


class EndpointAway(Exception):
    """The endpoint cannot be reached, or fails again and again."""


class EndpointModel:
    """A model behind an endpoint's `/embeddings`; what can pass by itself is tried again, as Retry-After asks."""

    def __init__(self, model: str, settings: EndpointSettings) -> None:
        """`settings` say where it is, with which key, and how often and how long it is tried.

        Raises:
            ModelUnusable: they do not say where.
        """
        self.name = f"openai/{model}"
        if settings.base_url is None:
            raise ModelUnusable(f"the model {self.name!r} is behind an endpoint, and judge.base_url is not set")
        self._model = model
        self._key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._settings = settings
        self.calls = 0
        self.tokens = 0

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        """A row for each sentence (sentences, dimensions).

        Raises:
            EndpointAway: it cannot be reached, or fails again and again.
            ModelUnusable: it refuses, or answers with something else than vectors.
        """
        with openai.OpenAI(
            # The package wants one even where the endpoint does not.
            api_key=self._key or "none",
            base_url=self._settings.base_url,
            timeout=self._settings.timeout_seconds,
            max_retries=self._settings.max_attempts - 1,
        ) as client:
            batches = (sentences[first : first + _BATCH] for first in range(0, len(sentences), _BATCH))
            return np.concatenate([self._encoded(client, batch) for batch in batches])

    def _encoded(self, client: openai.OpenAI, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        try:
            answer = client.embeddings.create(model=self._model, input=list(sentences), encoding_format="float")
            rows = {one.index: one.embedding for one in answer.data}
            found = np.array([rows[place] for place in range(len(sentences))], dtype=np.float64)
        except openai.APIStatusError as error:
            told = quoted(str(error.message), secret=self._key, prompt=" ".join(sentences))
            if error.status_code == 429 or error.status_code >= 500:
                raise EndpointAway(f"{self.name}: {told}") from None
            raise ModelUnusable(f"the model {self.name!r} is refused: {told}") from None
        except openai.APIConnectionError as error:
            raise EndpointAway(f"{self.name}: {error.__cause__ or error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, openai.APIError):
            raise ModelUnusable(f"the endpoint answered for {self.name!r} with something else than vectors") from None
        self.calls += 1
        self.tokens += answer.usage.prompt_tokens if answer.usage else 0
        return found
