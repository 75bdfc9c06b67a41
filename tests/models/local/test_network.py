"""The networks of the bundled judge, computed in numpy."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from benchmarks.judge.training.network import TrainableComparison
from models.local.network import collated
from models.local.sides import Side


def side(rng: np.random.Generator, words: int, sentences: int) -> Side:
    vectors = rng.normal(size=(words, 384)).astype(np.float32)
    gists = rng.normal(size=(sentences, 384)).astype(np.float32)
    return Side(
        stems=tuple(f"w{number}" for number in rng.integers(0, 12, words)),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        values=rng.integers(0, 5, (words, 3)).astype(np.float64),
        flags=rng.integers(0, 2, (words, 4)).astype(np.float32),
        owners=np.sort(rng.integers(0, sentences, words)),
        sentences=gists / np.linalg.norm(gists, axis=1, keepdims=True),
        topics=((),) * sentences,
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_network_decides_as_the_one_that_was_trained(seed: int):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    trained = TrainableComparison(dropout=0.0).eval()
    pairs = [(side(rng, words, 1), side(rng, places, 3)) for words, places in ((1, 1), (7, 30), (4, 12))]
    with torch.inference_mode():
        expected = trained(collated(pairs)).numpy()
    assert np.allclose(trained.trained()(collated(pairs)), expected, atol=1e-4)


def test_judging_imports_no_pytorch():
    program = (
        "import asyncio, sys\n"
        "from models.claims import ClaimKind, Claims\n"
        "from models.local.settings import LocalSettings\n"
        "from models.local_judges import local_judge\n"
        "claims = Claims('It left on Monday.', ('It left on Tuesday.',), ClaimKind.ANSWER)\n"
        "answer = asyncio.run(local_judge(LocalSettings()).grade('test', [claims]))\n"
        "assert not answer.reply[0][0].supported\n"
        "print([name for name in ('torch', 'sentence_transformers', 'transformers') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
