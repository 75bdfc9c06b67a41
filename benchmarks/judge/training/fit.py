"""Trains the network, and says what it is worth on sources that it has not seen."""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np
import numpy.typing as npt
import torch
from sklearn.metrics import roc_auc_score

from benchmarks.judge.training.network import Comparison, collated, loss_of
from benchmarks.judge.training.rows import ENTAILED
from benchmarks.judge.training.vectors import Corpus, Item
from benchmarks.tables import table

BATCH = 64
PEAK_RATE, DECAY, DROPOUT = 1.7e-3, 0.05, 0.25
_WARM_UP = 300
_STRETCH = 40
"""Batches from which rows of like length are put together."""
_TOLD = 500


def train(corpus: Corpus, items: Sequence[Item], *, epochs: int, seed: int) -> Comparison:
    """A network trained on the rows, by AdamW with a cosine schedule."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    network = Comparison(dropout=DROPOUT)
    optimiser = torch.optim.AdamW(network.parameters(), lr=PEAK_RATE, weight_decay=DECAY, fused=True)
    total, step, losses, begun = epochs * math.ceil(len(items) / BATCH), 0, [0.0], time.monotonic()
    for epoch in range(epochs):
        for batch in _batches(corpus, items, rng):
            warm = min(1.0, (step + 1) / _WARM_UP)
            for group in optimiser.param_groups:
                group["lr"] = PEAK_RATE * warm * (1 + math.cos(math.pi * min(1.0, step / total))) / 2
            loss = loss_of(network(collated(corpus, batch)), torch.tensor([item.label for item in batch]))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            losses.append(loss.item())
            if step % _TOLD == 0:
                rate = step * BATCH / (time.monotonic() - begun)
                print(f"epoch {epoch + 1}, {rate:.0f} rows a second, loss {fmean(losses[-_TOLD:]):.3f}", flush=True)
    network.eval()
    return network


def odds(network: Comparison, corpus: Corpus, items: Sequence[Item]) -> npt.NDArray[np.float64]:
    """The log-odds that each claim is entailed."""
    found = np.zeros(len(items))
    order = sorted(range(len(items)), key=lambda index: _size(corpus, items[index]))
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        with torch.inference_mode():
            logs = network(collated(corpus, [items[index] for index in part])).log_softmax(-1)
            found[part] = (logs[:, 0] - torch.logsumexp(logs[:, 1:], -1)).numpy()
    return found


def report(items: Sequence[Item], found: npt.NDArray[np.float64]) -> str:
    """Balanced accuracy at even odds, and AUROC, by source; made pairs by what was done to them."""
    by_source: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for item, value in zip(items, found.tolist(), strict=True):
        by_source[source_of(item)].append((value, item.label == ENTAILED))
    rows: list[list[object]] = []
    for source, pairs in sorted(by_source.items()):
        right = [value >= 0 for value, true in pairs if true]
        wrong = [value < 0 for value, true in pairs if not true]
        area = roc_auc_score([true for _, true in pairs], [value for value, _ in pairs])
        rows.append([source, (fmean(right) + fmean(wrong)) / 2, float(area), len(pairs)])
    means = [fmean(float(str(row[column])) for row in rows) for column in (1, 2)]
    return table(["held out", "balanced accuracy", "AUROC", "rows"], [*rows, ["mean", *means, len(items)]])


def source_of(item: Item) -> str:
    """The source of a labelled pair; `made: passages` and `made: sentences` for made ones."""
    kind = item.source.split()[0]
    if kind in {"alike", "unlike"}:
        return "made: sentences"
    return "made: passages" if kind in {"copied", "changed", "sentence"} else item.source


def _size(corpus: Corpus, item: Item) -> int:
    return sum(int(corpus.first[number + 1] - corpus.first[number]) for number in item.evidence)


def _batches(corpus: Corpus, items: Sequence[Item], rng: random.Random) -> Iterator[list[Item]]:
    """All rows once, in random order but for rows of like length together."""
    order = rng.sample(range(len(items)), len(items))
    for start in range(0, len(order), BATCH * _STRETCH):
        part = sorted(order[start : start + BATCH * _STRETCH], key=lambda index: _size(corpus, items[index]))
        batches = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        rng.shuffle(batches)
        yield from ([items[index] for index in batch] for batch in batches)
