"""What batching across records costs: a judge by name against its network alone, on the same pairs.

The network has the shape of a MiniLM with six layers and random weights: what it decides is of no account here.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.judge.length import sentences
from benchmarks.tables import table
from models.claims import ClaimKind, Claims
from models.grounding.grader import named_grader
from models.grounding.pairs import PairReader, TorchNetwork, padded
from models.local.encoder import bundled_model
from models.local.settings import LocalSettings
from models.model_loading import use_processor_threads, without_bars

BOUND = 0.8
"""Of the bare network's pairs a second."""

RECORDS = 40
RUNS = 3

_LABELS = {0: "contradiction", 1: "entailment"}
_LIMIT = 512


def records(count: int) -> list[Claims]:
    """References of 20 to 140 words, each in one piece, and responses of one to six sentences."""
    chance = random.Random(14)
    told = sentences(60)
    return [
        Claims(
            " ".join(chance.sample(told, chance.randint(1, 7))),
            tuple(chance.sample(told, chance.randint(1, 6))),
            ClaimKind.SUMMARY,
        )
        for _ in range(count)
    ]


def write_checkpoint(folder: Path) -> None:
    """The network and the bundled model's tokenizer, as the hub lays them out."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    torch.manual_seed(14)
    tokenizer = AutoTokenizer.from_pretrained(str(bundled_model()), local_files_only=True)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=_LIMIT,
        id2label=_LABELS,
        label2id={label: index for index, label in _LABELS.items()},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


async def judged(settings: LocalSettings, claims: Sequence[Claims]) -> float:
    """Seconds by `clock` for all records at the same time; the model is loaded before."""
    grader = named_grader(settings, say=print)
    try:
        await grader.grade("bench", [claims[0]])
        begun = clock()
        await asyncio.gather(*(grader.grade("bench", [one]) for one in claims))
        return clock() - begun
    finally:
        await grader.close()


def bare(folder: Path, settings: LocalSettings, claims: Sequence[Claims]) -> float:
    """Seconds by `clock` of the forward passes alone, over the same pairs in batches as large."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = TorchNetwork(AutoModelForSequenceClassification.from_pretrained(folder), device=device())
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    reader = PairReader(tokenizer, network, limit=_LIMIT, batch_tokens=settings.batch_pieces)
    rows = reader.rows([(one.reference, sentence) for one in claims for sentence in one.sentences])
    batches = [padded([rows[index] for index in batch], {}) for batch in reader.batches(rows)]
    network(batches[-1])
    begun = clock()
    for batch in batches:
        network(batch)
    return clock() - begun


def device() -> str:
    """Where networks run."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def clock() -> float:
    """Seconds of processor time, which other work on the machine does not change; on a GPU those of the clock."""
    return time.process_time() if device() == "cpu" else time.monotonic()


def run(threads: int) -> bool:
    """Print both rates, the median of several runs by turns; False if batching costs too much."""
    without_bars()
    # Of this thread; the judge sets its own.
    use_processor_threads(threads)
    claims = records(RECORDS)
    pairs = sum(len(one.sentences) for one in claims)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_checkpoint(folder)
        settings = LocalSettings(judge=f"nli:{folder}", threads=threads)
        ways: dict[str, Callable[[], float]] = {
            "the network alone": lambda: bare(folder, settings, claims),
            f"the judge, {RECORDS} records at once": lambda: asyncio.run(judged(settings, claims)),
        }
        runs = [[way() for way in ways.values()] for _ in range(RUNS)]
    seconds = [statistics.median(each) for each in zip(*runs, strict=True)]
    share = seconds[0] / seconds[1]
    rows = [[way, pairs / taken] for way, taken in zip(ways, seconds, strict=True)]
    print(f"{pairs} pairs, on {device()}, {threads} threads, median of {RUNS} runs by turns")
    print(table(["", f"pairs a second of {'processor time' if device() == 'cpu' else 'time'}"], rows))
    print(f"\nThe judge does {share:.0%} of what the network alone does (at least {BOUND:.0%}).")
    return bool(share >= BOUND)
