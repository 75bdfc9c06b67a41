"""From two sentences to their alignments: parsed, encoded and compared, each sentence once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.equivalence.aligned import AlignedSentences, identical
from checkers.equivalence.equality import holds_words, same_text
from checkers.equivalence.parsers import parse_sentence
from checkers.equivalence.phrases import Phrases, phrases
from models.concurrent import gather_or_cancel
from models.model_loading import ModelThread
from models.protocol import ModelFailed
from models.worktime import Phase, compute

if TYPE_CHECKING:
    from checkers.equivalence.similarity import PhraseEncoder, Vectors

MOST_CHARACTERS = 2_000
"""Characters of a sentence: parsing and comparing grow with the square of its words, and no sentence is longer."""
_KEPT_NODES = 20_000
"""Bound on the encoded sentences that are kept, some 30 MB: a test of a no compares each with up to six others."""


@dataclass(frozen=True, slots=True)
class _Encoded:
    phrases: Phrases
    vectors: Vectors


_ENCODED: LRUCache[str, _Encoded] = LRUCache(maxsize=_KEPT_NODES, getsizeof=lambda one: len(one.phrases))
"""By sentence, whichever checker parsed it."""
_LOCK = Lock()


class Aligner:
    """Aligns sentences on its own thread; belongs to one event loop, which it never blocks.

    The model is loaded with the first sentences.
    """

    def __init__(self) -> None:
        self._thread = ModelThread("the model that compares phrases", _load)

    async def align(self, first: str, second: str) -> AlignedSentences:
        """The four alignments of two sentences, nothing asked yet. The same text twice takes neither parser nor model.

        Raises:
            Undecidable: a sentence has no word, or is too long.
            ModelFailed: the model cannot be used.
        """
        for sentence in (first, second):
            self.check_length(sentence)
        if same_text(first, second) and holds_words(first):
            return identical(first, second)
        sentences = dict.fromkeys((first, second))
        with _LOCK:
            known = {sentence: _ENCODED[sentence] for sentence in sentences if sentence in _ENCODED}
        new = [sentence for sentence in sentences if sentence not in known]
        encoder = await self._thread.model()
        parsed = await gather_or_cancel(_parse(sentence) for sentence in new)
        with Phase("computed"):
            encoded, aligned = await self._thread.run(partial(_align, encoder, (first, second), known, parsed))
        with _LOCK:
            for sentence in new:
                if len(encoded[sentence].phrases) <= _ENCODED.maxsize:
                    _ENCODED[sentence] = encoded[sentence]
        return aligned

    async def close(self) -> None:
        """End the thread once its work is done."""
        self._thread.close()

    def check_length(self, sentence: str) -> None:
        """Raise Undecidable if a sentence is longer than what is parsed."""
        if len(sentence) > MOST_CHARACTERS:
            raise Undecidable(
                "too_long", f"a sentence has {len(sentence)} characters; at most {MOST_CHARACTERS} are parsed"
            )


async def _parse(sentence: str) -> Phrases:
    found = phrases(await compute(parse_sentence, sentence)) if sentence.strip() else None
    if not found:
        raise Undecidable("empty_text", f"“{sentence[:40]}” holds no word")
    return found


def _align(
    encoder: PhraseEncoder,
    sentences: tuple[str, str],
    known: Mapping[str, _Encoded],
    parsed: Sequence[Phrases],
) -> tuple[dict[str, _Encoded], AlignedSentences]:
    from checkers.equivalence.alignment import align
    from checkers.equivalence.similarity import similarities

    encoded = dict(known)
    for sentence, vectors in zip(parsed, encoder.encode(parsed) if parsed else (), strict=True):
        encoded[sentence.tree.sentence] = _Encoded(sentence, vectors)
    one, other = (encoded[sentence] for sentence in sentences)
    return encoded, align(one.phrases, other.phrases, similarities(one.vectors, other.vectors))


@cache
def _load() -> PhraseEncoder:
    # Whatever the number of checkers: any thread may ask it.
    try:
        from checkers.equivalence.similarity import PhraseEncoder
    except ImportError as error:
        raise ModelFailed(
            f"a package is missing ({error}); comparing phrases needs `pip install 'assay[local]'`",
            cause="judge_failed",
        ) from error
    encoder = PhraseEncoder()
    encoder.load()
    return encoder
