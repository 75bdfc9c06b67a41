"""A cross-encoder of sentence-transformers that matches texts: it grades, as a judge in this process does."""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.local_grader import LocalGrader, Wanted, always

STRETCH_WORDS = 180
"""Words of a text that are put beside another's at once: with both about what these models read."""


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
        from checkers.oracle.model_loading import ModelUnusable, cross_encoder

        self._model, labels, self._column = cross_encoder(name)
        self._is_single = len(labels) == 1
        if not self._is_single and self._column is None:
            raise ModelUnusable(
                f"the cross-encoder {name!r} has the labels {', '.join(labels)}; allowed are models with a single "
                "score, or with a label that begins with 'entail'"
            )

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
        from checkers.oracle.grounding.pieces import pieces_of

        premises = pieces_of(claims.reference, STRETCH_WORDS) or [""]
        hypotheses = [pieces_of(sentence, STRETCH_WORDS) or [""] for sentence in claims.sentences]
        pairs = [(premise, part) for parts in hypotheses for part in parts for premise in premises]
        best = iter(self._predicted(pairs).reshape(-1, len(premises)).max(axis=1))
        return [round(min(float(next(best)) for _ in parts), 4) for parts in hypotheses]

    def _predicted(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """A score for each pair, as an array (pairs,)."""
        import torch

        activation = torch.nn.Sigmoid() if self._is_single else torch.nn.Softmax(dim=-1)
        found = self._model.predict(
            list(pairs), activation_fn=activation, show_progress_bar=False, convert_to_numpy=True
        ).astype("float64")
        return found if self._is_single else found[:, self._column]
