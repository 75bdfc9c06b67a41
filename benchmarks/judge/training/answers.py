"""Learn the weights by which a passage is said to answer a question: models/local/answers.json.

    python -m benchmarks.judge.training.answers PAIRS

PAIRS as for the network; of it the questions of QNLI are read, each with the sentence beside it and now and then with
the sentence of another question. Prints the AUROC on a quarter that was left out, and the weights.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.judge.training.rows import ENTAILED, read
from models.local import EmbeddingJudge, LocalSettings

_OTHERS = 0.35
"""Share of the questions that are also held against a sentence which answers another one."""
_AT_ONCE = 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the questions, fit, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge.training.answers", description=__doc__)
    parser.add_argument("pairs", type=Path, help="the labelled pairs")
    options = parser.parse_args(arguments)
    rng = random.Random(2)
    asked = [row for row in read(options.pairs) if row.source == "qnli-dev"]
    rows = [(row.premise, row.claim, row.label == ENTAILED) for row in asked]
    rows += [(row.premise, rng.choice(asked).claim, False) for row in asked if rng.random() < _OTHERS]
    rng.shuffle(rows)
    answers = EmbeddingJudge(LocalSettings()).answers
    found = [
        (one.values, right)
        for start in range(0, len(rows), _AT_ONCE)
        for (_, _, right), one in zip(
            rows[start : start + _AT_ONCE],
            answers.evidence([row[:2] for row in rows[start : start + _AT_ONCE]]),
            strict=True,
        )
        if one is not None
    ]
    names = list(found[0][0])
    values, right = np.array([list(each.values()) for each, _ in found]), np.array([label for _, label in found])
    kept = len(right) * 3 // 4
    model = LogisticRegression(max_iter=2000, class_weight="balanced").fit(values[:kept], right[:kept])
    print(f"AUROC {roc_auc_score(right[kept:], model.decision_function(values[kept:])):.3f}", file=sys.stderr)
    model = LogisticRegression(max_iter=2000, class_weight="balanced").fit(values, right)
    weights = dict(zip(names, model.coef_[0].round(3).tolist(), strict=True))
    print(json.dumps({"bias": round(float(model.intercept_[0]), 3), "weights": weights}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
