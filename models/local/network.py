"""A small network that holds a claim against evidence word by word, and says how surely the evidence entails it.

Each word of the claim attends to the evidence, by several heads; what it finds there is compared with the word itself;
the comparisons, in the claim's order, decide (decomposable attention, Parikh et al. 2016; the enhancements of Chen et
al. 2017). Words come as vectors of the bundled sentence model, which stays as it is. benchmarks/judge/training made
the weights.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.local.sides import Pair
from models.model_loading import ModelUnusable, batches_of

WEIGHTS = Path(__file__).parent / "weights.safetensors"

BATCH_WORDS = 8192
"""Words of the evidence that one forward pass reads, padding included: bounds its memory."""

_SCALE = 8.0
"""The vectors have length 1; the layers expect components of about that size."""

_FAR = -1e4
"""A score that no attention falls upon."""


class Odds(NamedTuple):
    """Log-odds that a text is supported, and that it is contradicted."""

    supported: float
    denied: float


class Comparison(nn.Module):  # type: ignore[misc]
    """The network: from batches, as `collated` makes them, to logits (rows, 3): entailed, neutral, contradicted."""

    def __init__(self, dimensions: int = 384, width: int = 128, heads: int = 4, layers: int = 2, dropout: float = 0.0):
        super().__init__()
        self.heads = heads
        self.proj = nn.Linear(dimensions, width)
        self.q = nn.Linear(dimensions, width)
        self.k = nn.Linear(dimensions, width)
        # What the same word, the vectors' cosine, the same figure, and a sentence like the claim add to the attention.
        self.bias = nn.Parameter(torch.tensor([[4.0, 8.0, 0.0, 2.0]] * heads) + torch.randn(heads, 4) * 0.3)
        self.cmp = nn.Sequential(
            nn.Linear(width * 4 + heads * 7 + 7, width), nn.GELU(), nn.LayerNorm(width), nn.Dropout(dropout)
        )
        self.convs = nn.ModuleList([nn.Conv1d(width, width, 3, padding=1) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])
        self.gist = nn.Linear(dimensions, 32)
        self.weight = nn.Linear(width, 1)
        self.out = nn.Sequential(
            nn.Linear(width * 3 + 32 * 4 + 3, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, 3)
        )
        self.drop = nn.Dropout(dropout)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        claim, evidence, said, there = batch["claim"], batch["evidence"], batch["said"], batch["there"]
        rows, words = len(claim), claim.shape[1]
        exact, equal, alike = batch["exact"], batch["equal"], claim @ evidence.transpose(1, 2)

        likeness = (batch["sentences"] * batch["gist"][:, None]).sum(-1).masked_fill(~batch["written"], -1.0)
        by_place = torch.gather(likeness, 1, batch["owners"])
        scores = self._split(self.q(claim * _SCALE)) @ self._split(self.k(evidence * _SCALE)).transpose(2, 3)
        scores = scores / math.sqrt(self.proj.out_features // self.heads)
        for column, found in enumerate((exact, alike, equal, by_place[:, None])):
            scores = scores + self.bias[None, :, column, None, None] * found[:, None]
        attention = scores.masked_fill(~there[:, None, None], _FAR).softmax(-1)  # rows, heads, words, places

        own = self.proj(self.drop(claim * _SCALE))
        values = self._split(self.proj(self.drop(evidence * _SCALE)))
        met = (attention @ values).transpose(1, 2).reshape(rows, words, -1)
        compared = torch.cat(
            [own, met, (own - met).abs(), own * met, self._about(attention, alike, batch), self._nearest(alike, batch)],
            -1,
        )
        mask = said[..., None]
        states = self.cmp(compared) * mask
        for conv, norm in zip(self.convs, self.norms, strict=True):
            states = norm(states + functional.gelu(conv(states.transpose(1, 2)).transpose(1, 2))) * mask

        highest = states.masked_fill(~mask, _FAR).amax(1)
        mean = states.sum(1) / said.sum(1, keepdim=True).clamp(min=1)
        share = self.weight(states)[..., 0].masked_fill(~said, _FAR).softmax(-1)
        weighted = (states * share[..., None]).sum(1)
        closest = batch["sentences"][torch.arange(rows), likeness.argmax(1)]
        one, other = self.gist(batch["gist"] * _SCALE), self.gist(closest * _SCALE)
        sizes = [likeness.amax(1), said.sum(1).float().log1p() / 3, there.sum(1).float().log1p() / 5]
        whole = [highest, mean, weighted, one, other, (one - other).abs(), one * other, torch.stack(sizes, -1)]
        logits: Tensor = self.out(torch.cat(whole, -1))
        return logits

    def log_odds(self, pairs: Sequence[Pair]) -> list[Odds]:
        """For each pair what it is worth, whatever else is asked at the same time."""
        found = [Odds(0.0, 0.0)] * len(pairs)
        for batch in batches_of([len(evidence.stems) for _, evidence in pairs], BATCH_WORDS):
            with torch.inference_mode():
                logs = self(collated([pairs[index] for index in batch])).log_softmax(-1)
                supported = logs[:, 0] - torch.logsumexp(logs[:, 1:], -1)
                denied = logs[:, 2] - torch.logsumexp(logs[:, :2], -1)
            for index, *odds in zip(batch, supported.tolist(), denied.tolist(), strict=True):
                found[index] = Odds(*odds)
        return found

    def _split(self, states: Tensor) -> Tensor:
        """(rows, places, width) as (rows, heads, places, width of a head)."""
        rows, places, _ = states.shape
        return states.view(rows, places, self.heads, -1).transpose(1, 2)

    def _about(self, attention: Tensor, alike: Tensor, batch: dict[str, Tensor]) -> Tensor:
        """(rows, words, 7 a head): of the places that each word attends to, what they are and how they follow on."""
        flags, owners, there = batch["evidence_flags"], batch["owners"], batch["there"]
        denied = functional.max_pool1d(functional.pad(flags[:, None, :, 3], (4, 1)), 6, 1)[:, 0]
        order = torch.arange(flags.shape[1], dtype=torch.float32)[None].expand(len(flags), -1)
        found = torch.einsum("bhnm,bmf->bnhf", attention, torch.stack([order, denied, flags[:, :, 2]], -1))
        sums = [(attention * each[:, None]).sum(-1).transpose(1, 2) for each in (batch["exact"], alike, batch["equal"])]
        one_hot = functional.one_hot(owners, batch["sentences"].shape[1]).float() * there[..., None]
        homes = torch.einsum("bhnm,bmj->bnhj", attention, one_hot)
        together = functional.pad((homes[:, 1:] * homes[:, :-1]).sum(-1), (0, 0, 1, 0))
        place = found[..., 0]
        step = functional.pad(torch.tanh((place[:, 1:] - place[:, :-1] - 1) / 4), (0, 0, 1, 0))
        return torch.cat([*sums, found[..., 1], found[..., 2], together, step], -1)

    def _nearest(self, alike: Tensor, batch: dict[str, Tensor]) -> Tensor:
        """(rows, words, 7): what each word is, and the best that there is for it anywhere."""
        there = batch["there"][:, None]
        best = [
            (batch["exact"] * there).amax(-1, keepdim=True),
            alike.masked_fill(~there, -1).amax(-1, keepdim=True),
            batch["equal"].amax(-1, keepdim=True),
        ]
        return torch.cat([batch["claim_flags"], *best], -1)


def collated(pairs: Sequence[Pair]) -> dict[str, Tensor]:
    """Claims and their evidence, filled up to the longest; each side has at least one word."""
    claims, evidence = [claim for claim, _ in pairs], [side for _, side in pairs]
    known: dict[str, int] = {}
    own_stems = _padded([_numbered(side.stems, known) for side in claims], -1)
    their_stems = _padded([_numbered(side.stems, known) for side in evidence], -2)
    own_values, their_values = (_padded([side.values for side in sides], np.nan) for sides in (claims, evidence))
    own_values = own_values[:, :, None, :1]
    equal = (own_values - their_values[:, None]).abs() < 1e-6 * (1.0 + own_values.abs())
    return {
        "claim": _padded([side.vectors for side in claims], 0.0).float(),
        "evidence": _padded([side.vectors for side in evidence], 0.0).float(),
        "said": _padded([np.ones(len(side.stems), dtype=bool) for side in claims], False),
        "there": _padded([np.ones(len(side.stems), dtype=bool) for side in evidence], False),
        "claim_flags": _padded([side.flags for side in claims], 0.0),
        "evidence_flags": _padded([side.flags for side in evidence], 0.0),
        "owners": _padded([side.owners for side in evidence], 0),
        "exact": (own_stems[:, :, None] == their_stems[:, None, :]).float(),
        "equal": equal.any(-1).float(),
        "sentences": _padded([side.sentences for side in evidence], 0.0).float(),
        "written": _padded([np.ones(len(side.sentences), dtype=bool) for side in evidence], False),
        "gist": torch.from_numpy(np.stack([side.sentences[0] for side in claims])).float(),
    }


def _numbered(stems: Sequence[str], known: dict[str, int]) -> npt.NDArray[np.int64]:
    return np.array([known.setdefault(stem, len(known)) for stem in stems], dtype=np.int64)


def _padded(arrays: Sequence[npt.NDArray[Any]], fill: float) -> Tensor:
    shape = (len(arrays), max(len(array) for array in arrays), *arrays[0].shape[1:])
    full = np.full(shape, fill, dtype=arrays[0].dtype)
    for row, array in enumerate(arrays):
        full[row, : len(array)] = array
    return torch.from_numpy(full)


def load_comparison() -> Comparison:
    """The network with the weights of the package.

    Raises:
        ModelUnusable: the file of the weights is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise ModelUnusable(f"the local judge's weights cannot be read: {error}") from error
    network = Comparison()
    network.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    network.eval()
    return network
