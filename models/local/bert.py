"""The bundled model as a network of PyTorch's own layers.

`sentence-transformers` and `transformers` take longer to import than everything else that judges a record.
"""

import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

from models.model_loading import loading

_LOADING = threading.Lock()

_PARTS = {
    "self_attn.out_proj": "attention.output.dense",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm1": "attention.output.LayerNorm",
    "norm2": "output.LayerNorm",
}
"""Names of a layer's weights, as PyTorch names them and as BERT's weights do; queries, keys and values lie in one."""


class Bert:
    """The network in a folder, on the processor."""

    def __init__(self, folder: Path) -> None:
        from safetensors.torch import load_file

        self._config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._weights = load_file(folder / "model.safetensors")
        self._layers = [self._layer(f"encoder.layer.{index}.") for index in range(self._config["num_hidden_layers"])]

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self._layers)

    def __call__(self, tokens: Any, mask: Any) -> list[Any]:
        """States (rows, pieces, dimensions) before the first layer and behind each; `mask` is 0 for padding."""
        from torch.nn.functional import layer_norm

        words, positions, types, weight, bias = (
            self._weights[f"embeddings.{name}"]
            for name in (
                "word_embeddings.weight",
                "position_embeddings.weight",
                "token_type_embeddings.weight",
                "LayerNorm.weight",
                "LayerNorm.bias",
            )
        )
        embedded = words[tokens] + positions[: tokens.shape[1]] + types[0]
        states = [layer_norm(embedded, (words.shape[1],), weight, bias, self._config["layer_norm_eps"])]
        for layer in self._layers:
            states.append(layer(states[-1], src_key_padding_mask=mask == 0))
        return states

    def _layer(self, at: str) -> Any:
        import torch

        found: dict[str, Any] = {}
        for kind in ("weight", "bias"):
            found |= {f"{ours}.{kind}": self._weights.pop(f"{at}{theirs}.{kind}") for ours, theirs in _PARTS.items()}
            found[f"self_attn.in_proj_{kind}"] = torch.cat(
                [self._weights.pop(f"{at}attention.self.{name}.{kind}") for name in ("query", "key", "value")]
            )
        with torch.device("meta"):
            layer = torch.nn.TransformerEncoderLayer(
                self._config["hidden_size"],
                self._config["num_attention_heads"],
                self._config["intermediate_size"],
                activation=self._config["hidden_act"],
                layer_norm_eps=self._config["layer_norm_eps"],
                batch_first=True,
            )
        layer.load_state_dict(found, assign=True)
        return layer.eval()


def bert(folder: Path) -> Bert:
    """The network in a folder, loaded once for all that read it.

    Raises:
        ModelUnusable: it cannot be loaded, or a package is missing.
    """
    with _LOADING:
        return _bert(folder)


@cache
def _bert(folder: Path) -> Bert:
    with loading("bundled model", str(folder)):
        return Bert(folder)
