"""Pairs of a premise and a claim through a network: in batches of like length that a budget of tokens bounds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.model_loading import batches_of

Tokens = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
Probabilities = npt.NDArray[np.float64]

Row = Mapping[str, list[int]]
"""A pair as a tokenizer makes it: lists of equal length by the name of the network's input."""

Pair = tuple[str, str]
"""A premise and a claim."""

BATCH_TOKENS = 4096
"""Tokens of one forward pass, padding included: bounds its memory. More are no faster on a processor."""
GPU_BATCH_TOKENS = 8 * BATCH_TOKENS


class TooManyTokens(ValueError):
    """A pair is longer than the network reads; nothing of it was cut off."""


class TorchNetwork:
    """A transformers model as a network."""

    def __init__(self, model: Any, *, device: str = "cpu", constant: Mapping[str, int] | None = None) -> None:
        """`constant` are further inputs (rows, 1), by name with their one value."""
        self._model = model.to(device).eval()
        self._device = device
        self._constant = dict(constant or {})

    def __call__(self, inputs: Mapping[str, Tokens]) -> Logits:
        import torch

        rows = len(inputs["input_ids"])
        given = {name: torch.from_numpy(array).to(self._device) for name, array in inputs.items()}
        for name, value in self._constant.items():
            given[name] = torch.full((rows, 1), value, dtype=torch.long, device=self._device)
        with torch.inference_mode():
            logits: Logits = self._model(**given).logits.float().cpu().numpy()
        return logits


class PairScorer:
    """Makes one probability of each pair; what else is read, in which order and how much at once, makes no difference.

    To be used by one thread at a time, as tokenizers ask.
    """

    def __init__(
        self,
        tokenizer: Any,
        network: TorchNetwork,
        probability: Callable[[Logits], Probabilities],
        *,
        limit: int,
        text: Callable[[str, str], str] | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        """Put a network to use.

        Args:
            tokenizer: The network's fast tokenizer, of transformers.
            network: From padded rows to logits.
            probability: From logits to an array (rows,) of 0 to 1.
            limit: Tokens of one pair at most.
            text: Puts premise and claim into the one text that the network reads; without it they are read as a pair.
            batch_tokens: Tokens of one forward pass at most, padding included; a single pair may have more.
        """
        self.limit = limit
        self._tokenizer = tokenizer
        self._network = network
        self._probability = probability
        self._text = text
        self._batch_tokens = batch_tokens
        self._special = sorted({str(token) for token in tokenizer.all_special_tokens}, key=len, reverse=True)

    def rows(self, pairs: Sequence[Pair]) -> list[Row]:
        """The pairs as the network reads them, whole, however long.

        What looks like one of the tokenizer's special tokens is read as plain text: a claim cannot end itself.
        """
        if not pairs:
            return []
        plain = [(self.plain(premise), self.plain(claim)) for premise, claim in pairs]
        firsts: list[str] | list[Pair] = plain if self._text is None else [self._text(*pair) for pair in plain]
        encoded = self._tokenizer(
            firsts, truncation=False, padding=False, return_attention_mask=True, return_tensors=None, verbose=False
        )
        return [{name: encoded[name][index] for name in encoded} for index in range(len(pairs))]

    def batches(self, rows: Sequence[Row]) -> list[list[int]]:
        """Indices of `rows` in batches of like length, the longest first."""
        return batches_of([size_of(row) for row in rows], self._batch_tokens)

    def plain(self, text: str) -> str:
        """The text as it is read: without lone surrogates, which tokenizers refuse, and without special tokens."""
        text = text.encode("utf-8", "replace").decode()
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def run(self, rows: Sequence[Row]) -> list[float]:
        """The probability of each of `rows`, by one forward pass.

        Raises:
            TooManyTokens: one is longer than the limit.
        """
        longest = max(map(size_of, rows))
        if longest > self.limit:
            raise TooManyTokens(f"a pair is {longest} tokens long; the network reads {self.limit}")
        pad = {"input_ids": self._tokenizer.pad_token_id, "token_type_ids": self._tokenizer.pad_token_type_id}
        return [float(value) for value in self._probability(self._network(padded(rows, pad)))]


def size_of(row: Row) -> int:
    """Tokens of a row."""
    return len(row["input_ids"])


def padded(rows: Sequence[Row], pad: Mapping[str, int]) -> dict[str, Tokens]:
    """Rows of different lengths as arrays (rows, width) by name, filled up with `pad`, or with 0, on the right."""
    width = max(map(size_of, rows))
    arrays = {}
    for name in rows[0]:
        array = np.full((len(rows), width), pad.get(name, 0), dtype=np.int64)
        for index, row in enumerate(rows):
            array[index, : len(row[name])] = row[name]
        arrays[name] = array
    return arrays


def softmax_of(logits: Logits, column: int) -> Probabilities:
    """The probability of one of a network's classes; `logits` are (rows, classes)."""
    wide = logits.astype(np.float64)
    exponents = np.exp(wide - wide.max(axis=1, keepdims=True))
    found: Probabilities = exponents[:, column] / exponents.sum(axis=1)
    return found
