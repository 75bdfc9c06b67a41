"""Words of grammar that change what a sentence says, by what they vary in: time, place, amount, what is asked for.

Two different words of one family in the same place say different things ("before" and "after"); words that stand in
none ("the", "do") may change freely. Closed classes are lists by their nature (Huddleston and Pullum, The Cambridge
Grammar of the English Language, 2002, chapters 5, 7 and 9).
"""

from __future__ import annotations

from checkers.lexicon import lexicon

_FAMILIES: dict[str, tuple[str, ...]] = {
    # Words joined by a comma say the same.
    "question": ("who,whom,whose", "when", "where", "why"),
    "quantity": (
        "all,every,each,both,everyone,everybody,everything",
        "some,any,someone,somebody,something,anyone,anybody,anything,several",
        "no,none,neither,nobody,nothing",
        "most",
        "many,much",
        "few",
        "more",
        "less,fewer",
        "least",
        "only",
    ),
    "order": ("before,until,till", "after,since", "during,while"),
    "path": ("to,toward,towards,into", "from,off"),
    "place": ("above,over", "below,under,beneath,underneath", "behind", "inside,within", "outside", "between"),
    "height": ("up", "down"),
    "company": ("with,including", "without,except,excluding"),
    "side": ("for", "against"),
    "condition": ("if", "unless", "although,though,despite"),
    "modality": ("must,shall", "may,might,could", "cannot"),
}

_MEMBERS: dict[str, tuple[tuple[str, int], ...]] = {}
for _name, _groups in _FAMILIES.items():
    for _number, _group in enumerate(_groups):
        for _word in _group.split(","):
            _MEMBERS[_word] = (*_MEMBERS.get(_word, ()), (_name, _number))

DROPPED = frozenset({"a", "an", "the", "s", "please"})
"""What may come and go without changing anything, and would only lie between words that belong together."""


def clash(one: str, other: str) -> bool:
    """Whether two words in lower case vary the same thing differently."""
    return any(
        family == another and number != different
        for family, number in _MEMBERS.get(one, ())
        for another, different in _MEMBERS.get(other, ())
    )


def weighty(word: str) -> bool:
    """Whether a word of grammar varies what a sentence says."""
    return word in _MEMBERS


PRONOUNS = frozenset("he him his she her hers it its they them their theirs".split())
"""Stand for what has been named before."""

_ASKED_FOR = {
    "why": {"reason", "cause"},
    "when": {"time", "date"},
    "where": {"place", "location"},
    "who": {"person"},
    "how": {"way", "method"},
}


def asks_for(question: str, word: str) -> bool:
    """Whether a word in lower case says what a question word asks for: why, the reason."""
    nouns = _ASKED_FOR.get(question)
    return nouns is not None and bool(lexicon().lemmas(word, "n") & nouns)
