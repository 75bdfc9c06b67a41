"""Stanza's trees become ours, and a model that is missing is told before the service begins."""

import importlib.metadata
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stanza.models.constituency.tree_reader import read_trees

from checkers.checker import Undecidable
from checkers.equivalence.parsers import ParserSettings, ParserUnusable
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.parsers.stanza import _parsed, tree_of
from checkers.equivalence.trees import TreeFault, to_brackets
from checkers.oracle.protocol import OracleUnavailable

SENTENCE = "The  cat can't sleep."
WORDS = ("The", "cat", "ca", "n't", "sleep", ".")
TREE = "(ROOT (S (NP (DT The) (NN cat)) (VP (MD ca) (RB n't) (VP (VB sleep))) (. .)))"


def folder_of_models(path: Path) -> Path:
    """What a download leaves behind, with files that hold no models."""
    for processor in ("tokenize", "pos", "constituency"):
        (path / "en" / processor).mkdir(parents=True)
        (path / "en" / processor / "combined.pt").write_bytes(b"no model")
    packages = dict.fromkeys(("tokenize", "pos", "constituency"), "combined")
    language = {name: {"combined": {"md5": "0"}} for name in packages}
    (path / "resources.json").write_text(
        json.dumps({"en": {**language, "lang_name": "English", "packages": {"default": packages}}})
    )
    return path


def test_stanzas_tree_is_taken_over_node_by_node() -> None:
    (constituency,) = read_trees(TREE)

    tree = tree_of(SENTENCE, WORDS, constituency)

    assert to_brackets(tree) == TREE
    assert tree.starts == (0, 5, 9, 11, 15, 20)


@pytest.mark.parametrize(
    ("brackets", "words"),
    [
        (TREE.replace(" (. .)", ""), WORDS),
        (TREE, WORDS[:-1]),
        (TREE, ("The", "dog", *WORDS[2:])),
    ],
)
def test_a_tree_over_other_words_is_a_fault(brackets: str, words: tuple[str, ...]) -> None:
    (constituency,) = read_trees(brackets)

    with pytest.raises(TreeFault):
        tree_of(SENTENCE, words, constituency)


class Pipeline:
    """Stands in for a loaded one: notes what it is given, and makes the same of all."""

    def __init__(self, *brackets: str, words: tuple[str, ...] = WORDS, fault: Exception | None = None) -> None:
        self.given: list[str] = []
        self._fault = fault
        trees = read_trees(" ".join(brackets))
        self._made = [
            SimpleNamespace(words=[SimpleNamespace(text=word) for word in words], constituency=tree) for tree in trees
        ]

    def __call__(self, text: str) -> SimpleNamespace:
        self.given.append(text)
        if self._fault is not None:
            raise self._fault
        return SimpleNamespace(sentences=self._made)


def test_a_sentence_reaches_the_model_without_line_breaks_and_with_its_places() -> None:
    pipeline = Pipeline(TREE)
    sentence = "The\n\ncat can't\tsleep."

    tree = _parsed(pipeline, sentence)

    assert pipeline.given == ["The  cat can't sleep."]
    assert to_brackets(tree) == TREE
    assert tree.sentence == sentence


@pytest.mark.parametrize(
    ("pipeline", "told"),
    [
        (Pipeline(TREE, TREE), "Stanza made 2 sentences of one"),
        (Pipeline(), "Stanza made 0 sentences of one"),
        (Pipeline(TREE, words=("A", *WORDS[1:])), "Stanza's tree cannot be used: token 1 is 'A'"),
        (Pipeline(TREE, fault=RuntimeError("out of memory at 'cat'")), "Stanza failed on the sentence: RuntimeError$"),
    ],
)
def test_a_sentence_that_the_model_cannot_parse_is_undecidable(pipeline: Pipeline, told: str) -> None:
    with pytest.raises(Undecidable, match=told) as caught:
        _parsed(pipeline, SENTENCE)

    assert caught.value.cause == "unparsable"


async def test_the_model_is_loaded_once_for_the_language_and_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of_models(tmp_path)
    (folder / "en").rename(folder / "xx")
    loaded: list[tuple[str, str]] = []

    def load(language: str, **settings: Any) -> Pipeline:
        loaded.append((language, settings["dir"]))
        return Pipeline(TREE)

    monkeypatch.setattr("stanza.Pipeline", load)
    parser = build_parser(ParserSettings(parser="stanza", stanza_folder=folder, stanza_language="xx"))

    trees = [*await parser.parse([SENTENCE]), *await parser.parse([f"{SENTENCE} "])]
    await parser.close()

    assert [to_brackets(tree) for tree in trees] == [TREE, TREE]
    assert loaded == [("xx", str(folder))]


def test_no_folder_is_told_with_the_remedy() -> None:
    with pytest.raises(ParserUnusable, match=r"needs stanza_folder.*stanza\.download\('en'"):
        build_parser(ParserSettings(parser="stanza"))


def test_a_folder_without_models_is_told(tmp_path: Path) -> None:
    with pytest.raises(ParserUnusable, match=r"holds no resources\.json"):
        build_parser(ParserSettings(parser="stanza", stanza_folder=tmp_path))


def test_a_folder_without_the_constituency_model_is_told(tmp_path: Path) -> None:
    folder = folder_of_models(tmp_path)
    (folder / "en" / "constituency" / "combined.pt").unlink()

    with pytest.raises(ParserUnusable, match="no model for 'constituency' of 'en'"):
        build_parser(ParserSettings(parser="stanza", stanza_folder=folder))


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "version", missing)

    with pytest.raises(ParserUnusable, match=r"pip install 'assay\[stanza\]'"):
        build_parser(ParserSettings(parser="stanza"))


async def test_models_that_cannot_be_loaded_hold_the_record(tmp_path: Path) -> None:
    parser = build_parser(ParserSettings(parser="stanza", stanza_folder=folder_of_models(tmp_path)))

    with pytest.raises(OracleUnavailable, match="cannot load its models") as caught:
        await parser.parse([SENTENCE])
    await parser.close()

    assert caught.value.retry_after == 60


def test_the_name_changes_with_the_models(tmp_path: Path) -> None:
    folder = folder_of_models(tmp_path)
    first = build_parser(ParserSettings(parser="stanza", stanza_folder=folder)).name
    (folder / "resources.json").write_text((folder / "resources.json").read_text() + " ")

    assert first.startswith("stanza/")
    assert build_parser(ParserSettings(parser="stanza", stanza_folder=folder)).name != first
