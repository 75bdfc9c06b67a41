"""Train the bundled judge on labelled pairs, and see what it and its parts tell of sources held out.

    python -m benchmarks.judge.training PAIRS [OUT] [--epochs N] [--threads N] [--rows N]

PAIRS is an xz file of JSON lines with source, premise, hypothesis, label (1 supported) and label3 (e, n, c where
known). First a network that has not seen the sources held out, for the scale of models/local/response.py and for what
the judge is worth without each of its parts. Then one of all rows, whose weights are written to the folder OUT and
belong in models/local. Memory: 8 GB.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.numpy import save_file

from benchmarks.judge.training.corpus import Corpus
from benchmarks.judge.training.fit import odds, report, train
from benchmarks.judge.training.parts import Parts
from benchmarks.judge.training.rows import HELD_OUT, SHARES, read
from models.local.encoding import TextEncoder


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the rows, encode them, train, and print what was reached."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judge.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pairs", type=Path, help="the labelled pairs")
    parser.add_argument("out", type=Path, nargs="?", help="folder that the weights are written to")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the rows (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (default: %(default)s)")
    parser.add_argument("--rows", type=int, help="rows to train on at most, and as many to compare on")
    options = parser.parse_args(arguments)
    try:
        labelled = read(options.pairs)
    except OSError as error:
        parser.error(f"the pairs cannot be read: {error}")
    torch.set_num_threads(options.threads)
    rng = random.Random(7)
    rows = [row for row in labelled if row.source not in HELD_OUT and rng.random() < SHARES.get(row.source, 1.0)]
    apart = [row for row in labelled if row.source in HELD_OUT]
    rows, apart = (rng.sample(own, min(len(own), options.rows or len(own))) for own in (rows, apart))
    print(f"{len(rows)} rows to learn from, {len(apart)} held out", flush=True)
    encoder = TextEncoder()
    corpus = Corpus(encoder)
    corpus.encode([*rows, *apart])
    learned, held = corpus.items(rows), corpus.items(apart)
    network = train(learned, epochs=options.epochs, seed=1)
    found = odds(network, held)
    print(report(held, found), Parts(encoder, network, apart).report(), sep="\n\n", flush=True)
    if options.out is None:
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    everything = [*learned, *held]
    shipped = train(everything, epochs=options.epochs, seed=1)
    weights = {name: array.astype("float16") for name, array in shipped.weights.items()}
    save_file(weights, options.out / "weights.safetensors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
