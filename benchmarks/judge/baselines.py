"""Plain measures of how much of a response is in its reference."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from models.local.encoder import bundled_model
from models.local.text import plain, words_of
from models.model_loading import sentence_transformer
from models.wording import split_sentences

_MOST_WORDS = 50_000


class Baselines:
    """ROUGE-L, and nearest-sentence cosine by the local judge's own model; texts are encoded once and kept."""

    def __init__(self) -> None:
        self._model = sentence_transformer(str(bundled_model()), local_files_only=True)
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def scores(self, reference: str, response: str, sentences: Sequence[str], *, symmetric: bool) -> dict[str, float]:
        """Each measure, 0 to 1; `symmetric` takes ROUGE's F-measure, else only the response's side counts."""
        self.prepare([(reference, sentences)])
        said, there = (
            np.stack([self._vectors[text] for text in texts]) for texts in (sentences or [""], _parts(reference))
        )
        return {
            "ROUGE-L": rouge_l(reference, response, symmetric=symmetric),
            "nearest-sentence cosine": float((said @ there.T).max(axis=1).mean()),
        }

    def prepare(self, texts: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Encode many references and sentences at once, which is quicker than one by one."""
        every = {text for reference, sentences in texts for text in [*_parts(reference), *(sentences or [""])]}
        if todo := sorted(every - self._vectors.keys()):
            found = self._model.encode(list(map(plain, todo)), normalize_embeddings=True, show_progress_bar=False)
            self._vectors |= zip(todo, found, strict=True)


def _parts(reference: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(reference)] or [""]


def rouge_l(reference: str, response: str, *, symmetric: bool) -> float:
    """The longest common subsequence over the response's words, or its F-measure."""
    mine, theirs = ([word.key for word in words_of(plain(text), _MOST_WORDS)] for text in (response, reference))
    if not mine or not theirs:
        return 0.0
    numbers: dict[str, int] = {}
    coded = np.array([numbers.setdefault(word, len(numbers)) for word in theirs])
    row = np.zeros(len(theirs) + 1, dtype=np.int64)
    for word in mine:
        extended = np.where(coded == numbers.get(word, -1), row[:-1] + 1, 0)
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], extended))
    shared = int(row[-1])
    # The F-measure of shares of the two lengths.
    return 2 * shared / (len(mine) + len(theirs)) if symmetric else shared / len(mine)
