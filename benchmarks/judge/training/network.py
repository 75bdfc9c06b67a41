"""The network that is trained, of PyTorch's layers."""

import math
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.local.network import FAR, HEADS, SCALE, Comparison

_SCALE, _FAR = float(SCALE), float(FAR)


class TrainableComparison(nn.Module):  # type: ignore[misc]
    """As `models.local.network.Comparison`, which computes the same in numpy."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        dimensions, width, heads, layers = 384, 128, HEADS, 2
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

    def forward(self, arrays: dict[str, npt.NDArray[Any]]) -> Tensor:
        batch = {name: torch.from_numpy(array) for name, array in arrays.items()}
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

    def trained(self) -> Comparison:
        """The network as the product reads it."""
        return Comparison({name: tensor.detach().numpy() for name, tensor in self.state_dict().items()})

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
