"""A text as tagged words that can be replaced, taken out or added, with everything else left as it is written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lab.edits.forms import like
from models.text.articles import indefinite_article
from models.text.tagger import tag_words
from models.text.tokens import tokens

_NUMBER = re.compile(r"([$€£]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%?)")

MOST_WORDS = 80
"""A longer text is hardly one sentence, and its tags are guesses."""


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word or mark of punctuation where it stands; in `text` apostrophes are straight."""

    text: str
    start: int
    end: int
    tag: str
    """Penn Treebank."""

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A text and its words; positions are indices into `words`."""

    text: str
    words: tuple[TaggedWord, ...]

    def tag(self, at: int) -> str:
        """The tag at a position, empty before the first word and after the last."""
        return self.words[at].tag if 0 <= at < len(self.words) else ""

    def lower(self, at: int) -> str:
        """The word at a position in lower case, empty before the first and after the last."""
        return self.words[at].lower if 0 <= at < len(self.words) else ""

    def replaced(self, changes: Mapping[int, str]) -> str:
        """The text with other words at these positions."""
        parts, at = [], 0
        for position in sorted(changes):
            word = self.words[position]
            parts += [self.text[at : word.start], changes[position]]
            at = word.end
        return "".join([*parts, self.text[at:]])

    def exchanged(self, at: int, word: str) -> str:
        """The text with another word at a position, in the same capitals and with the article that goes before it."""
        changes = {at: like(word, self.words[at].text)}
        if self.lower(at - 1) in ("a", "an"):
            changes[at - 1] = like(indefinite_article(word), self.words[at - 1].text)
        return self.replaced(changes)

    def without(self, first: int, last: int) -> str:
        """The text without the words from `first` to `last`, and without the space before them."""
        before, after = self.text[: self.words[first].start], self.text[self.words[last].end :]
        return before.rstrip() + after if before.strip() else after.lstrip()

    def with_after(self, position: int, added: str) -> str:
        """The text with a word more behind a position."""
        end = self.words[position].end
        return f"{self.text[:end]} {added}{self.text[end:]}"


def sentence_of(text: str) -> TaggedSentence:
    """The text with its words tagged."""
    found = tokens(text)
    tags = tag_words([token.text for token in found])
    return TaggedSentence(text, tuple(TaggedWord(*token, tag) for token, tag in zip(found, tags, strict=True)))


def number_at(sentence: TaggedSentence, at: int) -> tuple[str, str, str] | None:
    """What stands before, in and behind the digits of a number ($, 3.50 and nothing).

    None where the word is no number, or part of an ordinal, a range or a code (3rd, 1914-1918, B12).
    """
    word = sentence.words[at]
    beside = sentence.text[max(word.start - 1, 0) : word.start] + sentence.text[word.end : word.end + 1]
    found = _NUMBER.fullmatch(word.text)
    if found is None or any(character.isalpha() or character in "-–" for character in beside):
        return None
    return found[1], found[2], found[3]
