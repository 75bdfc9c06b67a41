"""The cross-encoder itself: from pairs of texts to scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local.nli import stretches_of
from checkers.oracle.model_loading import ModelUnusable, cross_encoder
from checkers.text.words import passages


class PairModel:
    """Scores of directed pairs of texts, 0 to 1."""

    def __init__(self, model: Any, column: int | None) -> None:
        """`column` is that of the entailment label; None of a model that gives a single score."""
        self._model = model
        self._column = column

    def judge(self, batch: Sequence[Claims]) -> list[list[Judgement]]:
        """The scores as judgements, for each of `batch`."""
        return [[Judgement(score, "", None) for score in self.scores(claims)] for claims in batch]

    def scores(self, claims: Claims) -> list[float]:
        """How far the reference entails each of the sentences.

        Long texts are read in stretches: some stretch of the reference must entail every stretch of a sentence.
        """
        premises = stretches_of(list(passages(claims.reference)))
        hypotheses = [stretches_of(list(passages(sentence))) for sentence in claims.sentences]
        pairs = [(premise, part) for parts in hypotheses for part in parts for premise in premises]
        best = iter(self._predicted(pairs).reshape(-1, len(premises)).max(axis=1))
        return [round(min(float(next(best)) for _ in parts), 4) for parts in hypotheses]

    def _predicted(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray[Any, Any]:
        import torch

        activation = torch.nn.Sigmoid() if self._column is None else torch.nn.Softmax(dim=-1)
        found = self._model.predict(
            list(pairs), activation_fn=activation, show_progress_bar=False, convert_to_numpy=True
        )
        scores = np.asarray(found, dtype=np.float64)
        return scores if self._column is None else scores[:, self._column]


def load_pair_model(name: str) -> PairModel:
    """The model of this name or path, on the CPU.

    Raises:
        ModelUnusable: no such model, or it gives neither a single score nor an entailment label.
    """
    model, labels, column = cross_encoder(name)
    if len(labels) == 1:
        return PairModel(model, None)
    if column is None:
        raise ModelUnusable(
            f"the cross-encoder {name!r} has the labels {', '.join(labels)}; allowed are models with a single "
            "score, or with a label that begins with 'entail'"
        )
    return PairModel(model, column)
