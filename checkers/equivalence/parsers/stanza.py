"""Trees from Stanza's constituency parser, with a model that the user has."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from checkers.checker import Undecidable
from checkers.equivalence.parsers.protocol import Asks
from checkers.equivalence.parsers.settings import ParserUnusable
from checkers.equivalence.trees import Node, Tree, TreeFault, located
from checkers.oracle.protocol import OracleUnavailable

_NEEDED = ("tokenize", "pos", "constituency")
_ASK_AGAIN_SECONDS = 60.0
"""For a model that cannot be loaded: a person has to mend that."""


class StanzaParser:
    """Parses on a thread of its own; the model is loaded with the first sentence."""

    def __init__(self, folder: Path | None, language: str) -> None:
        """`folder` is what `stanza.download` filled.

        Raises:
            ParserUnusable: the extra is not installed, or the folder does not hold the model.
        """
        try:
            version = metadata.version("stanza")
        except metadata.PackageNotFoundError:
            raise ParserUnusable("parser = 'stanza' needs Stanza: pip install 'assay[stanza]'") from None
        _check(folder, language)
        self._folder = folder
        self._language = language
        # What the folder's list of models says is what is loaded from it.
        models = hashlib.sha256((Path(str(folder)) / "resources.json").read_bytes()).hexdigest()[:12]
        self._name = f"stanza/{version}/{language}/{models}"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stanza")
        self._pipeline: Any = None

    @property
    def name(self) -> str:
        """With Stanza's version, and the digest of its list of models."""
        return self._name

    async def parse(self, sentences: Sequence[str], asks: Asks | None = None) -> list[Tree]:
        """See `Parser`; nobody is asked."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._parse_all, list(sentences))

    async def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _parse_all(self, sentences: list[str]) -> list[Tree]:
        pipeline = self._loaded()
        return [_parsed(pipeline, sentence) for sentence in sentences]

    def _loaded(self) -> Any:
        if self._pipeline is None:
            import stanza

            try:
                self._pipeline = stanza.Pipeline(
                    self._language,
                    dir=str(self._folder),
                    processors=",".join(_NEEDED),
                    tokenize_no_ssplit=True,
                    download_method=None,
                    verbose=False,
                )
            # Whatever model code raises: the record waits until the model is mended.
            except Exception as error:
                cause = " ".join(f"{error}".split())[:200]
                raise OracleUnavailable(
                    f"Stanza cannot load its models from {self._folder}: {cause}", retry_after=_ASK_AGAIN_SECONDS
                ) from error
        return self._pipeline


def tree_of(sentence: str, words: Sequence[str], constituency: Any) -> Tree:
    """Stanza's tree (`stanza.models.constituency.parse_tree.Tree`) over the sentence.

    Raises:
        TreeFault: its leaves are not the sentence's words.
    """
    tokens, starts = located(words, sentence)
    order: list[Any] = []
    waiting = [constituency]
    while waiting:
        one = waiting.pop()
        order.append(one)
        if not one.is_preterminal():
            waiting.extend(reversed(one.children))
    leaves = [one for one in order if one.is_preterminal()]
    if len(leaves) != len(tokens) or any(one.is_leaf() for one in order):
        raise TreeFault(f"the tree has {len(leaves)} leaves, the sentence {len(tokens)} words")
    made = {id(one): Node(place, place + 1, one.label) for place, one in enumerate(leaves)}
    for one in reversed(order):
        if not one.is_preterminal():
            children = tuple(made[id(child)] for child in one.children)
            made[id(one)] = Node(children[0].start, children[-1].end, one.label, children)
    return Tree(sentence, tokens, starts, made[id(constituency)])


def _parsed(pipeline: Any, sentence: str) -> Tree:
    # A blank line would end the sentence; a blank does not, and takes as much room.
    written = "".join(" " if character.isspace() else character for character in sentence)
    try:
        document = pipeline(written)
    # Whatever model code raises: the one sentence is to blame, the model has been loaded.
    except Exception as error:
        raise Undecidable("unparsable", f"Stanza failed on the sentence: {type(error).__name__}") from error
    if len(document.sentences) != 1:
        raise Undecidable("unparsable", f"Stanza made {len(document.sentences)} sentences of one")
    (found,) = document.sentences
    try:
        return tree_of(sentence, [word.text for word in found.words], found.constituency)
    except TreeFault as fault:
        raise Undecidable("unparsable", f"Stanza's tree cannot be used: {fault}") from None


def _check(folder: Path | None, language: str) -> None:
    """Make sure that a model is there, before the service begins."""
    remedy = f"stanza.download({language!r}, model_dir=FOLDER, processors={','.join(_NEEDED)!r}) fetches it"
    if folder is None:
        raise ParserUnusable(f"parser = 'stanza' needs stanza_folder, where its model is; {remedy}")
    if not (folder / "resources.json").is_file():
        raise ParserUnusable(f"stanza_folder = {str(folder)!r} holds no resources.json, so no model; {remedy}")
    for processor in _NEEDED:
        if not any((folder / language / processor).glob("*.pt")):
            raise ParserUnusable(
                f"stanza_folder = {str(folder)!r} holds no model for {processor!r} of {language!r}; {remedy}"
            )
