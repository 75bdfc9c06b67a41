"""A simple extractor that plays the sample records' subject where there is no endpoint: names by their capitals."""

import re

from checkers.extraction.mentions import begins_sentence
from checkers.extraction.subjects import CallableSubject
from models.protocol import Model

_MOST = 3
"""As services do that return the first few of what they find: what is listed depends on what else there is."""

_NO_NAMES = frozenset({"A", "An", "In", "The"})
_WORD = re.compile(r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]")


def stand_ins() -> dict[str, Model]:
    """By the `model` of the sample records."""
    return {"acme-extract-1": CallableSubject("stand-in/capitals", capitalised)}


def capitalised(text: str) -> list[str]:
    """Runs of words with a capital, the first three by the alphabet, in the order of the text."""
    runs: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        if word[0][0].isupper() and not (word[0] in _NO_NAMES and begins_sentence(text, word.start())):
            joined = runs and text[runs[-1][1] : word.start()] == " "
            start = runs.pop()[0] if joined else word.start()
            runs.append((start, word.end()))
    listed = sorted(runs, key=lambda run: text[run[0] : run[1]])[:_MOST]
    return [text[start:end] for start, end in sorted(listed)]
