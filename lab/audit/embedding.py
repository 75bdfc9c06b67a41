"""Sentences to vectors, each sentence once: by a model of sentence-transformers or behind an endpoint."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import click
import numpy as np
import numpy.typing as npt
import openai

from assay.cli.common import CannotRun, NotFinished, progress
from checkers.wording import plain
from models.endpoint import client_options, quoted, request_headers
from models.local.encoder import bundled_model
from models.model_loading import ModelUnusable, sentence_transformer
from models.settings import EndpointSettings
from schemas.base import BUNDLED_MODEL

BUNDLED = "bundled"  # names the model that comes with the local judge

_BLOCK = 1024  # sentences between two looks at the progress
_RETRIES = 3
_BATCH = 128  # sentences a request: endpoints bound their number, and a request that fails is repeated as a whole

Vectors: TypeAlias = Mapping[str, npt.NDArray[np.float32]]
"""Of distinct sentences, of length 1."""


class SentenceTransformerModel:
    """Any model of sentence-transformers: of a hub, in a folder, or `bundled`."""

    def __init__(self, name: str) -> None:
        ours = name == BUNDLED
        self.name = BUNDLED_MODEL if ours else name
        try:
            self._model = sentence_transformer(str(bundled_model()) if ours else name, local_files_only=ours)
        except ModelUnusable as error:
            raise CannotRun(str(error)) from error

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        """A row for each sentence (sentences, dimensions)."""
        return np.asarray(self._model.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False))


class EndpointModel:
    """A model behind the `/embeddings` of an OpenAI-compatible endpoint; passing failures are tried again."""

    def __init__(self, model: str, settings: EndpointSettings) -> None:
        self.name = f"openai/{model}"
        if settings.base_url is None:
            raise CannotRun(f"the model {self.name!r} is behind an endpoint, and judge.base_url is not set")
        self._settings = settings
        self._request: dict[str, Any] = {"model": model, "encoding_format": "float"}
        self.calls = self.tokens = 0

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        """A row for each sentence (sentences, dimensions)."""
        # Keys in further headers would go where a redirection leads.
        http = openai.DefaultHttpxClient(follow_redirects=False)
        options = client_options(self._settings) | {"timeout": self._settings.timeout_seconds, "http_client": http}
        with openai.OpenAI(**options, max_retries=_RETRIES) as client:
            batches = (sentences[first : first + _BATCH] for first in range(0, len(sentences), _BATCH))
            return np.concatenate([self._encoded(client, list(batch)) for batch in batches])

    def _encoded(self, client: openai.OpenAI, sentences: list[str]) -> npt.NDArray[np.floating]:
        headers = request_headers(self._settings)
        try:
            answer = client.embeddings.create(**self._request, input=sentences, extra_headers=headers)
            rows = {one.index: one.embedding for one in answer.data}
            found = np.array([rows[place] for place in range(len(sentences))], dtype=np.float64)
        except openai.APIStatusError as error:
            detail = quoted(str(error.message), secrets=self._settings.secrets, prompt=" ".join(sentences))
            if error.status_code == 429 or error.status_code >= 500:
                raise NotFinished(f"{self.name}: {detail}") from None
            raise CannotRun(f"the model {self.name!r} is refused: {detail}") from None
        except openai.APIConnectionError as error:
            raise NotFinished(f"{self.name}: {error.__cause__ or error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, openai.APIError):
            raise CannotRun(f"the endpoint answered for {self.name!r} with something else than vectors") from None
        self.calls += 1
        self.tokens += answer.usage.prompt_tokens if answer.usage else 0
        return found


Embedder: TypeAlias = SentenceTransformerModel | EndpointModel


def embedder(name: str, endpoint: EndpointSettings) -> Embedder:
    """The model of this name, its weights read; `openai:NAME` is behind the endpoint."""
    kind, _, model = name.partition(":")
    return EndpointModel(model, endpoint) if kind == "openai" and model else SentenceTransformerModel(name)


def encoded(model: Embedder, sentences: Iterable[str]) -> Vectors:
    """The vector of every distinct sentence."""
    # Longest first: what does not fit into memory shows at once, and sentences of a block are padded little.
    distinct = sorted(dict.fromkeys(sentences), key=len, reverse=True)
    found: dict[str, npt.NDArray[np.float32]] = {}
    title = plain(model.name)
    with progress(len(distinct)) as shown:
        for first in range(0, len(distinct), _BLOCK):
            block = distinct[first : first + _BLOCK]
            rows = np.asarray(model.encode(block))
            if rows.ndim != 2 or len(rows) != len(block):
                raise CannotRun(f"the model {model.name!r} gave an array of shape {rows.shape} for {len(block)} texts")
            if not np.isfinite(rows).all():
                raise CannotRun(f"the model {model.name!r} gave vectors with numbers that are not finite")
            found.update(zip(block, unit(rows).astype(np.float32), strict=True))
            shown.at(len(found), f"{title}: {len(found)} of {len(distinct)} sentences")
    if isinstance(model, EndpointModel):
        click.echo(f"{title}: {model.calls} calls, {model.tokens} tokens", err=True)
    return found


def unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Rows scaled to length 1 in double precision; rows of zeros stay."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))
