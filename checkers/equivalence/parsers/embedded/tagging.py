"""Parts of speech of a sentence's words: the lexicon's, mended where capitals and neighbours tell more."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from checkers.equivalence.parsers.embedded.tokens import cut
from checkers.equivalence.parsers.embedded.words import (
    ADJECTIVES,
    ADVERBS,
    BE,
    HAVE,
    NOUNS,
    QUOTE,
    VERBS,
    Word,
    has_tag,
)
from checkers.text.tagger import tag_words

_OPENERS = frozenset({"DT", "PRP$", "POS", "WP$"})
"""What a noun phrase must follow."""
_NAMES = NOUNS | ADJECTIVES | VERBS | ADVERBS | {"UH", "RP", "PRP"}
"""What a capitalised word in the middle of a sentence is taken for a name instead of."""
_BEGINNINGS = frozenset({".", QUOTE, ":"})
_QUOTES = frozenset("\"'`“”‘’«»„‚")
_SIGNS = {"&": "CC", "%": "NN"} | dict.fromkeys("$€£¥", "$")
_AFTER_IS = frozenset({"DT", "VBN", "IN", "PRP", "PRP$", "TO", ".", "EX"})
"""What follows 's where it is the verb."""


def tagged(sentence: str) -> list[Word]:
    """Cut a sentence into words and marks, none of its characters but blanks left out, and tag them."""
    found = list(cut(sentence))
    tags = tag_words([token.replace("’", "'") for token, _ in found])
    words = [Word(token, start, tag) for (token, start), tag in zip(found, tags, strict=True)]
    for index in range(len(words)):
        for rule in _RULES:
            tag = rule(words, index)
            if tag is not None:
                words[index].tag = tag
                break
    return words


def _as_mark(words: Sequence[Word], index: int) -> str | None:
    word = words[index]
    if word.text in _SIGNS:
        return _SIGNS[word.text]
    if word.text[0] not in _QUOTES or any(sign.isalnum() for sign in word.text):
        return None
    # The dogs' owner.
    return "POS" if word.text in "'’" and index and words[index - 1].tag in {"NNS", "NNPS"} else QUOTE


def _as_joint(words: Sequence[Word], index: int) -> str | None:
    """So and yet join clauses behind a comma, where no adverb or adjective follows."""
    word = words[index]
    if word.tag != "CC" or word.lower not in {"so", "yet"}:
        return None
    opens = index == 0 or words[index - 1].tag == ","
    return None if opens and _behind(words, index) not in ADVERBS | ADJECTIVES | {".", ",", "IN"} else "RB"


def _as_possessor(words: Sequence[Word], index: int) -> str | None:
    if words[index].lower not in {"'s", "’s"} or not index:
        return None
    owner = words[index - 1].tag in NOUNS | {"CD"}
    return "POS" if owner and _behind(words, index) not in _AFTER_IS else "VBZ"


def _as_name(words: Sequence[Word], index: int) -> str | None:
    """A capital that is not there for a beginning makes a name."""
    word = words[index]
    if not word.text[:1].isupper() or word.text == "I" or word.tag not in _NAMES:
        return None
    if word.tag == "PRP":
        # US, IT.
        return "NNP" if word.text.isupper() and len(word.text) > 1 else None
    if index and words[index - 1].tag not in _BEGINNINGS:
        return "NNP"
    # At a beginning, a name is what goes on with one.
    goes_on = index + 1 < len(words) and words[index + 1].text[:1].isupper()
    return "NNP" if goes_on and word.tag not in ADVERBS else None


def _as_noun(words: Sequence[Word], index: int) -> str | None:
    """A noun must follow a determiner, or an adjective behind one."""
    if words[index].tag not in {"VB", "VBP", "VBZ"} or not index:
        return None
    before = index - 1
    opens = words[before].tag in _OPENERS
    if not opens and words[before].tag in ADJECTIVES and before:
        opens = words[before - 1].tag in _OPENERS
    if not opens:
        return None
    return "NNS" if words[index].tag == "VBZ" else "NN"


def _as_participle(words: Sequence[Word], index: int) -> str | None:
    word = words[index]
    if word.tag in {"VBD", "VBN"}:
        return "VBN" if _follows(words, index, BE | HAVE) else None
    return "VBN" if word.tag == "JJ" and has_tag(word, "VBN") and _follows(words, index, HAVE) else None


def _follows(words: Sequence[Word], index: int, auxiliaries: AbstractSet[str]) -> bool:
    """Whether one of these verbs stands before the word, adverbs apart."""
    for place in range(index - 1, max(index - 4, -1), -1):
        if words[place].tag not in ADVERBS:
            return words[place].lower in auxiliaries and words[place].tag in VERBS
    return False


def _behind(words: Sequence[Word], index: int) -> str:
    return words[index + 1].tag if index + 1 < len(words) else "."


_RULES: tuple[Callable[[Sequence[Word], int], str | None], ...] = (
    _as_mark,
    _as_joint,
    _as_possessor,
    _as_name,
    _as_noun,
    _as_participle,
)
