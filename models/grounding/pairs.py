"""Pairs of a premise and a claim through a network: the support of each claim by the best piece of a text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from models.grounding.pieces import halves_of
from models.model_loading import batches_of

Tokens = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
Probabilities = npt.NDArray[np.float64]
Network = Callable[[Mapping[str, Tokens]], Logits]
"""From padded rows, by the names of its inputs."""

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
_LEFT_FOR_PIECE = 1 / 4
"""The least share of the limit where a text has to be cut: what is said in less is not to be judged by."""


class TooManyTokens(ValueError):
    """A pair is longer than the network reads; nothing of it was cut off."""


@dataclass(frozen=True, slots=True)
class PieceSupport:
    """The support of a claim by the best piece."""

    score: float
    """0 to 1, rounded to four places: beyond them, what else is in a batch may show."""
    piece: str
    place: int
    """The place of the piece among those compared."""


def torch_network(model: Any, *, device: str = "cpu", constant: Mapping[str, int] | None = None) -> Network:
    """A transformers model as a network; `constant` are further inputs (rows, 1), by name with their one value."""
    model = model.to(device).eval()

    def logits_of(inputs: Mapping[str, Tokens]) -> Logits:
        import torch

        given = {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}
        shape = (len(inputs["input_ids"]), 1)
        for name, value in (constant or {}).items():
            given[name] = torch.full(shape, value, dtype=torch.long, device=device)
        with torch.inference_mode():
            logits: Logits = model(**given).logits.float().cpu().numpy()
        return logits

    return logits_of


class PairScorer:
    """Makes one probability of each pair; what else is read, in which order and how much at once, makes no difference.

    To be used by one thread at a time, as tokenizers ask.
    """

    def __init__(
        self,
        tokenizer: Any,
        network: Network,
        probability: Callable[[Logits], Probabilities],
        *,
        limit: int,
        text: Callable[[str, str], str] | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        """`tokenizer` is a fast one of transformers, `limit` the tokens of one pair at most.

        `text` puts premise and claim into the one text that the network reads; without it they are read as a pair. Of
        `batch_tokens` a single pair may have more.
        """
        self._tokenizer, self._network, self._probability = tokenizer, network, probability
        self._limit, self._text, self._batch_tokens = limit, text, batch_tokens
        self._special = sorted({str(token) for token in tokenizer.all_special_tokens}, key=len, reverse=True)

    def best_supports(self, comparisons: Sequence[Comparison]) -> list[PieceSupport | TooManyTokens]:
        """For each comparison its best support, or the reason if the claim leaves too little room for a piece.

        Pieces of all comparisons go through the network together. A piece that is too long with its claim is divided.
        """
        best: list[PieceSupport | TooManyTokens | None] = [None] * len(comparisons)
        places = ((at, place) for at, (pieces, _) in enumerate(comparisons) for place in range(len(pieces)))
        while window := list(islice(places, _WINDOW)):
            todo = [(at, place, comparisons[at][0][place]) for at, place in window]
            fitting: list[tuple[int, int, str, Row]] = []
            while todo:
                tried, todo = todo, []
                rows = self.rows([(piece, comparisons[at][1]) for at, _, piece in tried])
                for (at, place, piece), row in zip(tried, rows, strict=True):
                    if size_of(row) <= self._limit:
                        fitting.append((at, place, piece, row))
                    elif fault := self._lack_of_room(comparisons[at][1]):
                        best[at] = fault
                    else:
                        todo += [(at, place, half) for half in halves_of(piece)]
            for batch in batches_of([size_of(row) for *_, row in fitting], self._batch_tokens):
                for index, score in zip(batch, self.run([fitting[index][3] for index in batch]), strict=True):
                    at, place, piece, _ = fitting[index]
                    known, found = best[at], PieceSupport(round(score, 4), piece, place)
                    if isinstance(known, TooManyTokens):
                        continue
                    if known is None or (found.score, -place) > (known.score, -known.place):
                        best[at] = found
        return [found for found in best if found is not None]

    def _lack_of_room(self, claim: str) -> TooManyTokens | None:
        (alone,) = self.rows([("", claim)])
        if size_of(alone) <= self._limit * (1 - _LEFT_FOR_PIECE):
            return None
        said = f"a sentence takes {size_of(alone)} of the {self._limit} tokens that the judge reads at once"
        return TooManyTokens(f"{said}; too few are left for a piece of the reference")

    def rows(self, pairs: Sequence[Pair]) -> list[Row]:
        """The pairs as the network reads them, whole, however long.

        What looks like one of the tokenizer's special tokens is read as plain text: a claim cannot end itself.
        """
        if not pairs:
            return []
        plain = [(self._plain(premise), self._plain(claim)) for premise, claim in pairs]
        firsts: list[str] | list[Pair] = plain if self._text is None else [self._text(*pair) for pair in plain]
        encoded = self._tokenizer(
            firsts, truncation=False, padding=False, return_attention_mask=True, return_tensors=None, verbose=False
        )
        return [{name: encoded[name][index] for name in encoded} for index in range(len(pairs))]

    def _plain(self, text: str) -> str:
        """The text as it is read: without lone surrogates, which tokenizers refuse, and without special tokens."""
        text = text.encode("utf-8", "replace").decode()
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def run(self, rows: Sequence[Row]) -> list[float]:
        """The probability of each of `rows`, by one forward pass; raises TooManyTokens beyond the limit."""
        longest = max(map(size_of, rows))
        if longest > self._limit:
            raise TooManyTokens(f"a pair is {longest} tokens long; the network reads {self._limit}")
        pad = {"input_ids": self._tokenizer.pad_token_id, "token_type_ids": self._tokenizer.pad_token_type_id}
        return [float(value) for value in self._probability(self._network(_padded(rows, pad)))]


def size_of(row: Row) -> int:
    """Tokens of a row."""
    return len(row["input_ids"])


def _padded(rows: Sequence[Row], pad: Mapping[str, int]) -> dict[str, Tokens]:
    """Rows of different lengths as arrays (rows, width) by name, filled up with `pad`, or with 0, on the right."""
    width = max(map(size_of, rows))
    return {
        name: np.array([[*row[name], *[pad.get(name, 0)] * (width - len(row[name]))] for row in rows], dtype=np.int64)
        for name in rows[0]
    }


def softmax_of(logits: Logits, column: int) -> Probabilities:
    """The probability of one of a network's classes; `logits` are (rows, classes)."""
    wide = logits.astype(np.float64)
    exponents = np.exp(wide - wide.max(axis=1, keepdims=True))
    found: Probabilities = exponents[:, column] / exponents.sum(axis=1)
    return found
