"""Places where the entities of an extraction stand in its sentence, and entities that cannot be replaced there.

Casing: a mention is written as the entity is; or all in capitals if the entity has one; or with a capital where a
sentence begins. The casing of a leading article does not matter. Only if there is no such mention, any casing will do:
"us" is no mention of "US" beside one.

Boundaries: a mention begins and ends with a word or a mark; "5" is not in "5,000". A possessive ending belongs to a
mention only if the entity has it. White space around marks does not count, nor do the forms of quotes and dashes.

Overlaps: a place in the sentence belongs to the longest entity there, of equally long ones to the first; the others
keep their mentions elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from models.text.typography import straightened

Reason = Literal["blank", "repeated", "not_in_text", "not_contiguous", "nested", "crossing"]
"""The reason for which an entity cannot be replaced in its text: as in `UntestedEntity`."""


class Mention(NamedTuple):
    """A place in the text where an entity stands."""

    entity: int
    """Its place among `Located.entities`."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Located:
    """The entities of a sentence with their mentions."""

    text: str
    entities: tuple[str, ...]
    """Those that can be replaced, in the order of the extraction; each has a mention."""
    mentions: tuple[Mention, ...]
    """In the order of the text; none overlaps another."""
    unreplaceable: tuple[tuple[str, Reason], ...]
    """The other entities, in the order of the extraction."""


def find_mentions(text: str, entities: Sequence[str]) -> Located:
    """Every mention of each entity that can be replaced, and why the others cannot."""
    unreplaceable: dict[int, Reason] = {}
    hits: dict[int, list[Mention]] = {}
    seen: set[str] = set()
    for place, entity in enumerate(entities):
        spelling = _spelling(entity)
        if not any(character.isalnum() for character in entity):
            unreplaceable[place] = "blank"
        elif spelling in seen:
            unreplaceable[place] = "repeated"
        elif found := _hits(text, entity, place):
            hits[place] = found
        else:
            unreplaceable[place] = _absence(text, entity)
        seen.add(spelling)
    kept = _disjoint(text, entities, (hit for found in hits.values() for hit in found))
    for place in hits.keys() - {hit.entity for hit in kept}:
        unreplaceable[place] = "nested" if all(_is_within(hit, kept) for hit in hits[place]) else "crossing"
    replaceable = [place for place in range(len(entities)) if place not in unreplaceable]
    return Located(
        text,
        tuple(entities[place] for place in replaceable),
        tuple(hit._replace(entity=replaceable.index(hit.entity)) for hit in kept),
        tuple((entities[place], unreplaceable[place]) for place in sorted(unreplaceable)),
    )


LEADING_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
POSSESSIVE_ENDING = re.compile(r"(?<=\w)['’]s$|(?<=s)['’]$", re.IGNORECASE)

_RUN = re.compile(r"\w+|[^\w\s]")
_VARIANTS = ("'’‘‛′`´", '"“”„‟«»″', "-‐‑‒–—―−")
_SENTENCE_START = re.compile(r"""(?:^|[.!?:…]["'’”)\]]*\s)\s*["'“‘(\[]*$""")
_LOOKED_BACK = 12


def begins_sentence(text: str, at: int) -> bool:
    """True if a sentence begins at this place of the text, opening marks aside."""
    start = max(0, at - _LOOKED_BACK)
    before = text[start:at]
    # "^" is for the text's own beginning.
    return bool(_SENTENCE_START.search(f"x{before}" if start else before))


def same_entity(one: str, other: str) -> bool:
    """True if two spellings name the same entity of one sentence.

    Casing, white space around marks, the forms of quotes and dashes, a leading article and a possessive ending make no
    difference.
    """
    return bare(one) == bare(other)


def bare(entity: str) -> str:
    """The form that all spellings of an entity have in common."""
    return POSSESSIVE_ENDING.sub("", LEADING_ARTICLE.sub("", _spelling(entity).casefold()))


def _hits(text: str, entity: str, place: int) -> list[Mention]:
    found = [Mention(place, match.start(), match.end()) for match in _pattern(entity).finditer(text)]
    return [hit for hit in found if _is_cased_alike(text, hit, entity)] or found


def _is_cased_alike(text: str, hit: Mention, entity: str) -> bool:
    written, wanted = _spelling(text[hit.start : hit.end]), _spelling(entity)
    if LEADING_ARTICLE.match(wanted):
        written, wanted = written[:1].lower() + written[1:], wanted[:1].lower() + wanted[1:]
    if written == wanted:
        return True
    if written == wanted.upper() and wanted != wanted.lower():
        return True
    return begins_sentence(text, hit.start) and written == wanted[:1].upper() + wanted[1:]


def _spelling(text: str) -> str:
    """The text with one blank between words, none beside marks, and plain marks."""
    spelled = ""
    for run in _RUN.findall(text):
        joint = " " if spelled and _is_word(spelled[-1]) and _is_word(run[0]) else ""
        spelled += joint + (run if _is_word(run[0]) else straightened(run))
    return spelled


def _pattern(entity: str) -> re.Pattern[str]:
    runs = _RUN.findall(entity)
    body = ""
    for before, run in zip(["", *runs], runs, strict=False):
        gap = "" if not before else r"\s+" if _is_word(before[0]) and _is_word(run[0]) else r"\s*"
        body += gap + (re.escape(run) if _is_word(run[0]) else _mark(run))
    opening = rf"(?<!\w){'(?<![0-9][.,:])' if runs[0][0].isdigit() else ''}" if _is_word(runs[0][0]) else ""
    closing = rf"(?!\w){'(?![.,:][0-9])' if runs[-1][-1].isdigit() else ''}" if _is_word(runs[-1][-1]) else ""
    return re.compile(f"{opening}{body}{closing}", re.IGNORECASE)


def _mark(mark: str) -> str:
    variants = next((variants for variants in _VARIANTS if mark in variants), mark)
    return f"[{re.escape(variants)}]"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _absence(text: str, entity: str) -> Reason:
    """The reason for which an entity has no mention."""
    known = _telling(text)
    if all(any(_is_form_of(word, other) for other in known) for word in _telling(entity)):
        return "not_contiguous"
    # Without blanks between words, a name's neighbours look like parts of it.
    has_no_case = entity.lower() == entity.upper() and not entity.isascii()
    return "not_contiguous" if has_no_case and entity in text else "not_in_text"


def _telling(text: str) -> set[str]:
    """All words but short ones in lower case; those as well if there are no others."""
    words = re.findall(r"[^\W_]+(?:[.,:]\d+)*", text)
    return {word.casefold() for word in words if len(word) > 3 or word != word.lower() or not word.isalpha()} or set(
        map(str.casefold, words)
    )


def _is_form_of(word: str, other: str) -> bool:
    """True for equal words, and for words that differ in their endings alone."""
    shared = next((at for at, (one, its) in enumerate(zip(word, other, strict=False)) if one != its), len(word))
    return word == other or (word.isalpha() and 4 * shared >= 3 * max(len(word), len(other)))


def _disjoint(text: str, entities: Sequence[str], hits: Iterable[Mention]) -> list[Mention]:
    """Those that keep their place, in the order of the text."""
    kept: list[Mention] = []
    taken = bytearray(len(text))
    for hit in sorted(hits, key=lambda one: (one.start - one.end, one.start, entities[one.entity])):
        if not any(taken[hit.start : hit.end]):
            taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
            kept.append(hit)
    return sorted(kept, key=lambda one: one.start)


def _is_within(hit: Mention, kept: Sequence[Mention]) -> bool:
    before = bisect_right(kept, hit.start, key=lambda one: one.start)
    return before > 0 and hit.end <= kept[before - 1].end
