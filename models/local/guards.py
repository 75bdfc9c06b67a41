"""Contradictions that a reader would point at, and the reasons that name them: figures, dates, names, negations.

A guard decides against a claim whatever the network says. What a reason states of the reference has been looked up in
it, in all forms in which people write it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from models.text.closed_class import FUNCTION_WORDS
from models.text.dates import Moment, agrees, moments
from models.text.negation import negates
from models.text.numbers import Quantity, implied_quantities, is_stated, quantities
from models.text.opposites import NEGATIVE_STEMS, opposed
from models.text.words import Word, normalise, stem, words

_UNITS = (
    "second minute hour day week month year decade century",
    "millimeter centimeter meter kilometer mile yard foot inch",
    "milligram gram kilogram tonne ton pound ounce",
    "euro dollar pound yen franc crown krona krone cent penny rupee yuan",
    "kb mb gb tb pb",
)
_FAMILIES: dict[str, set[int]] = {}
for _number, _family in enumerate(_UNITS):
    for _one in _family.split():
        _FAMILIES.setdefault(stem(_one), set()).add(_number)
_SPELLINGS = (
    "€=euro eur=euro $=dollar usd=dollar £=pound gbp=pound ¥=yen pence=penny s=second sec=second min=minute hr=hour "
    "h=hour feet=foot mm=millimeter millimetre=millimeter cm=centimeter centimetre=centimeter metre=meter "
    "km=kilometer kilometre=kilometer mg=milligram kg=kilogram kilo=kilogram"
)
_SAME_UNIT = {stem(one): stem(same) for one, same in (pair.split("=") for pair in _SPELLINGS.split())}

_HEADLINE = 0.7
"""Share of capitalised words above which capitals tell nothing."""
_REPEATED = 0.8
"""Share of a claim's words that a sentence repeats if a denial in only one of the two turns what it says."""
_LINKING = frozenset("of the and for & in on".split())


@dataclass(frozen=True, slots=True)
class Facts:
    """The figures, dates, names and words of a text."""

    text: str
    """Normalised."""
    words: tuple[Word, ...]
    figures: tuple[Quantity, ...]
    readings: tuple[Quantity, ...]
    """The figures, and how others may write them."""
    moments: tuple[Moment, ...]
    stems: frozenset[str]


@lru_cache(maxsize=2048)
def facts(text: str) -> Facts:
    """Read a text."""
    normal = normalise(text)
    found = tuple(words(normal))
    known = quantities(found)
    ones = (Quantity(1.0, at, at, False, False) for at, word in enumerate(found) if word.stem == "one")
    readings = (*known, *ones, *implied_quantities(found, known))
    stems = frozenset(word.stem for word in found)
    return Facts(normal, found, tuple(known), readings, tuple(moments(normal)), stems)


def objections(claim: Facts, reference: Facts, known: Facts, nearest: Facts) -> Iterator[str]:
    """Objections to the claim, gravest first; `known` is the question, `nearest` the nearest sentence."""
    yield from _moments(claim, reference, known)
    yield from _figures(claim, reference, known)
    yield from _displaced(claim, nearest)
    yield from _denials(claim, nearest)


def _moments(claim: Facts, reference: Facts, known: Facts) -> Iterator[str]:
    """Dates, days and times of day that neither the reference nor the question states."""
    for moment in claim.moments:
        sort = _sort(moment)
        # What the question names is no news, unless the reference names others: it may be a trap.
        asked = known.moments if not any(_sort(other) == sort for other in reference.moments) else ()
        stated = (*reference.moments, *asked)
        year = moment.year is None or str(moment.year) in reference.text + known.text
        if not year or not any(agrees(moment, other) for other in stated):
            yield from _absent(moment.text, reference)


def _sort(moment: Moment) -> tuple[bool, bool]:
    return bool(moment.weekdays), bool(moment.minutes)


def _figures(claim: Facts, reference: Facts, known: Facts) -> Iterator[str]:
    stated = reference.readings + (() if any(one.digits for one in reference.figures) else known.readings)
    for figure in claim.figures:
        if _in_moment(claim, figure):
            continue
        said = claim.text[claim.words[figure.first].start : claim.words[figure.last].end]
        if not is_stated(figure, stated):
            # A small count in words may sum up what the reference lists.
            if figure.digits:
                yield from _absent(said, reference)
        elif (unit := _unit(claim, figure)) and unit not in (there := _units_of(reference, known, figure)):
            families = [_FAMILIES[_SAME_UNIT.get(one, one)] for one in there]
            if there and all(_FAMILIES[unit] & family for family in families):
                after = claim.words[figure.last + 1].surface if figure.last + 1 < len(claim.words) else unit
                yield f"the reference has '{said}' of something else than '{after}'"


def _unit(text: Facts, figure: Quantity) -> str:
    """The stem of the unit behind a figure, or of the sign before it."""
    for at in (figure.last + 1, figure.first - 1):
        if 0 <= at < len(text.words):
            found = text.words[at].stem
            found = _SAME_UNIT.get(found, found)
            if found in _FAMILIES and (at > figure.last or not found.isalpha() or text.words[at].surface in "€$£¥"):
                return found
    return ""


def _units_of(reference: Facts, known: Facts, figure: Quantity) -> set[str]:
    """The units that the reference and the question give a figure; empty if it stands without one anywhere."""
    found = {_unit(text, other) for text in (reference, known) for other in text.readings if is_stated(figure, [other])}
    return set() if "" in found else found


def unknown_names(claim: Facts, reference: Facts, known: Facts) -> Iterator[str]:
    """Words with a capital that the reference has in no form."""
    content = [word for word in claim.words if word.content and word.surface[0].isalpha()]
    if len(content) > 4 and sum(word.surface[0].isupper() for word in content) > _HEADLINE * len(content):
        return
    opens = True
    for at, word in enumerate(claim.words):
        before = claim.text[claim.words[at - 1].end : word.start] if at else ""
        opens = at == 0 or any(sign in before for sign in '.!?:;"“(')
        if opens or not word.content or not word.surface[0].isupper() or not word.surface[0].isalpha():
            continue
        if any(moment.start <= word.start < moment.end for moment in claim.moments):
            continue
        if not any(_has_name(text, claim, at) for text in (reference, known)):
            yield from _absent(word.surface, reference)


def _has_name(text: Facts, claim: Facts, at: int) -> bool:
    word = claim.words[at]
    return (
        word.stem in text.stems
        or word.surface.lower() in text.text.lower()
        or any(same_root(word.stem, other) for other in text.stems)
        or word.surface.replace(".", "").lower().rstrip("s") in _initials(text)
        or any(other.isupper() and other.lower() in _initials(claim) for other in _surfaces(text))
    )


def _surfaces(text: Facts) -> Iterator[str]:
    return (word.surface.replace(".", "") for word in text.words if len(word.surface) > 1)


@lru_cache(maxsize=512)
def _initials(text: Facts) -> frozenset[str]:
    """Short forms of the names of a text: "Federal Bureau of Investigation" gives "fbi"."""
    found: set[str] = set()
    run = ""
    for word in (*text.words, None):
        if word is not None and word.surface[0].isupper():
            run += word.surface[0].lower()
        elif word is None or word.stem not in _LINKING:
            found |= {run[a:b] for a in range(len(run)) for b in range(a + 2, min(len(run), a + 8) + 1)}
            run = ""
    return frozenset(found)


def same_root(one: str, other: str) -> bool:
    """Derived names: Russia and Russian, Chile and Chilean."""
    shared = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= 4 and max(len(one), len(other)) - shared <= 4 and min(len(one), len(other)) - shared <= 1


def _displaced(claim: Facts, nearest: Facts) -> Iterator[str]:
    """A figure where the sentence that says the same has another one of the same unit."""
    own = {word.stem for word in claim.words if word.content and not word.surface[0].isdigit()}
    if not own or len(own & nearest.stems) < _REPEATED * len(own):
        return
    for figure in claim.figures:
        unit = _unit(claim, figure)
        if not unit or is_stated(figure, nearest.readings):
            continue
        there = next((one for one in nearest.figures if _unit(nearest, one) == unit), None)
        if there is not None:
            said, true = (
                text.text[text.words[one.first].start : text.words[one.last].end]
                for text, one in ((claim, figure), (nearest, there))
            )
            yield f"the passage nearest to it has '{true}', not '{said}'"


def _denials(claim: Facts, nearest: Facts) -> Iterator[str]:
    """A denial in only one of two sentences that otherwise say the same."""
    own, theirs = (
        frozenset(word.stem for word in text.words if word.content and word.stem not in {"ye", "yes"})
        for text in (claim, nearest)
    )
    shared = len(own & theirs)
    if not own or shared < _REPEATED * len(own):
        return
    said, true = denials(claim.words), denials(nearest.words)
    negative = NEGATIVE_STEMS & (claim.stems | nearest.stems)
    if said and not true and not negative and said[0].lower() != "no":
        yield f"the sentence has '{said[0]}', the passage nearest to it has no denial"
    elif true and not said and not negative and shared >= _REPEATED * len(theirs):
        yield f"the passage nearest to it has '{true[0]}', the sentence has no denial"


def denials(text: Sequence[Word]) -> list[str]:
    """Words that deny something."""
    lower = [word.surface.lower() for word in text]
    return [word.surface for at, word in enumerate(text) if negates(lower, at)]


def _absent(said: str, reference: Facts) -> Iterator[str]:
    """That the reference does not have something; nothing where it has it to the letter, in small ones perhaps."""
    if not _is_there(said := said.rstrip("."), reference):
        yield f"'{said}' is not in the reference"


def _is_there(said: str, text: Facts) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(said.lower())}(?![^\W_])", text.text.lower()) is not None


def states(value: str, reference: Facts) -> bool:
    """True if a text states a value of data: its dates, its figures, and its words in order or at least all of them."""
    own = facts(value)
    if _states_more(own, reference):
        return False
    rest = [word for word in own.words if word.surface.lower() not in FUNCTION_WORDS and word.surface[0].isalpha()]
    covered = [word for word in rest if any(m.start <= word.start < m.end for m in own.moments)]
    return all(word.stem in reference.stems for word in rest if word not in covered)


def _in_moment(text: Facts, figure: Quantity) -> bool:
    start = text.words[figure.first].start
    return any(moment.start <= start < moment.end for moment in text.moments)


def lost_words(claim: Facts, reference: Facts) -> list[str]:
    """Words of the claim with a meaning of their own that the reference has in no form."""
    return [
        word.surface
        for word in claim.words
        if word.content and word.stem not in reference.stems and not _is_there(word.surface.rstrip("."), reference)
    ]


_SHORT_CLAIM = 5
"""Content words up to which a sentence has room for one fact only."""
_BOUNDARY = re.compile(
    r"[,;:()]|\b(?:and|or|but|nor|while|where|when|who|which|that|because|since|if|as)\b", re.IGNORECASE
)


def stitched(claim: Facts, passages: Sequence[Facts], known: Facts) -> Iterator[str]:
    """One fact made of two: words of a short claim each of which the reference has once, in different sentences."""
    content = [word for word in claim.words if word.content]
    if not 1 < len(content) <= _SHORT_CLAIM or not all(
        any(word.stem in one.stems for one in passages) for word in content
    ):
        return
    counts = Counter(word.stem for one in passages for word in one.words)
    anchors = [word for word in content if counts[word.stem] == 1 and word.stem not in known.stems]
    for first, second in pairwise(anchors):
        between = claim.text[first.end : second.start]
        together = any({first.stem, second.stem} <= one.stems for one in passages)
        if not together and not _BOUNDARY.search(between):
            yield f"no sentence of the reference brings '{first.surface}' and '{second.surface}' together"
            return


def opposites(claim: Facts, reference: Facts) -> Iterator[str]:
    """Words of the claim that the reference lacks, and of which it has the opposite."""
    for word in lost_words(claim, reference):
        other = next((one.surface for one in reference.words if opposed(word.lower(), one.surface.lower())), None)
        if other is not None:
            yield f"the reference has '{other}' for '{word}'"


def contradict(one: Facts, other: Facts) -> bool:
    """True if two short texts cannot both be so: other figures or days, opposites, one denied and the other not."""
    if all(_states_more(mine, theirs) for mine, theirs in ((one, other), (other, one))):
        return True
    turned = [
        sum(word.stem in NEGATIVE_STEMS for word in text.words) + len(denials(text.words)) for text in (one, other)
    ]
    opposite = any(True for _ in opposites(one, other))
    return (sum(turned) + opposite) % 2 == 1


def _states_more(claim: Facts, reference: Facts) -> bool:
    return any(True for _ in _moments(claim, reference, facts(""))) or any(
        not is_stated(figure, reference.readings) for figure in claim.figures if not _in_moment(claim, figure)
    )
