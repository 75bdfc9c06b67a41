"""A text as the words that are compared: without case, punctuation and spelling that depends on the neighbours."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from models.text.lexicon import lexicon
from models.text.tokens import tokens

# Before n't; and an article that depends on the next sound.
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
_SAME = {"an": "a", "n't": "not"}

# Words of one text times words of the other. What is longer is not told apart word by word: the time for it grows with
# the third power where the same few words come again and again.
_MOST_ALIGNED = 250_000
# Longer spans are different texts, and not one that has an auxiliary more.
_LONGEST_PARTED = 8

_LOOSE_HYPHEN = re.compile(r"\w\s+-\s+\w")
_HYPHEN = re.compile(r"(-)")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text in order."""

    tokens: tuple[str, ...]
    """Words and punctuation, as the tagger wants them, in the text's own case."""
    places: tuple[int, ...]
    """Where among the tokens each word stands."""
    keys: tuple[str, ...]
    """What each word is compared by."""

    def __len__(self) -> int:
        return len(self.keys)

    def written(self, start: int, end: int) -> tuple[str, ...]:
        """Some of the words as the text has them."""
        return tuple(self.tokens[place] for place in self.places[start:end])


def words_of_both(one: str, other: str) -> tuple[Words, Words]:
    """Cut two texts into words, in the same way: at hyphens if one of them has hyphens between spaces (self - made)."""
    apart = any(_LOOSE_HYPHEN.search(text) for text in (one, other))
    return _words_of(one, apart=apart), _words_of(other, apart=apart)


def _words_of(text: str, *, apart: bool) -> Words:
    found = tuple(part for token in tokens(text) for part in _parted(token.text, apart=apart))
    places = tuple(at for at, token in enumerate(found) if any(character.isalnum() for character in token))
    lower = [token.lower() for token in found]
    keys = [
        _STEMS.get(word, word) if after == "n't" else _SAME.get(word, word) for word, after in pairwise([*lower, ""])
    ]
    return Words(found, places, tuple(keys[at] for at in places))


def _parted(token: str, *, apart: bool) -> tuple[str, ...]:
    if token.lower() == "cannot":
        return token[:3], token[3:]
    if apart and token[0].isalnum():
        return tuple(part for part in _HYPHEN.split(token) if part)
    return (token,)


@dataclass(frozen=True, slots=True)
class Span:
    """Words `start` to `end` of one text that stand where the other has `other_start` to `other_end`."""

    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def replaced(self) -> bool:
        """True if both sides have words here."""
        return self.start < self.end and self.other_start < self.other_end

    @property
    def single(self) -> bool:
        """True if one word stands against one."""
        return self.end - self.start == 1 and self.other_end - self.other_start == 1


def same_word(one: str, other: str) -> bool:
    """True if both are the same word, in whatever inflection."""
    return not forms_of([one]).isdisjoint(forms_of([other]))


def forms_of(words: Iterable[str]) -> frozenset[str]:
    """The words themselves and their base forms."""
    return frozenset(form for word in words for form in (word, *lexicon().lemmas(word)))


def differing(one: Words, other: Words) -> list[Span]:
    """The places where two texts differ, as small as they can be made: replaced words stand one against one."""
    if len(one) == len(other):
        at = [place for place in range(len(one)) if one.keys[place] != other.keys[place]]
        # As many words, and most in their places: none was moved.
        if len(at) * 2 <= len(one):
            return [Span(place, place + 1, place, place + 1) for place in at]
    kept = contained(one.keys, other.keys)
    if kept is not None:
        return kept
    swapped = contained(other.keys, one.keys)
    if swapped is not None:
        return [Span(span.other_start, span.other_end, span.start, span.end) for span in swapped]
    if len(one) * len(other) > _MOST_ALIGNED:
        return [Span(0, len(one), 0, len(other))]
    matcher = SequenceMatcher(None, one.keys, other.keys, autojunk=False)
    return [
        part
        for name, start, end, other_start, other_end in matcher.get_opcodes()
        if name != "equal"
        for part in _parts(Span(start, end, other_start, other_end), one, other)
    ]


def contained(longer: Sequence[str], shorter: Sequence[str]) -> list[Span] | None:
    """What the longer text has besides, if it holds all words of the shorter one in order; None if it does not."""
    spans: list[Span] = []
    at = 0
    for place, word in enumerate(shorter):
        start = at
        while at < len(longer) and longer[at] != word:
            at += 1
        if at == len(longer):
            return None
        if at > start:
            spans.append(Span(start, at, place, place))
        at += 1
    if at < len(longer):
        spans.append(Span(at, len(longer), len(shorter), len(shorter)))
    return spans


def _parts(span: Span, one: Words, other: Words) -> list[Span]:
    """Cut a span at words that only differ in inflection, and into single words where there are as many."""
    if not span.replaced:
        return [span]
    if span.end - span.start == span.other_end - span.other_start:
        return [
            Span(span.start + at, span.start + at + 1, span.other_start + at, span.other_start + at + 1)
            for at in range(span.end - span.start)
        ]
    if max(span.end - span.start, span.other_end - span.other_start) > _LONGEST_PARTED:
        return [span]
    for start in range(span.start, span.end):
        for other_start in range(span.other_start, span.other_end):
            if same_word(one.keys[start], other.keys[other_start]):
                before = Span(span.start, start, span.other_start, other_start)
                after = Span(start + 1, span.end, other_start + 1, span.other_end)
                pair = Span(start, start + 1, other_start, other_start + 1)
                return [
                    *(_parts(before, one, other) if _holds(before) else ()),
                    pair,
                    *(_parts(after, one, other) if _holds(after) else ()),
                ]
    return [span]


def _holds(span: Span) -> bool:
    return span.start < span.end or span.other_start < span.other_end
