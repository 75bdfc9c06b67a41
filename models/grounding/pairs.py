"""Pairs of a premise and a claim through a network: the support of each claim by the best piece of a text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from models.grounding.pieces import divided
from models.model_loading import batches_of
from models.protocol import ModelFailed

Logits = npt.NDArray[np.float32]
Probabilities = npt.NDArray[np.float64]

Row = Mapping[str, list[int]]
"""A pair as a tokenizer makes it: lists of equal length by the name of the network's input."""
Pair = tuple[str, str]
"""A premise and a claim."""
Comparison = tuple[Sequence[str], str]
"""The pieces of a text, at least one, and a claim that one of them is to support."""

BATCH_TOKENS = 4096
"""Tokens of one forward pass, padding included: bounds its memory. More are no faster on a processor."""
GPU_BATCH_TOKENS = 8 * BATCH_TOKENS
_WINDOW = 256
"""Pairs that are put into batches together: enough that those of like length meet, however long the texts are."""
_MOST_OF_LIMIT = 3 / 4
"""Share of the limit that a claim may take: by a piece shorter than the remainder nothing is judged."""


@dataclass(frozen=True, slots=True)
class PieceSupport:
    """The support of a claim by the best piece, the first of equal ones."""

    score: float
    """0 to 1, rounded to four places: beyond them, what else is in a batch may show."""
    piece: str


class PairScorer:
    """Makes one probability of each pair; what else is read, in which order and how much at once, makes no difference.

    To be used by one thread at a time, as tokenizers ask.
    """

    def __init__(
        self,
        tokenizer: Any,
        model: Callable[..., Any],
        probability: Callable[[Logits], Probabilities],
        *,
        limit: int,
        text: Callable[[str, str], str] | None = None,
        constant: Mapping[str, int] | None = None,
        device: str = "cpu",
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        """`tokenizer` is a fast one of transformers, `model` one of its models, `limit` the most tokens of a pair.

        `text` puts premise and claim, on one line, into the one text that the network reads; without it they are read
        as a pair. `constant` are further inputs (rows, 1), by name with their one value. Of `batch_tokens` a single
        pair may have more.
        """
        self._tokenizer, self._model, self._probability = tokenizer, model, probability
        self._limit, self._text, self._batch_tokens = limit, text, batch_tokens
        self._constant, self._device = constant or {}, device
        self._special = sorted({str(token) for token in tokenizer.all_special_tokens}, key=len, reverse=True)

    def best_supports(self, comparisons: Sequence[Comparison]) -> list[PieceSupport | ModelFailed]:
        """For each comparison its best support, or the fault if the claim leaves too little room for a piece.

        Pieces of all comparisons go through the network together. A piece that is too long with its claim is divided.
        """
        alone = [size_of(row) for row in self.rows([("", claim) for _, claim in comparisons])]
        best: list[tuple[float, int, str]] = [(-1.0, 0, "")] * len(comparisons)
        places = (
            (at, place, piece)
            for at, (pieces, _) in enumerate(comparisons)
            if alone[at] <= self._limit * _MOST_OF_LIMIT
            for place, piece in enumerate(pieces)
        )
        while todo := list(islice(places, _WINDOW)):
            fitting: list[tuple[int, int, str, Row]] = []
            while todo:
                rows = self.rows([(piece, comparisons[at][1]) for at, _, piece in todo])
                sized = [(*one, row, size_of(row) <= self._limit) for one, row in zip(todo, rows, strict=True)]
                fitting += [(at, place, piece, row) for at, place, piece, row, fits in sized if fits]
                todo = [(at, place, part) for at, place, piece, _, fits in sized if not fits for part in divided(piece)]
            for batch in batches_of([size_of(row) for *_, row in fitting], self._batch_tokens):
                for index, score in zip(batch, self.run([fitting[index][3] for index in batch]), strict=True):
                    at, place, piece, _ = fitting[index]
                    best[at] = max(best[at], (round(score, 4), -place, piece))
        return [
            PieceSupport(score, piece)
            if score >= 0
            else ModelFailed(
                f"a sentence takes {size} of the {self._limit} tokens that the judge reads at once; too few are left "
                "for a piece of the reference",
                cause="too_long",
            )
            for (score, _, piece), size in zip(best, alone, strict=True)
        ]

    def rows(self, pairs: Sequence[Pair]) -> list[Row]:
        """The pairs as the network reads them, whole, however long.

        What looks like one of the tokenizer's special tokens is read as plain text: a claim cannot end itself.
        """
        if not pairs:
            return []
        plain = [(self._plain(premise), self._plain(claim)) for premise, claim in pairs]
        text = self._text
        read = plain if text is None else [text(premise, " ".join(claim.split())) for premise, claim in plain]
        encoded = self._tokenizer(read, truncation=False, return_attention_mask=True, verbose=False)
        return [{name: encoded[name][index] for name in encoded} for index in range(len(pairs))]

    def _plain(self, text: str) -> str:
        """The text as it is read: without lone surrogates, which tokenizers refuse, and without special tokens."""
        text = text.encode("utf-8", "replace").decode()
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def run(self, rows: Sequence[Row]) -> list[float]:
        """The probability of each of `rows`, by one forward pass."""
        import torch

        inputs = self._tokenizer.pad(rows, return_tensors="pt", verbose=False).to(self._device)
        for name, value in self._constant.items():
            inputs[name] = torch.full((len(rows), 1), value, device=self._device)
        with torch.inference_mode():
            logits: Logits = self._model(**inputs).logits.float().cpu().numpy()
        return [float(value) for value in self._probability(logits)]


def size_of(row: Row) -> int:
    """Tokens of a row."""
    return len(row["input_ids"])


def softmax_of(logits: Logits, column: int) -> Probabilities:
    """The probability of one of a network's classes; `logits` are (rows, classes)."""
    wide = logits.astype(np.float64)
    exponents = np.exp(wide - wide.max(axis=1, keepdims=True))
    found: Probabilities = exponents[:, column] / exponents.sum(axis=1)
    return found
