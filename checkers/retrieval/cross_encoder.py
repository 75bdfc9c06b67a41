"""A cross-encoder of sentence-transformers that matches texts: it grades, as a judge in this process does."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np

from models.claims import Claims, Judgement
from models.grounding.pairs import PairScorer, TorchNetwork, sigmoid_of, size_of, softmax_of
from models.grounding.pieces import halves_of, pieces_of
from models.local_grader import LocalGrader, Wanted, always

STRETCH_WORDS = 180
"""Words of a text that are put beside another's at once: with both about what these models read."""

_MOST_TOKENS = 512
"""Of both: these models were trained on no more, also where they could read it."""


def cross_encoder_grader(path: str) -> LocalGrader:
    """The cross-encoder of a name or path, loaded with the first claims; raises ImportError without its library."""
    if find_spec("sentence_transformers") is None:
        raise ImportError("sentence-transformers, which a cross-encoder needs, is not installed")
    name = f"cross-encoder/{path}"
    return LocalGrader(name, partial(PairModel, path), called=name)


class PairModel:
    """Scores of directed pairs of texts, 0 to 1."""

    def __init__(self, name: str) -> None:
        """Read the model of this name or path, on the CPU.

        Raises:
            ModelUnusable: no such model, or it gives neither a single score nor an entailment label.
        """
        from models.model_loading import ModelUnusable, cross_encoder

        model, labels, column = cross_encoder(name)
        if len(labels) > 1 and column is None:
            raise ModelUnusable(
                f"the cross-encoder {name!r} has the labels {', '.join(labels)}; allowed are models with a single "
                "score, or with a label that begins with 'entail'"
            )
        probability = sigmoid_of if column is None else partial(softmax_of, column=column)
        limit = min(model.max_seq_length or _MOST_TOKENS, _MOST_TOKENS)
        self._scorer = PairScorer(model.tokenizer, TorchNetwork(model.model), probability, limit=limit)

    def judge(self, batch: Sequence[Claims], wanted: Wanted = always) -> list[list[Judgement]]:
        """The scores as judgements, for each of `batch` that is wanted."""
        return [
            [Judgement(score, "", None) for score in self.scores(claims)] if wanted(index) else []
            for index, claims in enumerate(batch)
        ]

    def scores(self, claims: Claims) -> list[float]:
        """How far the reference entails each of the sentences.

        Long texts are read in stretches: some stretch of the reference must entail every stretch of a sentence.
        """
        premises = self._stretches(claims.reference)
        hypotheses = [self._stretches(sentence) for sentence in claims.sentences]
        pairs = [(premise, part) for parts in hypotheses for part in parts for premise in premises]
        best = iter(np.reshape(self._scorer.score(pairs), (-1, len(premises))).max(axis=1))
        return [round(min(float(next(best)) for _ in parts), 4) for parts in hypotheses]

    def _stretches(self, text: str) -> list[str]:
        """All of the text, in order; any two of what this returns fit into the model together."""
        stretches = pieces_of(text, STRETCH_WORDS) or [""]
        while (divided := list(self._divided(stretches))) != stretches:
            stretches = divided
        return stretches

    def _divided(self, stretches: Sequence[str]) -> Iterator[str]:
        rows = self._scorer.rows([("", one) for one in stretches])
        for one, row in zip(stretches, rows, strict=True):
            yield from halves_of(one) if 2 * size_of(row) > self._scorer.limit else [one]
