"""A reference cut at sentences into pieces that a network reads whole."""

import re
from bisect import bisect_left, bisect_right

from models.local.text import stem
from models.wording import split_sentences

_SAME = 0.7
"""Share of words that two sentences about the same thing have in common; a name or a verb may differ."""


def pieces_of(text: str, limit: int) -> list[str]:
    """Stretches of `text`, word for word, that together hold all of its words; each of `limit` words at most.

    A sentence is divided only where it alone has more words.
    """
    sound = text.encode("utf-8", "replace").decode()
    words = [found.start() for found in re.finditer(r"\S+", sound)]
    starts = [0, *(bisect_left(words, sentence.start) for sentence in split_sentences(sound))]
    pieces, first = list[str](), 0
    while first < len(words):
        last = first + limit
        if last < len(words):
            sentence = starts[bisect_right(starts, last) - 1]
            last = sentence if sentence > first else last
        pieces.append(sound[words[first] : words[last] if last < len(words) else None].strip())
        first = last
    return pieces


def divided(piece: str) -> list[str]:
    """A piece in shorter ones, between words if it has several, else between characters."""
    words, middle = len(piece.split()), len(piece) // 2
    return pieces_of(piece, (words + 1) // 2) if words > 1 else [piece[:middle], piece[middle:]]


def nearest_sentence(piece: str, claim: str) -> str:
    """The sentence of `piece` that has most of the claim's words, word for word; the first if none has any."""
    wanted = _stems(claim)
    sentences = [one.text for one in split_sentences(piece)] or [piece]
    return max(sentences, key=lambda sentence: len(wanted & _stems(sentence)))


def speaks_of_same(one: str, other: str) -> bool:
    """True if either has nearly all words of the other, figures left out."""
    first, second = ({word for word in _stems(text) if not word.isdecimal()} for text in (one, other))
    return bool(first and second) and len(first & second) >= _SAME * max(len(first), len(second))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w{3,}", text.lower())}
