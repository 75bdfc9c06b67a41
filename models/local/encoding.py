"""Texts made ready for comparison; references that records share are encoded once."""

import hashlib
import threading
from collections.abc import Mapping, Sequence

import numpy as np
from cachetools import LRUCache

from models.local.encoded_text import Draft, Encoded, draft, encoded_text
from models.local.encoder import DIMENSIONS, Encoder, Reading, without_foreign
from models.text.words import passages

_BATCH_PIECES = 4096
_REFERENCE_WORDS = 50_000
"""Words of a reference that are read: about a hundred pages, so that one record bounds its memory and time."""
_SENTENCE_WORDS = 500
"""Words of one sentence that are read: no claim is longer."""
_KEPT_REFERENCES = 256
"""Encoded references kept for records that share one: as many as are checked side by side, and twice that."""


class TextEncoder:
    """Encodes sentences and references with the bundled model; any number of threads may ask."""

    def __init__(self) -> None:
        self._encoder = Encoder(_BATCH_PIECES)
        self._references: LRUCache[str, Encoded] = LRUCache(_KEPT_REFERENCES)
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the model now.

        Raises:
            ModelUnusable: it is missing.
        """
        self._encoder.load()

    def sentences(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """Each text as one sentence."""
        return self._encoded({text: (text,) for text in texts}, _SENTENCE_WORDS)

    def references(self, texts: Sequence[str]) -> dict[str, Encoded]:
        """Each text cut into its sentences, from the cache or encoded in one go."""
        ready = {text: found for text in texts if (found := self._cached(text)) is not None}
        fresh = self._encoded({text: tuple(passages(text)) for text in texts if text not in ready}, _REFERENCE_WORDS)
        for text, prepared in fresh.items():
            self._keep(text, prepared)
        return ready | fresh

    def _encoded(self, texts: Mapping[str, tuple[str, ...]], limit: int) -> dict[str, Encoded]:
        drafts = {text: draft(parts, limit) for text, parts in texts.items()}
        stretches = [drafted.stretches() for drafted in drafts.values()]
        read = iter(self._encoder.encode([one for of_text in stretches for one in of_text]))
        return {
            text: _put_together(drafted, [next(read) for _ in of_text])
            for (text, drafted), of_text in zip(drafts.items(), stretches, strict=True)
        }

    def _cached(self, text: str) -> Encoded | None:
        key = _digest(text)
        with self._lock:
            return self._references.get(key)

    def _keep(self, text: str, prepared: Encoded) -> None:
        with self._lock:
            self._references[_digest(text)] = prepared


def _put_together(drafted: Draft, readings: Sequence[Reading]) -> Encoded:
    filled = [reading for reading in readings if len(reading.words)]
    none = np.zeros(DIMENSIONS, dtype=np.float32)
    gists = np.array([reading.gist if len(reading.words) else none for reading in readings]).reshape(-1, DIMENSIONS)
    vectors = np.concatenate([reading.words for reading in filled] or [np.zeros((0, DIMENSIONS), dtype=np.float32)])
    return encoded_text(drafted, without_foreign(drafted.words, vectors), gists)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
