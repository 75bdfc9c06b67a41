"""Reading an answer to a probe: yes or no, where either stands as an answer, whatever is said next to it."""

import re
from collections.abc import Iterator

from models.local.text import claims_nothing

_YES = frozenset({"yes", "yeah", "yep"})
_NO = frozenset({"no", "nope"})
AFFIRMING = _YES | {"true", "right", "correct"}
DENYING = _NO | {"false", "wrong", "incorrect"}
UNREADABLE = "no yes or no, true or false, right or wrong stands as the answer, or both do"

_CLAUSES = re.compile(r"[.,;:!?…()\[\]{}\n|]+|\s-+\s|[–—]+")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEGATORS = frozenset(
    "not n't nt no never nor neither none nobody nothing nowhere without cannot hardly barely scarcely false "
    "untrue".split()
)
_GOES_ON = frozenset(
    """
    a an although and as because but by can cannot could did do does everybody everyone everything for from had has
    have he her his how however i if in is it its just may might must my nobody nor not nothing of on or our she
    should since so that the their then there these they this those though to unless until was we were what when
    where which while who with without would yes you your
    """.split()
)
"""Words that follow a “no” which answers: “no because”, “no it cannot”. Before others it denies a thing: “no ice”."""
_JUDGED = re.compile(r"(?:(?:it|that|this|the (?:\w+ )?\w+)(?:'s| is|(?= isn't)) ?)?(not |isn't )?(?:quite )?(\w+)")
"""A clause that calls the question's sentence true or false: “that is not true”."""


def meaning(answer: str) -> bool | None:
    """True for yes, true, right and correct, False for their opposites, in any letter case.

    One of the words is its own clause, or opens one as “yes” and “no” do, or ends one: “The answer is no.” If none
    does, a clause may call something true or false. What else is said explains, and is not read. None if no clause
    answers, or one affirms and another denies.
    """
    clauses = [_WORDS.findall(one.casefold().replace("’", "'")) for one in _CLAUSES.split(answer)]
    for reader in (_answers, _judges):
        found = {polarity for words in clauses if words for polarity in reader(words)}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def claims_no_answer(answer: str) -> bool:
    """True if it says that the subject does not know."""
    return bool(_WORDS.search(answer)) and claims_nothing(answer)


def is_right(answer: str, expected: str) -> bool | None:
    """True if both mean the same; not so an answer that claims nothing, such as “I don't know”. None if unreadable."""
    said = meaning(answer)
    if said is None:
        return False if claims_no_answer(answer) else None
    return said is meaning(expected)


def is_negator(word: str) -> bool:
    """True if the word, in lower case, is a negator or a contraction with one (don't)."""
    return word in _NEGATORS or word.endswith("n't")


def _answers(words: list[str]) -> Iterator[bool]:
    first, last = words[0], words[-1]
    if len(words) == 1 and first in AFFIRMING | DENYING:
        yield first in AFFIRMING
    elif first in _YES or (first in _NO and words[1] in _GOES_ON):
        yield first in _YES
    if len(words) > 1 and last in _YES | _NO:
        before = set(words[:-1])
        if not any(map(is_negator, before - _NO)):
            yield last in _YES
            yield from (word in _YES for word in before & (_YES | _NO))


def _judges(words: list[str]) -> Iterator[bool]:
    found = _JUDGED.fullmatch(" ".join(words))
    if found and found[2] in AFFIRMING | DENYING:
        yield (found[2] in AFFIRMING) is not bool(found[1])
