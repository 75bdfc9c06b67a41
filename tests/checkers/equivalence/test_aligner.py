"""From two sentences to their alignments: what is parsed and encoded, and how often."""

from collections.abc import Sequence

import pytest

from checkers.equivalence import aligner as aligning
from checkers.equivalence.aligner import Aligner
from checkers.equivalence.parsers import parse_sentence
from checkers.equivalence.phrases import Phrases
from checkers.equivalence.similarity import PhraseEncoder, Vectors
from checkers.equivalence.trees import Tree

MILL = "The old mill by the river was sold in May."
SOLD = "In May somebody sold the old mill."
ROAD = "The road to the harbour is closed."


async def test_each_sentence_is_parsed_and_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    encode = PhraseEncoder.encode

    def noted(self: PhraseEncoder, sentences: Sequence[Phrases]) -> list[Vectors]:
        encoded.extend(one.tree.sentence for one in sentences)
        return encode(self, sentences)

    monkeypatch.setattr(PhraseEncoder, "encode", noted)
    parsed: list[str] = []

    def counted(sentence: str) -> Tree:
        parsed.append(sentence)
        return parse_sentence(sentence)

    monkeypatch.setattr(aligning, "parse_sentence", counted)
    aligner = Aligner()
    for pair in ((MILL, SOLD), (MILL, ROAD), (ROAD, SOLD), (MILL, MILL)):
        await aligner.align(*pair)
    await aligner.close()
    assert sorted(encoded) == sorted(parsed) == sorted([MILL, SOLD, ROAD])
