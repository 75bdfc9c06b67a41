"""Words made comparable: what looks the same to a reader becomes the same here."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import sentencex

from models.text.closed_class import FUNCTION_WORDS, REPORTING
from models.text.negation import is_negator
from models.text.tokens import spoken_words

LONGEST_WORD = 48
"""Characters kept of a word: longer runs are junk (base64, repeated letters) and must not cost memory."""

_SPACES = re.compile(r"\s+")
_BLOCK = re.compile(r"[^\n]+")
_LATIN = re.compile(r"[A-Za-z0-9]")
_PLAIN = {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"}
# Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏАВЕКМНОРСТУХІЈЅαοιυνκτρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhlABEKMHOPCTYXIJSaoiuvktpABEZHIKMNOPTYX",
)


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
    """True if it has a meaning of its own: no function word, sign or verb of reporting."""


def normalise(text: str) -> str:
    """Undo disguises: compatibility forms, invisible characters, foreign digits and look-alike letters."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(_visible(char) for char in text)
    if not text.isascii():
        text = re.sub(r"\S+", _latinise, text)
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
    return _PLAIN.get(char, char)


def _latinise(match: re.Match[str]) -> str:
    word = match.group()
    return word.translate(_LOOKALIKES) if _LATIN.search(word) else word


def words(text: str) -> list[Word]:
    """The words of a normalised text, in order."""
    found = []
    for token in spoken_words(text):
        surface = token.text[:LONGEST_WORD]
        lower = surface.lower()
        content = surface[0].isalnum() and not (lower in FUNCTION_WORDS or lower in REPORTING or is_negator(lower))
        found.append(Word(surface, stem(lower), token.start, token.end, content))
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
