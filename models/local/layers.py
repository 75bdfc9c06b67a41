"""Layers of small networks in numpy, so that the bundled judge needs no PyTorch."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_ERF_SCALE = 0.3275911
"""Abramowitz and Stegun 7.1.26: off by 1.5e-7 at most, which is what single precision has."""
_BLOCK = 16384
"""Numbers that are worked on together: they stay in the processor's cache."""


def linear(states: Array, weight: Array, bias: Array) -> Array:
    """States (..., inputs) through a layer whose `weight` is (outputs, inputs)."""
    # As one product of matrices: numpy multiplies a stack of them one by one.
    flat: Array = states.reshape(-1, states.shape[-1]) @ weight.T
    flat += bias
    return flat.reshape(*states.shape[:-1], -1)


def layer_norm(states: Array, weight: Array, bias: Array, epsilon: float = 1e-5) -> Array:
    """Each row with mean 0 and variance 1, then scaled and shifted."""
    centred: Array = states - states.mean(-1, keepdims=True)
    variance = np.square(centred).mean(-1, keepdims=True)
    centred /= np.sqrt(variance + np.float32(epsilon))
    centred *= weight
    centred += bias
    return centred


def gelu(states: Array) -> Array:
    """The exact one, by the error function."""
    flat, found = states.reshape(-1), np.empty(states.size, dtype=np.float32)
    for start in range(0, states.size, _BLOCK):
        found[start : start + _BLOCK] = _gelu(flat[start : start + _BLOCK])
    return found.reshape(states.shape)


def _gelu(states: Array) -> Array:
    size = np.abs(states) * np.float32(1 / np.sqrt(2))
    step = 1 / (1 + np.float32(_ERF_SCALE) * size)
    tail = np.full_like(states, _ERF[-1])
    for factor in reversed(_ERF[:-1]):
        tail *= step
        tail += np.float32(factor)
    tail *= step
    np.square(size, out=size)
    tail *= np.exp(-size)
    half = states * np.float32(0.5)
    found: Array = half + np.abs(half) * (1 - tail)
    return found


def softmax(scores: Array) -> Array:
    """Over the last dimension; `scores` is overwritten."""
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores


def split_heads(states: Array, heads: int) -> Array:
    """(rows, places, width) as (rows, heads, places, width of a head)."""
    rows, places, _ = states.shape
    return states.reshape(rows, places, heads, -1).transpose(0, 2, 1, 3)


def joined_heads(states: Array) -> Array:
    """The other way."""
    rows, _, places, _ = states.shape
    return states.transpose(0, 2, 1, 3).reshape(rows, places, -1)
