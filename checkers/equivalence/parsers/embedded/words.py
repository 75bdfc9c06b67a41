"""Words of a sentence with their parts of speech."""

from dataclasses import dataclass

from checkers.text.lexicon import lexicon

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
ADJECTIVES = frozenset({"JJ", "JJR", "JJS"})
ADVERBS = frozenset({"RB", "RBR", "RBS"})
PARTICIPLES = frozenset({"VBN", "VBG"})
VERBS = frozenset({"VB", "VBP", "VBZ", "VBD", "MD"}) | PARTICIPLES
FINITE = frozenset({"VBP", "VBZ", "VBD", "MD"})
QUOTE = "''"
"""The tag of all quotation marks."""

BE = frozenset("be am is are was were been being 's 're 'm".split())
HAVE = frozenset("have has had having 've".split())
DO = frozenset({"do", "does", "did"})

_CLAUSAL = frozenset({26, 34})
"""WordNet's sentence frames of a verb with a clause: somebody says that, it seems that."""


@dataclass(slots=True)
class Word:
    """A token of the sentence."""

    text: str
    start: int
    """The character at which it begins."""
    tag: str
    """The Penn Treebank's."""

    @property
    def lower(self) -> str:
        """In lower case."""
        return self.text.lower()


def has_tag(word: Word, tag: str) -> bool:
    """Whether the lexicon has the word in this form as well."""
    return any(form == tag for _, _, form in lexicon().analyses(word.lower))


def is_be(word: Word) -> bool:
    """Whether it is a form of be."""
    return word.lower in BE


def is_auxiliary(word: Word) -> bool:
    """Whether it may be an auxiliary: be, have, do, or a modal verb."""
    return word.tag == "MD" or word.lower in BE | HAVE | DO


def is_of_saying(word: Word) -> bool:
    """Whether it is a verb of saying or thinking, which a clause may follow without more ado."""
    return not _CLAUSAL.isdisjoint(lexicon().frames(word.lower))


def is_calendar(word: Word) -> bool:
    """Whether it names a day or month by itself, as Monday or today does, and so needs no preposition."""
    lower = word.lower.removesuffix(".")
    if word.text[:1].isupper() and lexicon().is_a(lower, "month", "n"):
        return True
    return lower in {"today", "yesterday", "tomorrow", "tonight"} or lexicon().is_a(lower, "weekday", "n")


def is_period(word: Word) -> bool:
    """Whether it names a time: Monday, week, today."""
    lower = word.lower
    return any(lexicon().is_a(lower, broad, "n") for broad in ("period", "day", "time"))
