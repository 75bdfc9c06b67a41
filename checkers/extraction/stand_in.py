"""A simple extractor that plays the sample records' subject where there is no endpoint: names by their capitals."""

import re

from checkers.extraction.mentions import begins_sentence
from checkers.extraction.subjects import CallableSubject
from models.protocol import Model

_CLASSES = {
    "Mirela Kovac": "person", "Jonas Petterson": "person", "Amara Diallo": "person", "Keith Lindqvist": "person",
    "Beatriz Valente": "person", "Graz": "city", "Malmö": "city", "Porto": "city", "Tromsø": "city", "Bergen": "city",
    "Sonnleitner Foods": "company", "Windrose Cartography": "company", "The Salt Road": "film", "Ellida": "ship",
}  # fmt: skip
"""The classes of the names in the sample records."""
_MOST = 3
"""Like services that sort what they find and return the first few: what it lists depends on what else there is, which
the linearity test sees."""

_NO_NAMES = frozenset({"A", "An", "In", "The"})
_WORD = re.compile(r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]")


def stand_ins() -> dict[str, Model]:
    """By the `model` of the sample records."""
    return {"acme-extract-1": CallableSubject("stand-in/capitals", capitalised)}


def capitalised(text: str) -> list[dict[str, str]]:
    """Runs of words with a capital, the first three by the alphabet, in the order of the text; with classes."""
    runs: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        if word[0][0].isupper() and not (word[0] in _NO_NAMES and begins_sentence(text, word.start())):
            joined = runs and text[runs[-1][1] : word.start()] == " "
            start = runs.pop()[0] if joined else word.start()
            runs.append((start, word.end()))
    listed = sorted(runs, key=lambda run: text[run[0] : run[1]])[:_MOST]
    names = [text[start:end] for start, end in sorted(listed)]
    return [{"class": _CLASSES.get(name, ""), "entity": name} for name in names]
