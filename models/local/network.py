"""A small network that holds a claim against evidence word by word, and says how surely the evidence entails it.

Each word of the claim attends to the evidence, by several heads; what it finds there is compared with the word itself;
the comparisons, in the claim's order, decide (decomposable attention, Parikh et al. 2016; the enhancements of Chen et
al. 2017). Words come as vectors of the bundled sentence model, which stays as it is. benchmarks/judge/training made
the weights; the layers have their names there.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from models.local.layers import Array, gelu, joined_heads, layer_norm, linear, softmax, split_heads
from models.local.sides import Pair
from models.model_loading import ModelUnusable, batches_of

WEIGHTS = Path(__file__).parent / "weights.safetensors"

BATCH_WORDS = 8192
"""Words of the evidence that one forward pass reads, padding included: bounds its memory."""

HEADS = 4
SCALE = np.float32(8.0)
"""The vectors have length 1; the layers expect components of about that size."""

FAR = np.float32(-1e4)
"""A score that no attention falls upon."""


class Odds(NamedTuple):
    """Log-odds that a text is supported, and that it is contradicted."""

    supported: float
    denied: float


class Comparison:
    """The network: from batches, as `collated` makes them, to logits (rows, 3): entailed, neutral, contradicted."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights
        """By their names in the training."""

    def __call__(self, batch: dict[str, npt.NDArray[Any]]) -> Array:
        claim, evidence, said, there = batch["claim"], batch["evidence"], batch["said"], batch["there"]
        exact, equal, alike = batch["exact"], batch["equal"], claim @ evidence.swapaxes(1, 2)

        likeness = np.where(batch["written"], (batch["sentences"] * batch["gist"][:, None]).sum(-1), np.float32(-1))
        by_place = np.take_along_axis(likeness, batch["owners"], 1)
        query = split_heads(self._linear("q", claim * SCALE), HEADS)
        key = split_heads(self._linear("k", evidence * SCALE), HEADS)
        scores = query @ key.swapaxes(2, 3) / np.float32(math.sqrt(query.shape[-1]))
        # What the same word, the vectors' cosine, the same figure, and a sentence like the claim add to the attention.
        for column, found in enumerate((exact, alike, equal, by_place[:, None])):
            scores += self.weights["bias"][None, :, column, None, None] * found[:, None]
        attention = softmax(np.where(there[:, None, None], scores, FAR))  # rows, heads, words, places

        own = self._linear("proj", claim * SCALE)
        values = split_heads(self._linear("proj", evidence * SCALE), HEADS)
        met = joined_heads(attention @ values)
        about, nearest = _about(attention, alike, batch), _nearest(alike, batch)
        compared = np.concatenate([own, met, np.abs(own - met), own * met, about, nearest], -1)
        mask = said[..., None]
        states = self._normal("cmp.2", gelu(self._linear("cmp.0", compared))) * mask
        for layer in range(2):
            states = self._normal(f"norms.{layer}", states + gelu(self._neighbours(f"convs.{layer}", states))) * mask

        highest = np.where(mask, states, FAR).max(1)
        mean = states.sum(1) / np.maximum(said.sum(1, keepdims=True), 1)
        share = softmax(np.where(said, self._linear("weight", states)[..., 0], FAR))
        weighted = (states * share[..., None]).sum(1)
        closest = batch["sentences"][np.arange(len(claim)), likeness.argmax(1)]
        one, other = self._linear("gist", batch["gist"] * SCALE), self._linear("gist", closest * SCALE)
        sizes = [likeness.max(1), np.log1p(said.sum(1)) / 3, np.log1p(there.sum(1)) / 5]
        whole = [highest, mean, weighted, one, other, np.abs(one - other), one * other, np.stack(sizes, -1)]
        return self._linear("out.3", gelu(self._linear("out.0", np.concatenate(whole, -1, dtype=np.float32))))

    def log_odds(self, pairs: Sequence[Pair]) -> list[Odds]:
        """For each pair what it is worth, whatever else is asked at the same time."""
        found = [Odds(0.0, 0.0)] * len(pairs)
        for batch in batches_of([len(evidence.stems) for _, evidence in pairs], BATCH_WORDS):
            for index, (entailed, neutral, contradicted) in zip(
                batch, self(collated([pairs[index] for index in batch])).astype(float), strict=True
            ):
                supported = entailed - np.logaddexp(neutral, contradicted)
                found[index] = Odds(float(supported), float(contradicted - np.logaddexp(entailed, neutral)))
        return found

    def _linear(self, name: str, states: Array) -> Array:
        return linear(states, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _normal(self, name: str, states: Array) -> Array:
        return layer_norm(states, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _neighbours(self, name: str, states: Array) -> Array:
        """Each word with the ones before and behind it: a convolution of three."""
        padded = np.pad(states, ((0, 0), (1, 1), (0, 0)))
        three = np.concatenate([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]], -1)
        weight = self.weights[f"{name}.weight"]  # outputs, inputs, places
        return linear(three, weight.transpose(0, 2, 1).reshape(len(weight), -1), self.weights[f"{name}.bias"])


def _about(attention: Array, alike: Array, batch: dict[str, npt.NDArray[Any]]) -> Array:
    """(rows, words, 7 a head): of the places that each word attends to, what they are and how they follow on."""
    flags, owners, there = batch["evidence_flags"], batch["owners"], batch["there"]
    near = np.lib.stride_tricks.sliding_window_view(np.pad(flags[..., 3], ((0, 0), (4, 1))), 6, axis=1)
    order = np.broadcast_to(np.arange(flags.shape[1], dtype=np.float32), flags.shape[:2])
    found = _by_word(attention, np.stack([order, near.max(-1), flags[..., 2]], -1))
    sums = [(attention * each[:, None]).sum(-1).swapaxes(1, 2) for each in (batch["exact"], alike, batch["equal"])]
    one_hot = (owners[..., None] == np.arange(batch["sentences"].shape[1])) & there[..., None]
    homes = _by_word(attention, one_hot.astype(np.float32))
    together, step = np.zeros_like(found[..., 0]), np.zeros_like(found[..., 0])
    together[:, 1:] = (homes[:, 1:] * homes[:, :-1]).sum(-1)
    step[:, 1:] = np.tanh((found[:, 1:, :, 0] - found[:, :-1, :, 0] - 1) / 4)
    return np.concatenate([*sums, found[..., 1], found[..., 2], together, step], -1)


def _by_word(attention: Array, of_places: Array) -> Array:
    """(rows, words, heads, figures): the mean of the places' figures by each word's attention."""
    return (attention @ of_places[:, None]).swapaxes(1, 2)


def _nearest(alike: Array, batch: dict[str, npt.NDArray[Any]]) -> Array:
    """(rows, words, 7): what each word is, and the best that there is for it anywhere."""
    there = batch["there"][:, None]
    best = [
        (batch["exact"] * there).max(-1, keepdims=True),
        np.where(there, alike, np.float32(-1)).max(-1, keepdims=True),
        batch["equal"].max(-1, keepdims=True),
    ]
    return np.concatenate([batch["claim_flags"], *best], -1)


def collated(pairs: Sequence[Pair]) -> dict[str, npt.NDArray[Any]]:
    """Claims and their evidence, filled up to the longest; each side has at least one word."""
    claims, evidence = [claim for claim, _ in pairs], [side for _, side in pairs]
    known: dict[str, int] = {}
    own_stems = _padded([_numbered(side.stems, known) for side in claims], -1)
    their_stems = _padded([_numbered(side.stems, known) for side in evidence], -2)
    own_values, their_values = (_padded([side.values for side in sides], np.nan) for sides in (claims, evidence))
    own_values = own_values[:, :, None, :1]
    equal = np.abs(own_values - their_values[:, None]) < 1e-6 * (1.0 + np.abs(own_values))
    return {
        "claim": _padded([side.vectors for side in claims], 0.0).astype(np.float32),
        "evidence": _padded([side.vectors for side in evidence], 0.0).astype(np.float32),
        "said": _padded([np.ones(len(side.stems), dtype=bool) for side in claims], False),
        "there": _padded([np.ones(len(side.stems), dtype=bool) for side in evidence], False),
        "claim_flags": _padded([side.flags for side in claims], 0.0),
        "evidence_flags": _padded([side.flags for side in evidence], 0.0),
        "owners": _padded([side.owners for side in evidence], 0),
        "exact": (own_stems[:, :, None] == their_stems[:, None, :]).astype(np.float32),
        "equal": equal.any(-1).astype(np.float32),
        "sentences": _padded([side.sentences for side in evidence], 0.0).astype(np.float32),
        "written": _padded([np.ones(len(side.sentences), dtype=bool) for side in evidence], False),
        "gist": np.stack([side.sentences[0] for side in claims]).astype(np.float32),
    }


def _numbered(stems: Sequence[str], known: dict[str, int]) -> npt.NDArray[np.int64]:
    return np.array([known.setdefault(stem, len(known)) for stem in stems], dtype=np.int64)


def _padded(arrays: Sequence[npt.NDArray[Any]], fill: float) -> npt.NDArray[Any]:
    shape = (len(arrays), max(len(array) for array in arrays), *arrays[0].shape[1:])
    full = np.full(shape, fill, dtype=arrays[0].dtype)
    for row, array in enumerate(arrays):
        full[row, : len(array)] = array
    return full


def load_comparison() -> Comparison:
    """The network with the weights of the package.

    Raises:
        ModelUnusable: the file of the weights is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        weights = load_file(WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise ModelUnusable(f"the local judge's weights cannot be read: {error}") from error
    return Comparison({name: array.astype(np.float32) for name, array in weights.items()})
