"""The forms of words, by lemminflect's tables."""

from functools import cache

from models.text.packed import Pos

_UNIVERSAL: dict[Pos, str] = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}


@cache
def inflections(lemma: str, pos: Pos) -> dict[str, tuple[str, ...]]:
    """All forms of a base form by Penn Treebank tag, the usual one first; raises ImportError without lemminflect."""
    import lemminflect

    forms: dict[str, tuple[str, ...]] = lemminflect.getAllInflections(lemma, upos=_UNIVERSAL[pos])
    return forms
