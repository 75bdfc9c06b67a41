"""A cross-encoder trained on inference as a second opinion, where the settings name one."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.model_loading import ModelUnusable, cross_encoder

WINDOW_WORDS = 180
"""Words of the reference put beside a sentence at once: with the sentence about 256 pieces, what these models read."""

NLI_SHARE = 0.7
"""Weight of the inference model beside the judge's own figure: it was trained for the question, with labels."""


class NliModel:
    """A cross-encoder with entailment and contradiction among its labels, loaded on first use."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._loaded: tuple[Any, int] | None = None

    def load(self) -> None:
        """Read the weights now.

        Raises:
            ModelUnusable: no such model, or its labels are others.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()

    def entailment(self, passages: Sequence[str], sentences: Sequence[str]) -> list[float]:
        """For each sentence the highest probability, 0 to 1, that a stretch of the reference entails it."""
        if not sentences:
            return []
        stretches = stretches_of(passages)
        pairs = [(stretch, sentence) for sentence in sentences for stretch in stretches]
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            model, column = self._loaded
            found = model.predict(pairs, apply_softmax=True, show_progress_bar=False, convert_to_numpy=True)
        scores = np.asarray(found)[:, column].reshape(len(sentences), len(stretches))
        return [float(score) for score in scores.max(axis=1)]

    def _load(self) -> tuple[Any, int]:
        name = str(self._settings.nli_model)
        model, labels, column = cross_encoder(name)
        if column is None:
            only = sorted(label.lower() for label in labels)
            raise ModelUnusable(f"the cross-encoder {name!r} has no entailment label, only {only}")
        return model, column


def blend(support: float, entailment: float) -> float:
    """The judge's own figure and the inference model's as one, 0 to 1."""
    return round((1 - NLI_SHARE) * support + NLI_SHARE * entailment, 4)


def stretches_of(passages: Sequence[str]) -> list[str]:
    """Passages joined up to the window's length."""
    stretches: list[str] = []
    size = 0
    for passage in passages:
        count = len(passage.split())
        if stretches and size + count <= WINDOW_WORDS:
            stretches[-1] += " " + passage
            size += count
        else:
            stretches.append(passage)
            size = count
    return stretches or [""]
