"""Train a judge on labelled pairs, and compare it on sources held out.

    python -m benchmarks.judge.training PAIRS OUT [--epochs N] [--threads N] [--rows N]

PAIRS is an xz file of JSON lines with source, premise, hypothesis, label (1 supported) and label3 (e, n, c where
known); OUT a folder for the weights. Takes about an hour on two cores. Memory: about 8 GB.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from benchmarks.judge.training.fit import odds, report, train
from benchmarks.judge.training.made import all_rows, held_out
from benchmarks.judge.training.rows import read
from benchmarks.judge.training.vectors import Corpus


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the rows, encode them, train, and print what was reached."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judge.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pairs", type=Path, help="the labelled pairs")
    parser.add_argument("out", type=Path, help="folder that the weights are written to")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the rows (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (default: %(default)s)")
    parser.add_argument("--rows", type=int, help="rows to train on at most, and as many to compare on")
    options = parser.parse_args(arguments)
    try:
        labelled = read(options.pairs)
    except OSError as error:
        parser.error(f"the pairs cannot be read: {error}")
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    corpus = Corpus()
    learned = corpus.items(all_rows(labelled, random.Random(7))[: options.rows])
    apart = held_out(labelled, random.Random(21))
    held = corpus.items(random.Random(5).sample(apart, min(len(apart), options.rows or len(apart))))
    print(f"{len(learned)} rows to learn from, {len(held)} held out", flush=True)
    corpus.encode()
    network = train(corpus, learned, epochs=options.epochs, seed=1)
    save_file(
        {name: value.half().contiguous() for name, value in network.state_dict().items()},
        options.out / "network.safetensors",
    )
    print(report(held, odds(network, corpus, held)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
