"""Reading an answer to a probe: yes or no, where either stands as an answer, whatever is said next to it."""

import re
from collections.abc import Iterator

from checkers.closed_class import CLOSED_CLASS, QUANTIFIERS, is_negator
from models.local.no_claim import claims_nothing

_YES = frozenset({"yes", "yeah", "yep"})
_NO = frozenset({"no", "nope"})
AFFIRMING = _YES | {"true", "right", "correct"}
DENYING = _NO | {"false", "wrong", "incorrect"}

_CLAUSES = re.compile(r"[.,;:!?…()\[\]{}\n|]+|\s-+\s|[–—]+")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_GOES_ON = CLOSED_CLASS - QUANTIFIERS - {"other", "such", "same"}
"""Words that follow a “no” which answers: “no because”, “no it cannot”. Before others it denies a thing: “no ice”."""
_JUDGED = re.compile(r"(?:(?:it|that|this|the (?:\w+ )?\w+)(?:'s| is|(?= isn't)) ?)?(not |isn't )?(?:quite )?(\w+)")
"""A clause that calls the question's sentence true or false: “that is not true”."""


class Unparsable(ValueError):
    """Neither yes nor no."""


def meaning(answer: str) -> bool:
    """True for yes, true, right and correct, False for their opposites, in any letter case.

    One of the words is its own clause, or opens one as “yes” and “no” do, or ends one: “The answer is no.” If none
    does, a clause may call something true or false. What else is said explains, and is not read.

    Raises:
        Unparsable: no clause answers, or one affirms and another denies.
    """
    clauses = [_WORDS.findall(one.casefold().replace("’", "'")) for one in _CLAUSES.split(answer)]
    for reader in (_answers, _judges):
        found = {polarity for words in clauses if words for polarity in reader(words)}
        if len(found) > 1:
            raise Unparsable("the answer affirms and denies")
        if found:
            return found.pop()
    raise Unparsable("no yes or no, true or false, right or wrong stands as the answer")


def claims_no_answer(answer: str) -> bool:
    """True if it says that the subject does not know."""
    return bool(_WORDS.search(answer)) and claims_nothing(answer)


def is_right(answer: str, expected: str) -> bool:
    """True if both mean the same; not so an answer that claims nothing, such as “I don't know”.

    Raises:
        Unparsable: one of them cannot be read.
    """
    right = meaning(expected)
    try:
        return meaning(answer) is right
    except Unparsable:
        if claims_no_answer(answer):
            return False
        raise


def _answers(words: list[str]) -> Iterator[bool]:
    first, last = words[0], words[-1]
    if len(words) == 1 and first in AFFIRMING | DENYING:
        yield first in AFFIRMING
    elif first in _YES or (first in _NO and words[1] in _GOES_ON):
        yield first in _YES
    if len(words) > 1 and last in _YES | _NO:
        before = set(words[:-1])
        if not any(is_negator(word) for word in before - _NO):
            yield last in _YES
            yield from (word in _YES for word in before & (_YES | _NO))


def _judges(words: list[str]) -> Iterator[bool]:
    found = _JUDGED.fullmatch(" ".join(words))
    if found and found[2] in AFFIRMING | DENYING:
        yield (found[2] in AFFIRMING) is not bool(found[1])
