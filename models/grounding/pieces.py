"""A reference cut at sentences into pieces that a network reads whole."""

import re
from collections.abc import Iterator

from models.local.tokens import stem
from models.wording import split_sentences

_SAME = 0.7
"""Share of words that two sentences about the same thing have in common; a name or a verb may differ."""


def pieces_of(text: str, limit: int) -> list[str]:
    """Stretches of `text`, word for word, that together hold all of its sentences; each of `limit` words at most.

    A sentence is divided only where it alone has more words.
    """
    sound = text.encode("utf-8", "replace").decode()
    pieces: list[str] = []
    start = end = count = 0
    for first, last in _sentences(sound):
        size = len(sound[first:last].split())
        if count and count + size > limit:
            pieces.append(sound[start:end].strip())
            count = 0
        if not count:
            start = first
        end = last
        count += size
    if count:
        pieces.append(sound[start:end].strip())
    return [part for piece in pieces for part in _divided(piece, limit)]


def halves_of(piece: str) -> list[str]:
    """A piece in two, between sentences if it has several, else between words, else between characters.

    The halves hold all of it but white space; one that cannot be divided stays as it is.
    """
    cuts = [first for first, _ in _sentences(piece)][1:] or _word_starts(piece) or list(range(1, len(piece)))
    if not cuts:
        return [piece]
    cut = min(cuts, key=lambda place: abs(place - len(piece) / 2))
    return [half for half in (piece[:cut].strip(), piece[cut:].strip()) if half]


def nearest_sentence(piece: str, claim: str) -> str:
    """The sentence of `piece` that has most of the claim's words, word for word; the first if none has any."""
    wanted = _stems(claim)
    sentences = [piece[first:last] for first, last in _sentences(piece)] or [piece]
    return max(sentences, key=lambda sentence: len(wanted & _stems(sentence)))


def speaks_of_same(one: str, other: str) -> bool:
    """True if either has nearly all words of the other, figures left out."""
    first, second = ({word for word in _stems(text) if not word.isdecimal()} for text in (one, other))
    return bool(first and second) and len(first & second) >= _SAME * max(len(first), len(second))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends."""
    ends = [sentence.end for sentence in split_sentences(text)][:-1]
    # With the text between them, such as the marks of a list.
    starts = [0, *(end + len(text[end:]) - len(text[end:].lstrip()) for end in ends)]
    yield from zip(starts, [*ends, len(text)], strict=True)


def _divided(piece: str, limit: int) -> Iterator[str]:
    starts = [0, *_word_starts(piece)]
    for index in range(0, len(starts), limit):
        end = starts[index + limit] if index + limit < len(starts) else len(piece)
        yield piece[starts[index] : end].strip()


def _word_starts(text: str) -> list[int]:
    """Where each word but the first begins."""
    return [place for place in range(1, len(text)) if text[place - 1].isspace() and not text[place].isspace()]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w{3,}", text.lower())}
