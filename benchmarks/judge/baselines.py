"""Plain measures of how much of a response is in its reference, on the local judge's own model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.local.encoder import bundled_model, unit
from models.local.text import plain, words_of
from models.sentences import split_sentences

Vectors = npt.NDArray[np.float32]
BATCH = 64
WINDOW_WORDS = 170
_MOST_WORDS = 50_000


class Baselines:
    """ROUGE-L, greedy token matching and nearest-sentence cosine; texts are encoded once and kept."""

    def __init__(self, model: str | None, threads: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self._model: Any = SentenceTransformer(model or str(bundled_model()), device="cpu")
        self._tokens: dict[str, Vectors] = {}
        self._pooled: dict[str, Vectors] = {}
        self._scores: dict[tuple[str, str, tuple[str, ...], bool], dict[str, float]] = {}

    def scores(self, reference: str, response: str, sentences: Sequence[str], *, symmetric: bool) -> dict[str, float]:
        """Each measure, 0 to 1; `symmetric` takes the F-measure, else only the response's side counts."""
        key = (reference, response, tuple(sentences), symmetric)
        if key not in self._scores:
            self._scores[key] = self._measured(reference, response, sentences, symmetric=symmetric)
        return self._scores[key]

    def _measured(
        self, reference: str, response: str, sentences: Sequence[str], *, symmetric: bool
    ) -> dict[str, float]:
        self.prepare([(reference, response, sentences)])
        parts, said = _parts(reference), list(sentences) or [""]
        mine, theirs = self._joined(response), self._joined(reference)
        likeness = mine @ theirs.T
        precision, recall = float(likeness.max(axis=1).mean()), float(likeness.max(axis=0).mean())
        greedy = _harmonic(precision, recall) if symmetric else precision
        nearest = np.stack([self._pooled[s] for s in said]) @ np.stack([self._pooled[p] for p in parts]).T
        return {
            "ROUGE-L": rouge_l(reference, response, symmetric=symmetric),
            "token greedy match": greedy,
            "nearest-sentence cosine": float(nearest.max(axis=1).mean()),
        }

    def prepare(self, texts: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """Encode many references, responses and sentences at once, which is quicker than one by one."""
        pooled: list[str] = []
        windows: list[str] = []
        for reference, response, sentences in texts:
            pooled += [*_parts(reference), *(sentences or [""])]
            windows += [*_windows(reference), *_windows(response)]
        self._encode(pooled, windows)

    def _joined(self, text: str) -> Vectors:
        return np.concatenate([self._tokens[window] for window in _windows(text)])

    def _encode(self, sentences: Sequence[str], windows: Sequence[str]) -> None:
        for texts, kept, kind in (
            (sentences, self._pooled, "sentence_embedding"),
            (windows, self._tokens, "token_embeddings"),
        ):
            todo = [text for text in dict.fromkeys(texts) if text not in kept]
            if not todo:
                continue
            found = self._model.encode(
                [plain(text) for text in todo],
                output_value=kind,
                batch_size=BATCH,
                show_progress_bar=False,
                convert_to_numpy=kind == "sentence_embedding",
            )
            for text, vectors in zip(todo, found, strict=True):
                kept[text] = unit(np.asarray(vectors, dtype=np.float32))


def _parts(reference: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(reference)] or [""]


def _windows(text: str) -> list[str]:
    found = text.split()
    return [" ".join(found[k : k + WINDOW_WORDS]) for k in range(0, len(found), WINDOW_WORDS)] or [""]


def rouge_l(reference: str, response: str, *, symmetric: bool) -> float:
    """The longest common subsequence over the response's words, or its F-measure."""
    mine, theirs = ([word.key for word in words_of(plain(text), _MOST_WORDS)] for text in (response, reference))
    if not mine or not theirs:
        return 0.0
    numbers: dict[str, int] = {}
    coded = np.array([numbers.setdefault(word, len(numbers)) for word in theirs])
    row = np.zeros(len(theirs) + 1, dtype=np.int64)
    for word in mine:
        extended = np.where(coded == numbers.get(word, -1), row[:-1] + 1, 0)
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], extended))
    shared = int(row[-1])
    return _harmonic(shared / len(mine), shared / len(theirs)) if symmetric else shared / len(mine)


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first + second > 0 else 0.0
