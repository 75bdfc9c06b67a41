"""Base forms by rule: WordNet's rules of detachment, and what English spelling says about their results."""

import re
from collections.abc import Callable, Iterator

from models.text.packed import Pos

_RULES: dict[Pos, tuple[tuple[str, str, str], ...]] = {
    "n": (
        ("s", "", "NNS"),
        ("ses", "s", "NNS"),
        ("xes", "x", "NNS"),
        ("zes", "z", "NNS"),
        ("ches", "ch", "NNS"),
        ("shes", "sh", "NNS"),
        ("men", "man", "NNS"),
        ("ies", "y", "NNS"),
    ),
    "v": (
        ("s", "", "VBZ"),
        ("ies", "y", "VBZ"),
        ("es", "e", "VBZ"),
        ("es", "", "VBZ"),
        ("ed", "e", "VBD"),
        ("ed", "e", "VBN"),
        ("ed", "", "VBD"),
        ("ed", "", "VBN"),
        ("ing", "e", "VBG"),
        ("ing", "", "VBG"),
    ),
    "a": (("er", "", "JJR"), ("est", "", "JJS"), ("er", "e", "JJR"), ("est", "e", "JJS")),
    "r": (),
}
"""Ending, what takes its place, and the Penn Treebank tag of a word with that ending."""

# One vowel between consonants at the end of a word of one syllable: hop, plan. Such a word doubles its last letter
# before -ed, -ing, -er and -est, so "hoping" and "planed" belong to "hope" and "plane".
_DOUBLES = re.compile(r"[^aeiou]*(?:qu)?[aeiouy][^aeiouwxy]")


def detach(word: str, pos: Pos, is_word: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Base forms (as far as `is_word` knows them) that the word, in lower case, is an inflection of, with its tag."""
    for ending, instead, tag in _RULES[pos]:
        if not word.endswith(ending) or len(word) <= len(ending) + 1:
            continue
        stem = word.removesuffix(ending)
        base = stem + instead
        if ending == "s" and word.endswith("ss"):
            continue
        if ending[0] in "ei" and not instead and _DOUBLES.fullmatch(base) and is_word(base + "e"):
            continue
        if is_word(base):
            yield base, tag
