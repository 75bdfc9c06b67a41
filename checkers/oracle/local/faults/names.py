"""Names the reference does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers.oracle.local.alignment import Alignment
from checkers.oracle.local.faults.fault import Fault
from checkers.oracle.local.material import Material
from checkers.text.dates import MONTHS, WEEKDAYS
from checkers.text.words import Word

_SAME_NAME = 0.8
"""Likeness cosine from which another spelling counts as the same name (America, American)."""
_HEADLINE = 0.7
"""Share of capitalised words above which capitals tell nothing."""
_LINKING = frozenset("of the and for & in on".split())
"""Words inside a name that give its short form no letter, or a small one."""


def names(claim: Material, reference: Material, path: Alignment, known: Material | None) -> Iterator[Fault]:
    """Each capitalised word of the claim that the reference has in no form."""
    content = [claim.words[i] for i in claim.content]
    if sum(word.surface[:1].isupper() for word in content) > _HEADLINE * len(content) and len(content) > 4:
        return
    for index, like in zip(path.claim, path.likeness, strict=True):
        word = claim.words[index]
        if index == 0 or not word.surface[:1].isupper() or word.stem in reference.positions:
            continue
        if known and word.stem in known.positions:
            continue
        if WEEKDAYS.keys() | MONTHS.keys() >= {word.surface.lower()} or like >= _SAME_NAME:
            continue
        if _is_short_form(word, reference):
            continue
        if any(_same_root(word.stem, other) for other in reference.positions):
            continue
        if _is_spelled_out(claim.words, int(index), reference):
            continue
        yield Fault("name", f"the name '{word.surface}' is not in the reference", int(index))


def _is_short_form(word: Word, reference: Material) -> bool:
    """FBI for the Federal Bureau of Investigation, and U.S. for US, which is spelled like a function word."""
    letters = word.surface.replace(".", "")
    if not letters.isupper():
        return False
    if any(other.stem == word.stem and (not reference.cased or other.surface.isupper()) for other in reference.words):
        return True
    return word.stem.rstrip("s") in _initials(reference)


def _initials(reference: Material) -> set[str]:
    """Short forms of the capitalised runs of a reference: "Federal Bureau of Investigation" gives "fbi".

    Where the reference has no capitals, of all its runs of content words.
    """
    found: set[str] = set()
    run = ""
    for word in [*reference.words, None]:
        if word is not None and (word.surface[0].isupper() if reference.cased else word.content):
            run += word.surface[0].lower()
        elif word is None or word.stem not in _LINKING:
            found |= {run[a:b] for a in range(len(run)) for b in range(a + 2, min(len(run), a + 8) + 1)}
            run = ""
    return found


def _is_spelled_out(words: Sequence[Word], index: int, reference: Material) -> bool:
    """Whether the name a word belongs to spells out a short form of the reference: the reverse of `_is_short_form`."""
    first = last = index
    while first and (_is_name(words[first - 1]) or words[first - 1].stem in _LINKING):
        first -= 1
    while last + 1 < len(words) and (_is_name(words[last + 1]) or words[last + 1].stem in _LINKING):
        last += 1
    named = [at for at in range(first, last + 1) if _is_name(words[at]) and not words[at].surface.isupper()]
    letters = "".join(words[at].surface[0].lower() for at in named)
    here = named.index(index) if index in named else -1
    return here >= 0 and any(
        letters[a:b] in reference.positions
        for a in range(here + 1)
        for b in range(max(here + 1, a + 3), min(len(letters), a + 8) + 1)
    )


def _is_name(word: Word) -> bool:
    return word.content and word.surface[0].isupper()


def _same_root(first: str, second: str) -> bool:
    """Derived names: Russia and Russian, Chile and Chilean, Obama and Obamas."""
    shared = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 4 and max(len(first), len(second)) - shared <= 4 and min(len(first), len(second)) - shared <= 1
