"""The bundled sentence model's network."""

import json
import math
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.local.layers import Array, gelu, joined_heads, layer_norm, linear, softmax, split_heads
from models.model_loading import loading

_LOADING = threading.Lock()

_FAR = np.float32(-1e9)
"""A score that no attention falls upon."""


class Bert:
    """The network in a folder."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._weights: Mapping[str, Array] = load_file(folder / "model.safetensors")
        self.depth: int = config["num_hidden_layers"]
        """The number of layers."""

    def __call__(self, tokens: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> list[Array]:
        """States (rows, pieces, dimensions) before the first layer and behind each; `mask` is False for padding."""
        words, positions, types = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        embedded = words[tokens] + positions[: tokens.shape[1]] + types[0]
        states = [self._normal("embeddings.LayerNorm", embedded)]
        for number in range(self.depth):
            states.append(self._layer(f"encoder.layer.{number}", states[-1], mask))
        return states

    def _layer(self, at: str, states: Array, mask: npt.NDArray[np.bool_]) -> Array:
        query, key, value = (
            split_heads(self._linear(f"{at}.attention.self.{name}", states), self._heads)
            for name in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(2, 3)
        scores /= np.float32(math.sqrt(query.shape[-1]))
        met = joined_heads(softmax(np.where(mask[:, None, None], scores, _FAR)) @ value)
        attended = self._normal(
            f"{at}.attention.output.LayerNorm", states + self._linear(f"{at}.attention.output.dense", met)
        )
        inner = gelu(self._linear(f"{at}.intermediate.dense", attended))
        return self._normal(f"{at}.output.LayerNorm", attended + self._linear(f"{at}.output.dense", inner))

    def _linear(self, name: str, states: Array) -> Array:
        return linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normal(self, name: str, states: Array) -> Array:
        return layer_norm(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"], self._epsilon)


def bert(folder: Path) -> Bert:
    """The network in a folder, loaded once for all that read it.

    Raises:
        ModelUnusable: it cannot be loaded, or a package is missing.
    """
    with _LOADING:
        return _bert(folder)


@cache
def _bert(folder: Path) -> Bert:
    with loading("bundled model", str(folder), extra="local"):
        return Bert(folder)
