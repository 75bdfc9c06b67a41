"""Where the entities of an extraction stand in its sentence, and which of them cannot be replaced there.

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
from enum import StrEnum

from models.text.typography import straightened
from models.text.words import normalise, words


class Unreplaceable(StrEnum):
    """Why an entity cannot be replaced in its sentence."""

    BLANK = "blank"
    """It has no letter and no digit."""
    REPEATED = "repeated"
    """The list has it before."""
    NOT_IN_TEXT = "not_in_text"
    """The sentence does not hold all of its words: knowledge of the subject's own."""
    NOT_CONTIGUOUS = "not_contiguous"
    """The sentence holds its words, but not in one piece ("William Washington" in "William and Annie Washington"), or
    inflected."""
    NESTED = "nested"
    """It stands only inside longer entities of the list."""
    CROSSING = "crossing"
    """It stands only where a longer entity of the list has a part of it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the sentence where an entity stands."""

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
    unreplaceable: tuple[tuple[str, Unreplaceable], ...]
    """The other entities, in the order of the extraction."""


@dataclass(frozen=True, slots=True)
class _Hit:
    entity: str
    start: int
    end: int


def find_mentions(text: str, entities: Sequence[str]) -> Located:
    """Every mention of each entity that can be replaced, and why the others cannot."""
    unreplaceable: dict[int, Unreplaceable] = {}
    hits: dict[int, list[_Hit]] = {}
    seen: set[str] = set()
    for place, entity in enumerate(entities):
        spelling = _spelling(entity)
        if not any(character.isalnum() for character in entity):
            unreplaceable[place] = Unreplaceable.BLANK
        elif spelling in seen:
            unreplaceable[place] = Unreplaceable.REPEATED
        elif found := _hits(text, entity):
            hits[place] = found
        else:
            unreplaceable[place] = _absence(text, entity)
        seen.add(spelling)
    kept = _disjoint(text, (hit for found in hits.values() for hit in found))
    standing = {hit.entity for hit in kept}
    for place, found in hits.items():
        if entities[place] not in standing:
            inside = all(_is_within(hit, kept) for hit in found)
            unreplaceable[place] = Unreplaceable.NESTED if inside else Unreplaceable.CROSSING
    replaceable = tuple(entity for place, entity in enumerate(entities) if place not in unreplaceable)
    number = {entity: index for index, entity in enumerate(replaceable)}
    return Located(
        text,
        replaceable,
        tuple(Mention(number[hit.entity], hit.start, hit.end) for hit in kept),
        tuple((entity, unreplaceable[place]) for place, entity in enumerate(entities) if place in unreplaceable),
    )


_RUN = re.compile(r"\w+|[^\w\s]")
_VARIANTS = ("'’‘‛′`´", '"“”„‟«»″', "-‐‑‒–—―−")
_SENTENCE_START = re.compile(r"""(?:^|[.!?:…]["'’”)\]]*\s)\s*["'“‘(\[]*$""")
_LEADING = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"'s$|(?<=s)'$")
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
    return _bare(one) == _bare(other)


def _bare(entity: str) -> str:
    spelled = _LEADING.sub("", _spelling(entity).casefold())
    return _POSSESSIVE.sub("", spelled) or spelled


def _hits(text: str, entity: str) -> list[_Hit]:
    found = [_Hit(entity, match.start(), match.end()) for match in _pattern(entity).finditer(text)]
    return [hit for hit in found if _is_cased_alike(text, hit)] or found


def _is_cased_alike(text: str, hit: _Hit) -> bool:
    written, wanted = _spelling(text[hit.start : hit.end]), _spelling(hit.entity)
    if _LEADING.match(wanted):
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


def _absence(text: str, entity: str) -> Unreplaceable:
    """Why an entity without a mention has none."""
    known = {word.stem for word in words(normalise(text))}
    wanted = {word.stem for word in words(normalise(entity)) if word.content}
    return Unreplaceable.NOT_CONTIGUOUS if wanted and wanted <= known else Unreplaceable.NOT_IN_TEXT


def _disjoint(text: str, hits: Iterable[_Hit]) -> list[_Hit]:
    """Those that keep their place, in the order of the text."""
    kept: list[_Hit] = []
    taken = bytearray(len(text))
    for hit in sorted(hits, key=lambda one: (one.start - one.end, one.start, one.entity)):
        if not any(taken[hit.start : hit.end]):
            taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
            kept.append(hit)
    return sorted(kept, key=lambda one: one.start)


def _is_within(hit: _Hit, kept: Sequence[_Hit]) -> bool:
    before = bisect_right(kept, hit.start, key=lambda one: one.start)
    return before > 0 and hit.end <= kept[before - 1].end
