"""Words that deny something."""

from collections.abc import Sequence

NEGATORS = frozenset(
    "not n't nt no never nor neither none nobody nothing nowhere without cannot hardly barely scarcely "
    "false untrue".split()
)
"""Words that make a clause negative, in lower case (Huddleston and Pullum 2002, chapter 9)."""

NEGATIVE_WORDS = frozenset(
    "fail deny refuse lack avoid unable prevent reject rather instead unlike except exclude prohibit forbid oppose "
    "decline abstain neglect omit cease failure refusal absence".split()
)
"""Base forms of words that contain a negation: "failed to win" and "did not win" say the same."""

NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")

_AFFIRMED = frozenset({"only", "just", "merely", "simply"})


def is_negator(word: str) -> bool:
    """True if the word, in lower case, is a negator or a contraction with one (don't)."""
    return word in NEGATORS or word.endswith("n't")


def negates(words: Sequence[str], index: int) -> bool:
    """True if the word at `index` makes its clause negative; false in "no 8" and "not only". All in lower case."""
    word = words[index]
    if not is_negator(word):
        return False
    following = words[index + 1] if index + 1 < len(words) else ""
    if word == "no":
        return not following[:1].isdigit()
    return not (word == "not" and following in _AFFIRMED)
