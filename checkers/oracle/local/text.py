"""From raw text to comparable words: what looks the same to a reader becomes the same here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import sentencex

from checkers.oracle.local.lexicon import CONFUSABLES, FUNCTION_WORDS, NEGATIONS, REPORTING

LONGEST_WORD = 48
"""Characters kept of a word: longer runs are junk (base64, repeated letters) and must not cost memory."""

_WORD = re.compile(
    r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s|m|k|bn|mn)?(?![^\W\d_])"  # 1,000  3.5  19th  1980s  5m  12:30
    r"|(?:[^\W\d_]\.){2,}"  # U.S.  J.C.P.
    r"|[^\W_]+(?:['’][^\W\d_]+)*"
    r"|[%$€£¥]"
)
_SPACES = re.compile(r"\s+")
_BLOCK = re.compile(r"[^\n]+")
_LATIN = re.compile(r"[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a normalised text."""

    surface: str
    """As written, after normalisation."""
    stem: str
    """Lower case, without accents and inflection: equal stems count as the same word."""
    start: int
    end: int
    """Character span in the normalised text."""
    content: bool
    """Carries meaning of its own: not a function word, a sign or punctuation."""


def normalise(text: str) -> str:
    """Undo disguises: compatibility forms, invisible characters, foreign digits and look-alike letters."""
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = "".join(_visible(char) for char in text)
        text = re.sub(r"\S+", _latinise, text)
    else:
        text = "".join(char if char.isprintable() else " " for char in text)
    return _SPACES.sub(" ", text).strip()


def _visible(char: str) -> str:
    if char.isascii():
        return char if char.isprintable() else " "
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category in {"Cf", "Cs", "Co", "Cn"} or "\ufe00" <= char <= "\ufe0f":
        return ""
    if category.startswith(("Z", "Cc")):
        return " "
    return {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"}.get(char, char)


def _latinise(match: re.Match[str]) -> str:
    word = match.group()
    return word.translate(CONFUSABLES) if _LATIN.search(word) else word


def words(text: str) -> list[Word]:
    """The words of a normalised text, in order."""
    found = []
    for match in _WORD.finditer(text):
        surface = match.group()[:LONGEST_WORD]
        lowered = surface.lower()
        sign = not surface[0].isalnum()
        content = not sign and not any(lowered in closed for closed in (FUNCTION_WORDS, NEGATIONS, REPORTING))
        found.append(Word(surface, stem(lowered), match.start(), match.end(), content))
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A lower-case word without accents and English inflection ("parties" and "party" meet)."""
    word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    word = word.replace(".", "") if word[:1].isalpha() else word
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for suffix, replacement, shortest in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            word = word[: len(word) - len(suffix)] + replacement
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_SUFFIXES = (
    ("ingly", "", 3),
    ("edly", "", 3),
    ("iness", "y", 3),
    ("ness", "", 3),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("sses", "ss", 2),
    ("ches", "ch", 2),
    ("shes", "sh", 2),
    ("xes", "x", 2),
    ("ing", "", 3),
    ("ed", "", 3),
    ("ily", "y", 3),
    ("ly", "", 4),
    ("ss", "ss", 1),
    ("us", "us", 1),
    ("is", "is", 1),
    ("s", "", 3),
)


def passages(text: str) -> Iterator[str]:
    """The sentences of a reference, verbatim, empty ones left out; a line break always ends one."""
    for block in _BLOCK.finditer(text):
        # The splitter refuses lone surrogates, which JSON lets through.
        sound = block.group().encode("utf-8", "replace").decode("utf-8")
        for piece in sentencex.segment("en", sound):
            if piece.strip():
                yield piece.strip()
