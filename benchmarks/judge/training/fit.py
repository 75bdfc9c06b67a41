"""Trains the network, and says what it is worth on sources that it has not seen."""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np
import torch
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from torch import Tensor

from benchmarks.judge.training.corpus import Item
from benchmarks.judge.training.network import TrainableComparison
from benchmarks.judge.training.rows import CONTRADICTED, ENTAILED
from benchmarks.tables import table
from models.local.network import Comparison, collated

BATCH = 64
PEAK_RATE, DECAY, DROPOUT = 1.7e-3, 0.05, 0.25
_WARM_UP = 300
_STRETCH = 40
"""Batches from which rows of like length are put together."""
_TOLD = 500
_ASKED = 2000
"""Rows whose vectors are put together at a time."""


def train(items: Sequence[Item], *, epochs: int, seed: int) -> Comparison:
    """A network trained on the rows, by AdamW with a cosine schedule."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    network = TrainableComparison(dropout=DROPOUT)
    optimiser = torch.optim.AdamW(network.parameters(), lr=PEAK_RATE, weight_decay=DECAY, fused=True)
    total, step, losses, begun = epochs * math.ceil(len(items) / BATCH), 0, [0.0], time.monotonic()
    for epoch in range(epochs):
        for batch in _batches(items, rng):
            warm = min(1.0, (step + 1) / _WARM_UP)
            for group in optimiser.param_groups:
                group["lr"] = PEAK_RATE * warm * (1 + math.cos(math.pi * min(1.0, step / total))) / 2
            logits = network(collated([item.pair for item in batch]))
            loss = loss_of(logits, torch.tensor([item.label for item in batch]))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            losses.append(loss.item())
            if step % _TOLD == 0:
                rate = step * BATCH / (time.monotonic() - begun)
                print(f"epoch {epoch + 1}, {rate:.0f} rows a second, loss {fmean(losses[-_TOLD:]):.3f}", flush=True)
    return network.trained()


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy; of a row that is neutral or contradicted, it is not known which, of their sum."""
    logs = logits.log_softmax(-1)
    exact = logs.gather(1, labels.clamp(max=CONTRADICTED)[:, None])[:, 0]
    either = torch.logsumexp(logs[:, 1:], -1)
    loss: Tensor = -torch.where(labels <= CONTRADICTED, exact, either).mean()
    return loss


def odds(network: Comparison, items: Sequence[Item]) -> list[float]:
    """The log-odds that each claim is entailed."""
    stretches = (items[start : start + _ASKED] for start in range(0, len(items), _ASKED))
    return [found.supported for stretch in stretches for found in network.log_odds([item.pair for item in stretch])]


def report(items: Sequence[Item], found: Sequence[float]) -> str:
    """Balanced accuracy at even odds, and AUROC, by source."""
    by_source: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for item, value in zip(items, found, strict=True):
        by_source[item.source].append((value, item.label == ENTAILED))
    rows: list[list[object]] = []
    for source, pairs in sorted(by_source.items()):
        values, truth = np.array([value for value, _ in pairs]), [true for _, true in pairs]
        accuracy, area = balanced_accuracy_score(truth, values >= 0), roc_auc_score(truth, values)
        rows.append([source, float(accuracy), float(area), len(pairs)])
    means = [fmean(float(str(row[column])) for row in rows) for column in (1, 2)]
    return table(["held out", "balanced accuracy", "AUROC", "rows"], [*rows, ["mean", *means, len(items)]])


def _batches(items: Sequence[Item], rng: random.Random) -> Iterator[list[Item]]:
    """All rows once, in random order but for rows of like length together."""
    order = rng.sample(range(len(items)), len(items))
    for start in range(0, len(order), BATCH * _STRETCH):
        part = sorted(order[start : start + BATCH * _STRETCH], key=lambda index: items[index].size)
        batches = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        rng.shuffle(batches)
        yield from ([items[index] for index in batch] for batch in batches)
