"""Learns the weights by which the local judge tells if a passage answers a question, and writes them to a file.

    python -m benchmarks.retrieval.question_weights PAIRS OUT [--share N]

PAIRS holds rows {"source", "premise", "hypothesis", "label"} as JSON lines, compressed with xz; those of QNLI's
development part ("qnli-dev") are taken: a question, a sentence of Wikipedia, and if it answers. Of each row are made:
the pair itself; the sentence among others of its article; and of answered questions the same with another name, figure
or noun in the question, and another article's sentence, which do not answer.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from models.local.answers.judge import AnswerWeights
from models.local.judge import EmbeddingJudge
from models.local.settings import LocalSettings
from models.text.lexicon import lexicon
from models.text.tagger import tag_words
from models.text.tokens import tokens

SOURCE = "qnli-dev"
ARTICLE = 60
"""Rows of one article and its neighbours: rows stand in the order of their articles."""
NEIGHBOURS = 12
MOST_BESIDE = 3
FAR = 100
NAMELESS = 0.3
"""Weight of answers that lack a name of their question: the sentence was cut from a text that has it, and a stored
passage more often has it, too."""
REGULARISATION = 0.03
SEED = 7

_NAME = re.compile(r"(?<=\s)[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_FIGURE = re.compile(r"\b\d{1,4}\b")


class Row(NamedTuple):
    """A question, a passage, and if it answers."""

    question: str
    passage: str
    answers: bool
    kind: str
    group: int


def read_rows(path: Path) -> list[tuple[str, str, bool]]:
    """Questions, sentences and labels of QNLI."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        parsed = (json.loads(line) for line in file)
        return [(row["premise"], row["hypothesis"], bool(row["label"])) for row in parsed if row["source"] == SOURCE]


def training_rows(found: Sequence[tuple[str, str, bool]], seed: int = SEED) -> Iterator[Row]:
    """What is learned from."""
    draw = random.Random(seed)
    for at, (question, sentence, answers) in enumerate(found):
        group = at // ARTICLE
        near = found[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
        right = {other for asked, other, label in near if asked == question and label}
        beside = [other for other in dict.fromkeys(other for _, other, _ in near) if other not in {sentence, *right}]
        yield Row(question, sentence, answers, "sentence", group)
        among = [sentence, *draw.sample(beside, min(draw.randint(1, MOST_BESIDE), len(beside)))]
        draw.shuffle(among)
        yield Row(question, " ".join(among), answers, "among others", group)
        if answers:
            stranger = draw.choice(found)
            for kind, changed in _changed(question, sentence, stranger[0], draw):
                yield Row(changed, sentence if draw.random() < 0.5 else " ".join(among), False, kind, group)
            other = draw.randrange(len(found))
            if abs(other - at) > FAR:
                yield Row(question, found[other][1], False, "another article", group)


def _changed(question: str, sentence: str, stranger: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The question about something else, and what is else about it."""
    names, others = _NAME.findall(question), _NAME.findall(stranger)
    if names and others and (other := draw.choice(others)) not in sentence:
        yield "another name", question.replace(draw.choice(names), other)
    if figures := _FIGURE.findall(question):
        figure = draw.choice(figures)
        other = str(int(figure) + draw.choice([-7, -3, -2, -1, 1, 2, 3, 5, 11]))
        if other not in sentence:
            yield "another figure", question.replace(figure, other)
    words = [token.text for token in tokens(question)]
    tags = tag_words(words)
    nouns = [word for word, tag in zip(words, tags, strict=True) if tag == "NN" and word in sentence.split()]
    if nouns:
        noun = draw.choice(nouns)
        kinds = [other for other in lexicon().siblings(noun, "n")[:20] if other not in sentence]
        if kinds:
            yield "another noun", re.sub(rf"\b{re.escape(noun)}\b", draw.choice(kinds), question, count=1)


def learn(every: Sequence[Row], made_by: str) -> AnswerWeights:
    """Weights by the rows without a fault, which decides by itself; prints what they reach on articles left out."""
    judge = EmbeddingJudge(LocalSettings())
    judge.load()
    rows, values = [], []
    for start in range(0, len(every), 256):
        batch = every[start : start + 256]
        for row, (found, _) in zip(batch, judge.answers.evidence([row[:2] for row in batch]), strict=True):
            if found is not None and not found.faults:
                rows.append(row)
                values.append(found.values)
        print(f"{start + len(batch)} of {len(every)} rows read", file=sys.stderr)
    names = list(values[0])
    features = np.array([[one[name] for name in names] for one in values])
    labels = np.array([row.answers for row in rows])
    kinds = np.array([row.kind for row in rows])
    weights = np.where(features[:, names.index("nameless")] > 0, NAMELESS, 1.0)
    weights[~labels] = weights[labels].sum() / (~labels).sum()
    model = make_pipeline(StandardScaler(), LogisticRegression(C=REGULARISATION, max_iter=1000))
    given = {"logisticregression__sample_weight": weights}
    found = cross_val_predict(
        model,
        features,
        labels,
        groups=[row.group for row in rows],
        cv=GroupKFold(8),
        method="predict_proba",
        params=given,
    )[:, 1]
    print(f"{len(rows)} rows, AUROC {roc_auc_score(labels, found):.3f}")
    for kind in dict.fromkeys(kinds.tolist()):
        for label, word in ((True, "accepted"), (False, "rejected")):
            at = (kinds == kind) & (labels == label)
            if at.any():
                print(f"{kind}, {'answers' if label else 'does not'}: {int(at.sum())} rows, "
                      f"{((found[at] >= 0.5) == label).mean():.3f} {word}")  # fmt: skip
    model.fit(features, labels, **given)
    scale, regression = model[0], model[-1]
    learned = regression.coef_[0] / scale.scale_
    return AnswerWeights(
        made_by=made_by,
        learned_from="QNLI, development part (Wang et al. 2018, after SQuAD, Rajpurkar et al. 2016): CC BY-SA 4.0",
        bias=round(float(regression.intercept_[0] - (learned * scale.mean_).sum()), 3),
        weights={name: round(float(one), 3) for name, one in zip(names, learned, strict=True)},
    )


def main() -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, metavar="PAIRS")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="only every Nth article")
    options = parser.parse_args()
    every = [row for row in training_rows(read_rows(options.pairs)) if row.group % options.share == 0]
    share = "" if options.share == 1 else f" --share {options.share}"
    weights = learn(every, f"python -m benchmarks.retrieval.question_weights PAIRS OUT{share}")
    fields = {name: getattr(weights, name) for name in ("made_by", "learned_from", "bias", "weights")}
    options.out.write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
