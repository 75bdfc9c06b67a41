"""Where a passage has things of the sort that a question asks for: a time, a figure, a name, a reason."""

from collections.abc import Callable, Iterator, Mapping

from models.local.encoded_text import Encoded
from models.text.closed_class import QUANTIFIERS
from models.text.dates import MONTHS, WEEKDAYS, calendar_value
from models.text.lexicon import lexicon
from models.text.questions import Sort

_TIMES = frozenset(
    "today yesterday tomorrow noon midnight morning evening night afternoon spring summer autumn winter century decade "
    "daily weekly monthly annually hour minute day week month year weekend weekday am pm".split()
)
_REASONS = frozenset(
    "because since due so reason cause caused causing therefore thus owing order result for to after as when if given "
    "having prevent avoid".split()
)
_MEANS = frozenset("by through using via with use means method press click open select contact call".split())
_PLACING = frozenset("in at on near from to into inside outside off along between across".split())

_REACH = 3
"""Words behind "in" or "at" within which the place stands."""


def things_of(sort: Sort, passage: Encoded, own: frozenset[str]) -> set[int]:
    """Positions of the passage's words that are of a sort and not the question's, whose stems are `own`."""
    finder = FINDERS.get(sort)
    if finder is None:
        return set(range(len(passage.words)))
    return {at for at in finder(passage) if passage.words[at].stem not in own}


def _times(passage: Encoded) -> Iterator[int]:
    for at, word in enumerate(passage.words):
        named = any(calendar_value(word.surface, names) is not None for names in (MONTHS, WEEKDAYS))
        if named or word.surface[0].isdigit() or word.surface.lower() in _TIMES:
            yield at


def _numbers(passage: Encoded) -> Iterator[int]:
    stated = {quantity.first for quantity in passage.numbers}
    for at, word in enumerate(passage.words):
        if at in stated or word.surface[0].isdigit() or word.surface.lower() in QUANTIFIERS:
            yield at


def _names(passage: Encoded) -> Iterator[int]:
    """Words with a capital that is not the sentence's; in a text without capitals any could be a name."""
    last = -1
    for at, word in enumerate(passage.words):
        opens, last = passage.owners[at] != last, int(passage.owners[at])
        if not word.content or not word.surface[0].isalpha():
            continue
        if not passage.cased or (word.surface[0].isupper() and not (opens and lexicon().knows(word.surface))):
            yield at


def _places(passage: Encoded) -> Iterator[int]:
    yield from _names(passage)
    for at, word in enumerate(passage.words):
        before = passage.words[max(0, at - _REACH) : at]
        if word.content and any(other.surface.lower() in _PLACING for other in before):
            yield at


def _reasons(passage: Encoded) -> Iterator[int]:
    return (at for at, word in enumerate(passage.words) if word.surface.lower() in _REASONS)


def _manners(passage: Encoded) -> Iterator[int]:
    return (at for at, word in enumerate(passage.words) if word.surface.lower() in _MEANS)


FINDERS: Mapping[Sort, Callable[[Encoded], Iterator[int]]] = {
    "time": _times,
    "number": _numbers,
    "person": _names,
    "place": _places,
    "reason": _reasons,
    "manner": _manners,
}
"""By sort; what else is asked for can be any word."""

DECISIVE: Mapping[Sort, str] = {
    "time": "no time",
    "number": "no figure",
    "person": "nobody",
    "place": "no place",
    "reason": "no reason",
}
"""Sorts of things that are found wherever there are any, as a sentence says that there are none."""
