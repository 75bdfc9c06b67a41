"""Putting a word into the form that another one has."""

from models.text.inflections import inflections
from models.text.lexicon import lexicon
from models.text.packed import Pos


def inflected(lemma: str, tag: str) -> str | None:
    """The lemma in the form that the Penn Treebank tag names; None where the lexicon has no such form."""
    forms = inflections(lemma, part(tag))
    # A participle that is the past form has no entry of its own.
    found = forms.get(tag) or (forms.get("VBD") if tag == "VBN" else None)
    return found[0] if found else None


def part(tag: str) -> Pos:
    """The part of speech of a tag of a noun, verb, adjective or adverb."""
    letters: dict[str, Pos] = {"N": "n", "V": "v", "J": "a", "R": "r"}
    return letters[tag[0]]


def base_form(word: str, tag: str) -> str | None:
    """The word's base form as that part of speech; None where the lexicon does not know it, or knows several."""
    found = lexicon().lemmas(word, part(tag))
    return next(iter(found)) if len(found) == 1 else None


def like(word: str, model: str) -> str:
    """`word` with the capitals of `model`."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
