"""Single contradictions a reader would point at: a number, a name, a day, a negation, an opposite."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.local.alignment import WordPath
from models.local.encoded_text import Encoded
from models.text.dates import MONTHS, WEEKDAYS, calendar_value
from models.text.negation import NEGATIVE_PREFIXES, NEGATIVE_WORDS, negates
from models.text.numbers import Quantity, is_stated, is_year
from models.text.opposites import OPPOSITE_STEMS
from models.text.words import Word, stem

FIRM = 0.6
"""Likeness from which a word is surely placed."""
EXACT = 0.9
"""Likeness from which a word is the same word."""
FAIR_PART = 0.3
"""Share of a claim from which a passage counts among those it comes from."""


@dataclass(frozen=True, slots=True)
class ClaimFault:
    """One thing wrong with a claim."""

    kind: str
    reason: str
    word: int
    """Position of the claim's word it hangs on."""


def main_passage(reference: Encoded, path: WordPath) -> int:
    """The passage most of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return int(weights.argmax())


def homes(reference: Encoded, path: WordPath) -> set[int]:
    """The passages a fair part of the claim comes from."""
    weights = np.bincount(reference.owners[path.reference], weights=path.likeness)
    return set(np.flatnonzero(weights >= FAIR_PART * weights.sum()).tolist())


def faults(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """What contradicts the reference, gravest first. `known` is the question, whose words need no support."""
    yield from _numbers(claim, reference, path, known)
    yield from _days(claim, reference, path, known)
    yield from _names(claim, reference, path, known)
    yield from _swaps(claim, reference, path)
    yield from _answers(claim, reference)
    yield from _negations(claim, reference, path)
    yield from _opposites(claim, reference, path)


def _numbers(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """Each figure of the claim that neither the reference nor the question states."""
    # The question's figures need no support, unless the reference names others: it may be a trap.
    asked = known.numbers if known and not any(quantity.digits for quantity in reference.numbers) else ()
    stated = reference.readings + asked
    for quantity in claim.numbers:
        if is_stated(quantity, stated):
            continue
        said = _said(claim, quantity)
        home = main_passage(reference, path)
        rivals = [q for q in reference.numbers if reference.owners[q.first] == home and not is_stated(q, claim.numbers)]
        if len(rivals) == 1 and rivals[0].digits == quantity.digits:
            reason = f"the reference says '{_said(reference, rivals[0])}' where the sentence says '{said}'"
        else:
            reason = f"the number {said} is not in the reference"
        # A small count in words ("two brothers") may sum up what the reference lists, unless it counts there itself.
        counted = any(not rival.digits for rival in rivals)
        yield ClaimFault("number" if quantity.digits or counted else "count", reason, quantity.first)


def _said(text: Encoded, quantity: Quantity) -> str:
    return " ".join(word.surface for word in text.words[quantity.first : quantity.last + 1])


def _days(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """Each weekday and month of the claim that the reference does not bear out."""
    # All words, not content words alone: "May" is the name of a month where it is written as a name.
    for index, word in enumerate(claim.words):
        if index == 0 and word.surface.lower() in {"may", "march"}:
            continue
        for calendar in (WEEKDAYS, MONTHS):
            value = calendar_value(word.surface, calendar)
            if value is None:
                continue
            there = {
                at: found
                for at, other in enumerate(reference.words)
                if (found := calendar_value(other.surface, calendar)) is not None
            }
            if value in there.values():
                if (rival := _misplaced(reference, path, index, value, there)) is not None:
                    true = reference.words[rival].surface
                    yield ClaimFault(
                        "date", f"the reference says '{true}' where the sentence says '{word.surface}'", index
                    )
                continue
            if known and any(calendar_value(other.surface, calendar) == value for other in known.words):
                continue
            home = main_passage(reference, path)
            rivals = [reference.words[at] for at in there if reference.owners[at] == home]
            if rivals:
                reason = f"the reference says '{rivals[0].surface}' where the sentence says '{word.surface}'"
            else:
                reason = f"'{word.surface}' is not in the reference"
            yield ClaimFault("date", reason, index)


def _misplaced(reference: Encoded, path: WordPath, index: int, value: int, there: dict[int, int]) -> int | None:
    """Where the reference names another day for the words beside the claim's word, which it has for other words."""
    found = np.flatnonzero(path.claim == index)
    if not len(found):
        return None
    at = int(found[0])
    beside = [k for k in (at - 1, at + 1) if 0 <= k < len(path.claim) and path.likeness[k] >= FIRM]
    home = {int(reference.owners[path.reference[k]]) for k in beside}
    if len(home) != 1 or int(reference.owners[path.reference[at]]) in home:
        return None
    rivals = [other for other in there if int(reference.owners[other]) in home]
    return rivals[0] if rivals and all(there[other] != value for other in rivals) else None


_SAME_NAME = 0.8
"""Likeness cosine from which another spelling counts as the same name (America, American)."""
_NAME_REACH = 12
"""Words beside the same words within which another name stands in a name's place."""
_HEADLINE = 0.7
"""Share of capitalised words above which capitals tell nothing."""
_LINKING = frozenset("of the and for & in on".split())
"""Words inside a name that give its short form no letter, or a small one."""


def _names(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """Each capitalised word of the claim that the reference has in no form."""
    content = [claim.words[i] for i in claim.content]
    if sum(word.surface[:1].isupper() for word in content) > _HEADLINE * len(content) and len(content) > 4:
        return
    for k, (index, like) in enumerate(zip(path.claim, path.likeness, strict=True)):
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
        if (other := _name_in_place(claim, reference, path, k)) is not None:
            reason = f"the reference says '{other.surface}' where the sentence says '{word.surface}'"
            yield ClaimFault("other name", reason, int(index))
        else:
            yield ClaimFault("name", f"the name '{word.surface}' is not in the reference", int(index))


def _name_in_place(claim: Encoded, reference: Encoded, path: WordPath, k: int) -> Word | None:
    """The name that the reference has where the claim has another: between the same words, in one sentence."""
    sides = [at for at in (k - 1, k + 1) if 0 <= at < len(path.claim)]
    places = [int(path.reference[at]) for at in sides]
    if not sides or min(path.likeness[at] for at in sides) < EXACT or len({reference.owners[at] for at in places}) > 1:
        return None
    first = places[0] + 1 if sides[0] < k else places[0] - _NAME_REACH
    last = places[-1] if sides[-1] > k else places[0] + 1 + _NAME_REACH
    own = {word.stem for word in claim.words}
    home = reference.owners[places[0]]
    found = (
        reference.words[at]
        for at in range(max(0, first), min(last, len(reference.words), first + 2 * _NAME_REACH))
        if reference.owners[at] == home and at and reference.owners[at - 1] == home
    )
    return next((word for word in found if word.surface[0].isupper() and word.stem not in own), None)


def _is_short_form(word: Word, reference: Encoded) -> bool:
    """FBI for the Federal Bureau of Investigation, and U.S. for US, which is spelled like a function word."""
    letters = word.surface.replace(".", "")
    if not letters.isupper():
        return False
    if any(other.stem == word.stem and (not reference.cased or other.surface.isupper()) for other in reference.words):
        return True
    return word.stem.rstrip("s") in _initials(reference)


def _initials(reference: Encoded) -> set[str]:
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


def _is_spelled_out(words: Sequence[Word], index: int, reference: Encoded) -> bool:
    """True if the name a word belongs to spells out a short form of the reference: the reverse of `_is_short_form`."""
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


Mask = npt.NDArray[np.bool_]

_TURNING = frozenset("by was were is are been being and with or according".split())
"""Words that make a sentence with its names turned round say the same: passives, lists and attributions."""


def _swaps(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """The first exchange of two names or figures, or else the first direction turned round."""
    exact = path.likeness >= EXACT
    found = itertools.chain(_exchanged(claim, reference, path, exact), _turned(claim, reference, path, exact))
    yield from itertools.islice(found, 1)


def _exchanged(claim: Encoded, reference: Encoded, path: WordPath, exact: Mask) -> Iterator[ClaimFault]:
    """Two of a sort that trade places around the same words, without a passive that would make it right."""
    slots = [k for k in np.flatnonzero(exact) if _is_slot(claim.words[path.claim[k]])]
    for first, second in itertools.pairwise(slots):
        after, before = path.reference[first], path.reference[second]
        if _sort(claim, int(path.claim[first])) != _sort(claim, int(path.claim[second])):
            continue
        kept = [k for k in range(first + 1, second) if exact[k] and before < path.reference[k] < after]
        if not kept or reference.owners[before] != reference.owners[after]:
            continue
        said = {word.surface.lower() for word in claim.words[path.claim[first] : path.claim[second]]}
        true = {word.surface.lower() for word in reference.words[before:after]}
        if (said & _TURNING) == (true & _TURNING):
            names = (reference.words[before].surface, reference.words[after].surface)
            reason = f"the sentence swaps '{names[0]}' and '{names[1]}' against the reference"
            yield ClaimFault("swap", reason, int(path.claim[first]))


def _turned(claim: Encoded, reference: Encoded, path: WordPath, exact: Mask) -> Iterator[ClaimFault]:
    """'to' for 'from' after the same word, and nowhere in the reference as the claim has it."""
    for k in np.flatnonzero(exact)[1:]:
        index, place = int(path.claim[k]), int(path.reference[k])
        said, true = claim.words[index - 1].stem, reference.words[place - 1].stem if place else ""
        if {said, true} != {"from", "to"}:
            continue
        places = reference.content[reference.positions[claim.words[index].stem]]
        if any(at and reference.words[at - 1].stem == said for at in places):
            continue
        head = int(path.reference[k - 1])
        if exact[k - 1] and head < place and reference.owners[head] == reference.owners[place]:
            word = claim.words[index].surface
            reason = f"the reference says '{true} {word}' where the sentence says '{said} {word}'"
            yield ClaimFault("swap", reason, index)


def _is_slot(word: Word) -> bool:
    return word.surface[0].isupper() or word.surface[0].isdigit()


def _sort(text: Encoded, index: int) -> str:
    """What a slot holds: only two of a sort can stand in for each other."""
    word = text.words[index]
    if any(calendar_value(word.surface, names) is not None for names in (WEEKDAYS, MONTHS)):
        return "time"
    if word.surface[0].isdigit():
        beside = text.words[max(0, index - 1) : index + 2]
        in_date = is_year(word) or any(calendar_value(other.surface, MONTHS) is not None for other in beside)
        return "time" if in_date else "figure"
    return "name"


NEGATIVE = frozenset(stem(word) for word in NEGATIVE_WORDS)
"""Stems of words that carry a negation of their own."""
_NEGATION_REACH = 12
"""Words around the claim's place in the reference where a negation may stand."""
_SCOPE = 3
"""Content words behind a negation that it denies."""
_COMPANY = 6
"""Words between an opposite and the claim's neighbouring words within which it is said of the same."""
_BEFORE = 3
"""Words before an opposite in which a negation turns it round."""


def _answers(claim: Encoded, reference: Encoded) -> Iterator[ClaimFault]:
    if not claim.words or not reference.words:
        return
    said, true = (text.words[0].surface.lower() for text in (claim, reference))
    if {said, true} == {"yes", "no"}:
        yield ClaimFault("negation", f"the reference says '{true}' where the sentence says '{said}'", 0)


def _negations(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """The first thing denied that the reference affirms, or affirmed that it denies."""
    if not (path.likeness >= FIRM).any():
        return
    said = [i for i in range(len(claim.words)) if is_negation(claim.words, i)]
    if said:
        yield from _denied(claim, reference, path, said)
    elif not any(_is_negative(word) for word in claim.words):
        yield from _affirmed(claim, reference, path)


def _denied(claim: Encoded, reference: Encoded, path: WordPath, said: list[int]) -> Iterator[ClaimFault]:
    turned = [i for i in range(len(reference.words)) if turns(reference.words, i)]
    near = homes(reference, path)
    if any(int(reference.owners[i]) in near and np.abs(path.reference - i).min() <= _NEGATION_REACH for i in turned):
        return
    for index in said:
        scope = [claim.words[at].stem for at in path.claim if at > index][:_SCOPE]
        if any(prefix + denied in reference.positions for denied in scope for prefix in NEGATIVE_PREFIXES):
            continue
        yield ClaimFault("negation", f"the sentence says '{claim.words[index].surface}', the reference does not", index)
        return


def _affirmed(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    if any(word.content and word.surface.lower().startswith(("un", "im", "in", "non", "dis")) for word in claim.words):
        return
    for k in range(1, len(path.claim)):
        before, place = int(path.reference[k - 1]), int(path.reference[k])
        if min(path.likeness[k - 1], path.likeness[k]) < FIRM or reference.owners[before] != reference.owners[place]:
            continue
        for index in (place - 1, place - 2):
            if before < index and is_negation(reference.words, index):
                said = reference.words[index].surface
                yield ClaimFault(
                    "negation", f"the reference says '{said}' where the sentence does not", int(path.claim[k])
                )
                return


def _opposites(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """Each word for which the reference has its opposite, said of the same."""
    for k, (index, place, like) in enumerate(zip(path.claim, path.reference, path.likeness, strict=True)):
        word = claim.words[index]
        if like >= EXACT:
            continue
        for at in range(max(0, place - 1), min(len(reference.words), place + 2)):
            other = reference.words[at]
            if (word.stem, other.stem) in OPPOSITE_STEMS and _same_company(reference, path, k, at):
                if _is_turned(claim.words, int(index)) != _is_turned(reference.words, at):
                    continue
                reason = f"the reference says '{other.surface}' where the sentence says '{word.surface}'"
                yield ClaimFault("opposite", reason, int(index))
                break


def _same_company(reference: Encoded, path: WordPath, k: int, at: int) -> bool:
    """True if a word beside the claim's one stands near its opposite in the reference."""
    return any(
        path.likeness[j] >= FIRM
        and reference.owners[path.reference[j]] == reference.owners[at]
        and abs(int(path.reference[j]) - at) <= _COMPANY
        for j in (k - 1, k + 1)
        if 0 <= j < len(path.claim)
    )


def _is_turned(words: Sequence[Word], index: int) -> bool:
    return any(turns(words, at) for at in range(max(0, index - _BEFORE), index))


def turns(words: Sequence[Word], index: int) -> bool:
    """True if a word denies something, by itself or as a verb does."""
    return is_negation(words, index) or _is_negative(words[index])


def is_negation(words: Sequence[Word], index: int) -> bool:
    """True if a word turns a statement round."""
    return negates([word.surface.lower() for word in words[index : index + 2]], 0)


def _is_negative(word: Word) -> bool:
    return word.stem in NEGATIVE
