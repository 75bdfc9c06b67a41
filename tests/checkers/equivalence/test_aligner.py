"""From two sentences to what is matched: what is encoded, and how often."""

import asyncio
from collections.abc import Sequence

import pytest

from checkers.equivalence.aligner import Aligner
from checkers.equivalence.parsers import ParserSettings
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.phrases import Phrases
from checkers.equivalence.similarity import PhraseEncoder, Vectors
from checkers.oracle.protocol import StillLoading

MILL = "The old mill by the river was sold in May."
SOLD = "In May somebody sold the old mill."
ROAD = "The road to the harbour is closed."


async def matched(aligner: Aligner, first: str, second: str) -> None:
    """Match, however long the model takes to be loaded."""
    while True:
        try:
            await aligner.matched(first, second)
        except StillLoading as error:
            await asyncio.sleep(error.retry_after)
        else:
            return


async def test_each_sentence_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []
    encode = PhraseEncoder.encode

    def noted(self: PhraseEncoder, sentences: Sequence[Phrases]) -> list[Vectors]:
        encoded.extend(one.tree.sentence for one in sentences)
        return encode(self, sentences)

    monkeypatch.setattr(PhraseEncoder, "encode", noted)
    aligner = Aligner(build_parser(ParserSettings()), None)
    for pair in ((MILL, SOLD), (MILL, ROAD), (ROAD, SOLD), (MILL, MILL)):
        await matched(aligner, *pair)
    await aligner.close()
    assert sorted(encoded) == sorted([MILL, SOLD, ROAD])
