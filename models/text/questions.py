"""Questions: which texts are ones, and what sort of thing a question asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from models.text.closed_class import AUXILIARIES
from models.text.lexicon import lexicon
from models.text.words import Word, normalise, passages, words

Sort = Literal["time", "number", "person", "place", "reason", "manner", "thing", "yes_no"]
"""What an answer must hold; `yes_no` where the question asks if something is so."""

_ASKING = frozenset("who whom whose what which when where why how".split())
_SUBJECTS = frozenset("i you he she it we they there this that these those the a an my your our any anyone".split())

_BY_WORD: dict[str, Sort] = {
    "who": "person",
    "whom": "person",
    "whose": "person",
    "when": "time",
    "where": "place",
    "why": "reason",
}
_DEGREES = frozenset(
    "many much old tall long far big large high deep often fast heavy wide late soon early young thick hot cold".split()
)
"""Words behind "how" that ask for a figure."""

_NOUNS: dict[Sort, frozenset[str]] = {
    "time": frozenset("year date day month century decade time season era weekday hour".split()),
    "number": frozenset(
        "number percentage percent amount population price cost fee total age height length distance speed score rate "
        "size area temperature proportion share quantity width depth weight".split()
    ),
    "place": frozenset(
        "country city town village state place location county region continent province address island nation "
        "district".split()
    ),
    "person": frozenset(
        "person man woman actor actress singer president king queen author writer player artist director leader "
        "founder emperor politician scientist coach character poet painter composer minister mayor musician "
        "name".split()
    ),
    "reason": frozenset({"reason"}),
}
"""Base forms of nouns behind "what" and "which" that say the sort."""

_FURTHEST = 4
"""Words behind "what" or "which" in which the noun stands that says the sort: "what former president"."""

_OPENING = 3
"""Words in which a question says that it is one: "in which year". Farther on the words may join clauses."""

_ENDS = re.compile(r"[?？]['\"”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for."""

    sort: Sort
    focus: frozenset[int]
    """Positions of the words that only say which sort of thing is asked for ("which *year*")."""


def is_question(text: str) -> bool:
    """True if the last sentence of a text asks, by its mark or by the way it begins; queries often lack the mark."""
    sentences = list(passages(text))
    if not sentences:
        return False
    if _ENDS.search(sentences[-1].rstrip()):
        return True
    if sentences[-1].rstrip()[-1] in ".!:":
        return False
    lower = [word.surface.lower() for word in words(normalise(sentences[-1]))]
    if any(word in _ASKING for word in lower[:1]):
        return True
    if len(lower) > 1 and lower[0] in _PREPOSITIONS and lower[1] in {"what", "which", "whom", "whose"}:
        return True
    return len(lower) > 2 and lower[0] in AUXILIARIES and lower[1] in _SUBJECTS


_PREPOSITIONS = frozenset("in on at by for with from to of after before since until about during".split())


def asked(found: Sequence[Word]) -> Asked:
    """What the question of these words asks for."""
    lower = [word.surface.lower() for word in found]
    at = _asking(found, lower)
    if at is None:
        sort: Sort = "yes_no" if lower and lower[0] in AUXILIARIES else "thing"
        return Asked(sort, frozenset())
    if lower[at] == "how":
        behind = lower[at + 1] if at + 1 < len(lower) else ""
        return Asked("number", frozenset({at + 1})) if behind in _DEGREES else Asked("manner", frozenset())
    if lower[at] in _BY_WORD:
        return Asked(_BY_WORD[lower[at]], frozenset())
    return _by_noun(found, at)


def _asking(found: Sequence[Word], lower: Sequence[str]) -> int | None:
    """Where the word of the question stands: at the beginning, or else where it can be no relative pronoun."""
    places = [at for at, word in enumerate(lower) if word in _ASKING]
    if places and places[0] < _OPENING and not any(word.content for word in found[: places[0]]):
        return places[0]
    if lower and lower[0] in AUXILIARIES:
        return None
    surer = [at for at in places if lower[at] in {"what", "which", "how"}]
    return next(iter([*surer, *places]), None)


def _by_noun(found: Sequence[Word], at: int) -> Asked:
    """What a noun behind "what" or "which" says: "which year", "what is the population"."""
    for place, bases in _nouns(found, at):
        for sort, known in _NOUNS.items():
            if bases & known:
                return Asked(sort, frozenset({place}))
    return Asked("thing", frozenset())


def _nouns(found: Sequence[Word], at: int) -> Iterator[tuple[int, frozenset[str]]]:
    """The first run of content words behind "what" or "which", behind a verb of grammar too, by their base forms."""
    begun = False
    for place in range(at + 1, min(len(found), at + 1 + _FURTHEST)):
        lower = found[place].surface.lower()
        if found[place].content:
            begun = True
            yield place, lexicon().lemmas(lower, "n") or frozenset({lower})
        elif begun or lower not in _LINKS:
            return


_LINKS = AUXILIARIES | {"the", "a", "an", "other", "else"}
