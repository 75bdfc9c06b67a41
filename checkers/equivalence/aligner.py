"""From two sentences to what is matched between them: parsed, encoded and compared, each sentence once."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache

from checkers.deciding import Undecidable
from checkers.equivalence.parsers import Asks, Parser
from checkers.oracle.protocol import OracleFailed, StillLoading

if TYPE_CHECKING:
    from checkers.equivalence.alignment import Matched
    from checkers.equivalence.phrases import Phrases
    from checkers.equivalence.similarity import PhraseEncoder, Vectors
    from checkers.equivalence.trees import Tree

ResultT = TypeVar("ResultT")

_PATIENCE_SECONDS = 10.0
"""How long a check waits for the model to be loaded, well within its deadline; then the record is held."""

_ASK_AGAIN_SECONDS = 0.5

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
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aligner")
        self._loading: asyncio.Future[PhraseEncoder] | None = None
        self._known: LRUCache[str, _Encoded] = LRUCache(maxsize=_KEPT_NODES, getsizeof=lambda one: len(one.phrases))

    async def matched(self, first: str, second: str, asks: Asks) -> "Matched":
        """The four alignments of two sentences, nothing asked yet; `asks` is who a parser asks that asks a model.

        Raises:
            Undecidable: a sentence has no word or no tree.
            OracleUnavailable: the parser is down, or (as StillLoading) the model is not there yet.
            OracleFailed: the model cannot be used, or the judge gave no tree.
        """
        trees = await self._parser.parse([first, second], asks)
        encoder = await self._loaded()
        try:
            return await self._run(self._match, encoder, *trees)
        except _WordlessError as error:
            raise Undecidable("empty_text", str(error)) from None

    async def close(self) -> None:
        """End the thread once its work is done."""
        if self._loading is not None:
            self._loading.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _loaded(self) -> "PhraseEncoder":
        if self._loading is None:
            # Bars of the model's library do not belong into a service's logs, or between our own lines.
            os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
            self._loading = asyncio.ensure_future(self._run(_load, self._model))
        await asyncio.wait({self._loading}, timeout=_PATIENCE_SECONDS)
        if not self._loading.done():
            raise StillLoading("the model that compares phrases is being loaded", retry_after=_ASK_AGAIN_SECONDS)
        fault = self._loading.exception()
        if fault is not None:
            raise OracleFailed(f"{fault}"[:300], cause="judge_failed") from fault
        return self._loading.result()

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

    def _run(self, call: Callable[..., ResultT], *arguments: Any) -> asyncio.Future[ResultT]:
        return asyncio.get_running_loop().run_in_executor(self._thread, call, *arguments)


def _load(model: str | None) -> "PhraseEncoder":
    try:
        from checkers.equivalence.similarity import PhraseEncoder
    except ImportError as error:
        raise OracleFailed(
            f"a package is missing ({error}); what compares phrases comes with `pip install 'assay[local]'`",
            cause="judge_failed",
        ) from error
    # Sentences are short: a second thread would cost more in waiting than it saves.
    encoder = PhraseEncoder(model, threads=1)
    encoder.load()
    return encoder


class _WordlessError(ValueError):
    """A sentence without a word."""
