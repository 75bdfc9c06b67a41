"""From two sentences to what is matched between them: parsed, encoded and compared, each sentence once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cachetools import LRUCache

from checkers.checker import Undecidable
from checkers.equivalence.parsers import Parser
from checkers.oracle.model_loading import ModelThread
from checkers.oracle.protocol import OracleFailed

if TYPE_CHECKING:
    from checkers.equivalence.alignment import Matched
    from checkers.equivalence.phrases import Phrases
    from checkers.equivalence.similarity import PhraseEncoder, Vectors
    from checkers.equivalence.trees import Tree

_KEPT_NODES = 20_000
"""Of encoded sentences that are kept, some 30 MB: a test of a no compares each sentence with up to six others."""


@dataclass(frozen=True, slots=True)
class _Encoded:
    phrases: "Phrases"
    vectors: "Vectors"


class Aligner:
    """Matches sentences on a thread of its own; belongs to one event loop, which it never blocks.

    The model is loaded with the first sentences.
    """

    def __init__(self, parser: Parser, model: str | None) -> None:
        """`model` is the name or path of a sentence-transformers model; None takes the bundled one."""
        self._parser = parser
        self._thread = ModelThread("the model that compares phrases", partial(_load, model))
        self._known: LRUCache[str, _Encoded] = LRUCache(maxsize=_KEPT_NODES, getsizeof=lambda one: len(one.phrases))

    async def matched(self, first: str, second: str) -> "Matched":
        """The four alignments of two sentences, nothing asked yet.

        Raises:
            Undecidable: a sentence has no word or no tree.
            OracleUnavailable: the parser is down, or (as StillLoading) the model is not there yet.
            OracleFailed: the model cannot be used, or the judge gave no tree.
        """
        trees = await self._parser.parse([first, second])
        encoder = await self._thread.model()
        try:
            return await self._thread.run(partial(self._match, encoder, *trees))
        except _WordlessError as error:
            raise Undecidable("empty_text", str(error)) from None

    async def close(self) -> None:
        """End the thread once its work is done."""
        self._thread.close()

    def _match(self, encoder: "PhraseEncoder", first: "Tree", second: "Tree") -> "Matched":
        from checkers.equivalence.alignment import matched
        from checkers.equivalence.similarity import similarities

        one, other = self._encoded(encoder, [first, second])
        return matched(one.phrases, other.phrases, similarities(one.vectors, other.vectors))

    def _encoded(self, encoder: "PhraseEncoder", trees: "Sequence[Tree]") -> list[_Encoded]:
        """Those that are not known are encoded in one go."""
        from checkers.equivalence.phrases import phrases

        found = {tree.sentence: self._known[tree.sentence] for tree in trees if tree.sentence in self._known}
        fresh = [phrases(tree) for tree in trees if tree.sentence not in found]
        for one in fresh:
            if not len(one):
                raise _WordlessError(f"“{one.tree.sentence[:40]}” holds no word")
        for one, vectors in zip(fresh, encoder.encode(fresh) if fresh else (), strict=True):
            found[one.tree.sentence] = _Encoded(one, vectors)
            if len(one) <= self._known.maxsize:
                self._known[one.tree.sentence] = found[one.tree.sentence]
        return [found[tree.sentence] for tree in trees]


def _load(model: str | None) -> "PhraseEncoder":
    try:
        from checkers.equivalence.similarity import PhraseEncoder
    except ImportError as error:
        raise OracleFailed(
            f"a package is missing ({error}); what compares phrases comes with `pip install 'assay[local]'`",
            cause="judge_failed",
        ) from error
    encoder = PhraseEncoder(model)
    encoder.load()
    return encoder


class _WordlessError(ValueError):
    """A sentence without a word."""
