"""From two sentences to their alignments: what is parsed and encoded, and how often."""

from collections.abc import Sequence

import pytest

from checkers.equivalence.aligner import Aligner
from checkers.equivalence.parsers import EmbeddedParser
from checkers.equivalence.phrases import Phrases
from checkers.equivalence.similarity import PhraseEncoder, Vectors
from checkers.equivalence.trees import Tree

MILL = "The old mill by the river was sold in May."
SOLD = "In May somebody sold the old mill."
ROAD = "The road to the harbour is closed."


class CountingParser(EmbeddedParser):
    def __init__(self) -> None:
        self.parsed: list[str] = []

    async def parse(self, sentence: str) -> Tree:
        self.parsed.append(sentence)
        return await super().parse(sentence)


async def test_each_sentence_is_parsed_and_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    encode = PhraseEncoder.encode

    def noted(self: PhraseEncoder, sentences: Sequence[Phrases]) -> list[Vectors]:
        encoded.extend(one.tree.sentence for one in sentences)
        return encode(self, sentences)

    monkeypatch.setattr(PhraseEncoder, "encode", noted)
    parser = CountingParser()
    aligner = Aligner(parser)
    for pair in ((MILL, SOLD), (MILL, ROAD), (ROAD, SOLD), (MILL, MILL)):
        await aligner.align(*pair)
    await aligner.close()
    assert sorted(encoded) == sorted(parser.parsed) == sorted([MILL, SOLD, ROAD])
