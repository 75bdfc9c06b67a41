"""Train the bundled judge on labelled pairs, and compare what it could read on sources held out.

    python -m benchmarks.judge.training PAIRS OUT [--epochs N] [--threads N] [--rows N]

PAIRS is an xz file of JSON lines with source, premise, hypothesis, label (1 supported) and label3 (e, n, c where
known); OUT a folder for the network's weights and the decision beside it, which belong in
models/local/comparison. First a network that has not seen the sources held out, for every choice and for the
decision; then the one that is shipped, of all rows. Takes about an hour on two cores. Memory: about 8 GB.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from benchmarks.judge.training.corpus import Corpus
from benchmarks.judge.training.fit import odds, report, train
from benchmarks.judge.training.made import all_rows, held_out
from benchmarks.judge.training.rows import read
from benchmarks.judge.training.stack import coefficients, compared, deciding, measured, operating_point
from models.local.decision import Decision
from models.local.encoding import TextEncoder
from models.local.settings import LocalSettings

MADE_BY = "python -m benchmarks.judge.training PAIRS OUT"
LEARNED_FROM = "labelled pairs of the public sources that ATTRIBUTION.md names, none of their texts contained"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the rows, encode them, train, and print what was reached."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judge.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pairs", type=Path, help="the labelled pairs")
    parser.add_argument("out", type=Path, help="folder that the weights are written to")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the rows (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (default: %(default)s)")
    parser.add_argument("--rows", type=int, help="rows to train on at most, and as many to compare on")
    options = parser.parse_args(arguments)
    try:
        labelled = read(options.pairs)
    except OSError as error:
        parser.error(f"the pairs cannot be read: {error}")
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = all_rows(labelled, random.Random(7))[: options.rows]
    apart = held_out(labelled, random.Random(21))
    apart = random.Random(5).sample(apart, min(len(apart), options.rows or len(apart)))
    print(f"{len(rows)} rows to learn from, {len(apart)} held out", flush=True)
    encoder = TextEncoder(LocalSettings(threads=options.threads))
    corpus = Corpus(encoder)
    corpus.encode([*rows, *apart])
    learned, held = corpus.items(rows), corpus.items(apart)
    network = train(learned, epochs=options.epochs, seed=1)
    print(report(held, odds(network, held)), flush=True)
    claims = measured(encoder, network, apart, random.Random(3))
    points, best = operating_point(claims)
    print(compared(claims), deciding(claims), points, sep="\n\n", flush=True)
    bias, by_network, by_standing = coefficients(claims)
    fitted = Decision(MADE_BY, LEARNED_FROM, round(bias - best, 3), by_network, by_standing)
    (options.out / "decision.json").write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
    everything = [*learned, *held]
    shipped = train(everything, epochs=options.epochs, seed=1)
    weights = {name: value.half().contiguous() for name, value in shipped.state_dict().items()}
    save_file(weights, options.out / "weights.safetensors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
