"""Overlapping pieces of a reference that is too long for the judge."""

import re
from collections.abc import Sequence

from models.sentences import split_sentences

_OVERLAP = 0.1
"""Part of a piece's length that two neighbours have in common at most, so that text across a cut is whole in one."""
_FULL = 0.6
"""A piece may end this early, for the sake of ending with a paragraph."""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def pieces_of(text: str, room: int, *, language: str = "en") -> list[slice]:
    """Stretches of at most `room` characters that together hold all of `text`, each but the first with an overlap.

    They end with a paragraph where one ends late enough, else with a sentence, else between words. Sentences shorter
    than the overlap are whole in one of them.
    """
    if len(text) <= room:
        return [slice(0, len(text))]
    paragraphs = [found.end() for found in _PARAGRAPH.finditer(text)]
    sentences = [one.start for one in split_sentences(text, language=language)]
    words = [found.end() for found in re.finditer(r"\s+", text)]
    pieces = []
    start = 0
    while len(text) - start > room:
        earliest, latest = start + int(room * _FULL), start + room
        end = (
            _last(paragraphs, earliest, latest)
            or _last(sentences, earliest, latest)
            or _last(words, earliest, latest)
            or latest
        )
        pieces.append(slice(start, end))
        back = end - int(room * _OVERLAP)
        start = _first(sentences, back, end) or _first(words, back, end) or back
    return [*pieces, slice(start, len(text))]


def _last(places: Sequence[int], earliest: int, latest: int) -> int | None:
    return max((place for place in places if earliest < place <= latest), default=None)


def _first(places: Sequence[int], earliest: int, before: int) -> int | None:
    return min((place for place in places if earliest <= place < before), default=None)
