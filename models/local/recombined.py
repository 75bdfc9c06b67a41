"""What a claim puts together that the reference has apart, or slips in between."""

import itertools
import re
from collections.abc import Iterator

from models.local.alignment import WordPath
from models.local.encoded_text import Encoded
from models.local.faults import EXACT, ClaimFault
from models.text.closed_class import FUNCTION_WORDS
from models.text.negation import NEGATORS
from models.text.numbers import is_year
from models.text.words import normalise, stem

_LOST = 0.35
"""Mean likeness below which a clause's content is not in the reference."""
_BESIDE = 3
"""Content words on either side that are a figure's company."""
_NEAR = 5
"""Words around the same company in the reference where another figure takes the figure's place."""

_BOUNDARY_SIGN = re.compile(r"[,;:()\[\]—–]|\s-\s")
_BOUNDARY_WORDS = frozenset(
    "and or but nor yet so who which that whose where when while after before because since although though as if "
    "until than with without including".split()
)
"""Words at which a sentence passes from one fact to the next, and may pass to another place of its source."""

_UNITS = (
    "second minute hour day week month year decade century",
    "millimetre millimeter centimetre centimeter metre meter kilometre kilometer mile yard foot feet inch mm cm km",
    "gram kilogram kilo tonne ton pound ounce kg mg",
    "euro dollar pound yen franc cent penny pence rupee yuan",
)
_FAMILIES = {stem(unit): number for number, units in enumerate(_UNITS) for unit in units.split()}

_ENGLISH = FUNCTION_WORDS | NEGATORS
_ELSEWHERE = frozenset(
    """
    da de del della dei des di du den der dem das die ein eine einer einen und ist nicht mit von zu im auf sich auch
    el la las le les los lo il gli un une una uno um uma et est y e es o os que qui che ne pas sur dans pour por para
    per con com sin se su sus ao na nas no nos em é è não sont sind wird avec aux ce cette het een van niet zijn voor
    og er ikke det som av att och är inte på med til ile bir ve bu için
    """.split()
) - {"die", "no", "on", "in", "so", "an", "o"}
"""Closed-class words of other languages in Latin script that are no English words."""
_UNREAD = 0.3
"""Share of words in other scripts from which a sentence is in another language, and does not just name something."""
_OPENS_ADDITION = frozenset("who which whose where after before because since although though unless without".split())
"""Words that open a clause which could be left out: what is slipped in stands behind one of them, or in brackets."""
_SHORT_CLAIM = 5
"""Content words up to which a sentence has room for one fact only."""


def recombined(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """What the claim says of one thing and the reference of another, or nowhere; `known` is the question."""
    yield from _foreign(claim, path)
    yield from _units(claim, reference, path)
    yield from _displaced(claim, reference, path)
    yield from _added(claim, path)
    yield from _stitched(claim, reference, path, known)


def _foreign(claim: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """In a language the judge cannot read, only what is word for word in the reference is supported."""
    surfaces = [word.surface.lower() for word in claim.words]
    unread = sum(any(sign.isalpha() and not sign.isascii() for sign in word.stem) for word in claim.words)
    scripts = unread > _UNREAD * len(claim.words)
    english = sum(surface in _ENGLISH for surface in surfaces)
    if not scripts and sum(surface in _ELSEWHERE for surface in surfaces) <= max(1, english):
        return
    for index, like in zip(path.claim, path.likeness, strict=True):
        word = claim.words[index]
        if like < EXACT and not word.surface[:1].isdigit() and (scripts or not word.surface[:1].isupper()):
            yield ClaimFault(
                "foreign", f"the sentence is not in English, and '{word.surface}' is not in the reference", index
            )
            return


def _units(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """The same figure of something else: 30 minutes for 30 seconds."""
    stated: dict[float, set[int | None]] = {}
    for quantity in reference.numbers:
        stated.setdefault(quantity.value, set()).add(_unit(reference, quantity.last))
    for quantity in claim.numbers:
        unit = _unit(claim, quantity.last)
        there = stated.get(quantity.value)
        if unit is None or not there or None in there:
            continue
        said = claim.words[unit]
        same_family = [at for at in there if at is not None and _family(reference, at) == _family(claim, unit)]
        if same_family and all(reference.words[at].stem != said.stem for at in there if at is not None):
            true = reference.words[same_family[0]].surface
            yield ClaimFault(
                "number", f"the reference says '{true}' where the sentence says '{said.surface}'", quantity.first
            )


def _unit(text: Encoded, last: int) -> int | None:
    after = last + 1
    return after if after < len(text.words) and text.words[after].stem in _FAMILIES else None


def _family(text: Encoded, index: int) -> int:
    return _FAMILIES[text.words[index].stem]


def _displaced(claim: Encoded, reference: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """A figure that the reference gives for something else: its company stands beside another figure there."""
    place_of = {int(index): k for k, index in enumerate(path.claim)}
    clause_of = _clauses(claim)
    anchors = [k for k in range(len(path.claim)) if _is_anchor(claim, reference, path, k)]
    names = [k for k in anchors if path.claim[k] > 0 and claim.words[path.claim[k]].surface[:1].isupper()]
    for quantity in claim.numbers:
        k = place_of.get(quantity.first)
        if k is None or path.likeness[k] < EXACT:
            continue
        clause = clause_of[quantity.first]
        beside = [a for a in names if abs(a - k) <= _BESIDE and clause_of[int(path.claim[a])] == clause]
        if not beside:
            continue
        nearest = min(beside, key=lambda a: (abs(a - k), a))
        home = reference.owners[path.reference[nearest]]
        if any(q.value == quantity.value and reference.owners[q.first] == home for q in reference.readings):
            continue
        at = path.reference[nearest]
        rivals = [q for q in reference.numbers if q.digits == quantity.digits and abs(q.first - at) <= _NEAR]
        # A year is no rival of a count.
        sort = is_year(claim.words[quantity.first])
        rivals = [q for q in rivals if reference.owners[q.first] == home and is_year(reference.words[q.first]) == sort]
        if rivals:
            said, true = claim.words[quantity.first].surface, reference.words[rivals[0].first].surface
            about = claim.words[path.claim[nearest]].surface
            yield ClaimFault("number", f"for '{about}' the reference says '{true}', not '{said}'", quantity.first)


def _is_anchor(claim: Encoded, reference: Encoded, path: WordPath, k: int) -> bool:
    """A word that the reference has in one place only: what stands with it there belongs to it."""
    word = claim.words[path.claim[k]]
    if path.likeness[k] < EXACT or word.surface[:1].isdigit():
        return False
    return len(reference.positions.get(word.stem, ())) == 1


def _added(claim: Encoded, path: WordPath) -> Iterator[ClaimFault]:
    """A clause whose content is nowhere in the reference, in a sentence that otherwise follows it word for word."""
    clause_of = _clauses(claim)
    members: dict[int, list[int]] = {}
    for k, index in enumerate(path.claim):
        members.setdefault(clause_of[int(index)], []).append(k)
    text = normalise(" ".join(claim.passages))
    for clause, own in members.items():
        opening = clause_of.index(clause)
        bracket = text[: claim.words[opening].start].rstrip().endswith(("(", "["))
        if not bracket and claim.words[opening].surface.lower() not in _OPENS_ADDITION:
            continue
        others = [k for other, rest in members.items() if other != clause for k in rest]
        if others and float(path.closest[own].mean()) < _LOST and float(path.closest[others].mean()) >= EXACT:
            lost = " ".join(claim.words[path.claim[k]].surface for k in own[:4])
            yield ClaimFault("addition", f"nothing in the reference corresponds to '{lost}'", int(path.claim[own[0]]))
            return


def _stitched(claim: Encoded, reference: Encoded, path: WordPath, known: Encoded | None) -> Iterator[ClaimFault]:
    """One fact made of two: words of a single clause that the reference has in different sentences only."""
    if len(path.claim) > _SHORT_CLAIM or (path.likeness < EXACT).sum() > 1:
        return
    clause_of = _clauses(claim)
    anchors = [k for k in range(len(path.claim)) if _is_anchor(claim, reference, path, k)]
    if known is not None:
        # What the question speaks of may be said of anything that answers it.
        anchors = [k for k in anchors if claim.words[path.claim[k]].stem not in known.positions]
    for first, second in itertools.pairwise(anchors):
        one, other = int(path.claim[first]), int(path.claim[second])
        if (
            clause_of[one] != clause_of[other]
            or reference.owners[path.reference[first]] == reference.owners[path.reference[second]]
        ):
            continue
        words = (claim.words[one].surface, claim.words[other].surface)
        yield ClaimFault("stitch", f"the reference does not bring '{words[0]}' and '{words[1]}' together", one)
        return


def _clauses(claim: Encoded) -> list[int]:
    """For each word the number of its clause, by punctuation and by the words that open a new one."""
    text = normalise(" ".join(claim.passages))
    numbers, clause = [], 0
    for index, word in enumerate(claim.words):
        gap = text[claim.words[index - 1].end : word.start] if index else ""
        if index and (_BOUNDARY_SIGN.search(gap) or word.surface.lower() in _BOUNDARY_WORDS):
            clause += 1
        numbers.append(clause)
    return numbers
