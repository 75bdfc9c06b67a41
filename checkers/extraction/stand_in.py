"""A simple extractor that plays the sample records' subject where there is no endpoint: names by their capitals."""

import re

from checkers.extraction.mentions import begins_sentence
from checkers.extraction.subjects import CallableSubject
from models.protocol import Oracle
from models.text.closed_class import CLOSED_CLASS

_MOST = 3
"""Like services that sort what they find and return the first few: what it lists depends on what else there is, which
the linearity test sees."""

_WORD = re.compile(r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]")


def stand_ins() -> dict[str, Oracle]:
    """By the `model` of the sample records."""
    return {"acme-extract-1": CallableSubject("stand-in/capitals", capitalised)}


def capitalised(text: str) -> list[str]:
    """Runs of words with a capital, the first three by the alphabet, in the order of the text."""
    runs: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        opens_with_function_word = begins_sentence(text, word.start()) and word[0].lower() in CLOSED_CLASS
        if word[0][0].isupper() and not opens_with_function_word:
            joined = runs and text[runs[-1][1] : word.start()] == " "
            start = runs.pop()[0] if joined else word.start()
            runs.append((start, word.end()))
    listed = sorted(runs, key=lambda run: text[run[0] : run[1]])[:_MOST]
    return [text[start:end] for start, end in sorted(listed)]
