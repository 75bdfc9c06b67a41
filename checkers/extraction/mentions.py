"""Mentions of an extraction's entities in its sentence, and entities that cannot be replaced there.

Casing: a mention is written as the entity is; or all in capitals if the entity has one; or with a capital where a
sentence begins. Only if there is no such mention, any casing will do: "us" is not a mention of "US" next to one.

Boundaries: a mention begins and ends with a word or a mark; "5" is not in "5,000". A possessive ending belongs to a
mention only if the entity has it. White space around marks, accents and the forms of quotes and dashes do not count.

Overlaps: a place belongs to the longest entity there, of equally long ones to the first.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from schemas.extraction import UntestedEntity, UntestedReason


class Mention(NamedTuple):
    """A place in the text where an entity stands."""

    entity: str
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
    unreplaceable: tuple[UntestedEntity, ...]
    """The other entities, in the order of the extraction."""
    replacements: tuple[str, ...] = ()
    """What takes the entities' places; none until they are chosen."""

    @property
    def expected(self) -> tuple[str, ...]:
        """Those that the subject should give for the text as it is: not what that lacks, or what comes twice."""
        away = {"blank", "repeated", "not_in_text"}
        return self.entities + tuple(one.text for one in self.unreplaceable if one.reason not in away)

    @property
    def mask(self) -> int:
        """A vector with a 1 for each entity (see `linearity`)."""
        return (1 << len(self.entities)) - 1

    def replaced_by(self, found: Mapping[str, str]) -> "Located":
        """Only these are replaced, by what they are mapped to: nothing fits in the places of the others."""
        kept = tuple(one for one in self.entities if one in found)
        others = (UntestedEntity(text=one, reason="no_replacement") for one in self.entities if one not in found)
        mentions = tuple(hit for hit in self.mentions if hit.entity in found)
        replacements = tuple(found[one] for one in kept)
        return Located(self.text, kept, mentions, (*self.unreplaceable, *others), replacements)

    def in_places(self, v: int) -> tuple[str, ...]:
        """For each entity what is in its place in R(v): itself, or its replacement."""
        pairs = zip(self.entities, self.replacements, strict=True)
        return tuple(other if v >> j & 1 else entity for j, (entity, other) in enumerate(pairs))

    def sentence(self, v: int) -> str:
        """R(v): the text with `replacements[j]` in place of every mention of entity j where bit j of `v` is 1.

        A mention in capitals gets its replacement in capitals; one in lower case gets a capital where a sentence
        begins.
        """
        text, made, at = self.text, "", 0
        for entity, start, end in self.mentions:
            j = self.entities.index(entity)
            if v >> j & 1:
                written, new = text[start:end], self.replacements[j]
                if written.isupper() and not entity.isupper():
                    new = new.upper()
                elif begins_sentence(text, start) and written[:1].isupper() and new.split(maxsplit=1)[0].islower():
                    new = new[:1].upper() + new[1:]
                # An abbreviation's full stop ends its sentence too.
                ends = written.endswith(".") and not new.endswith(".") and not text[end:].strip()
                made += f"{text[at:start]}{new}{'.' * ends}"
                at = end
        return made + text[at:]

    def read(self, extracted: Sequence[str] | None) -> int | None:
        """u: a 0 for each replacement that was extracted, whatever the sentence; above it the same of the entities."""
        return missing((*self.replacements, *self.entities), extracted)


def find_mentions(text: str, entities: Sequence[str]) -> Located:
    """Every mention of each entity that can be replaced in the text, in NFC, and why the others cannot."""
    text = unicodedata.normalize("NFC", text)
    spellings = [_spelling(_plain(entity)) for entity in entities]
    firsts = [entity for place, entity in enumerate(entities) if spellings.index(spellings[place]) == place]
    hits = {entity: found for entity in firsts if any(map(str.isalnum, entity)) and (found := _hits(text, entity))}
    kept = _disjoint(text, (hit for found in hits.values() for hit in found))
    replaceable, starts = {hit.entity for hit in kept}, [hit.start for hit in kept]

    def reason(place: int, entity: str) -> UntestedReason | None:
        if not any(map(str.isalnum, entity)):
            return "blank"
        if spellings.index(spellings[place]) < place:
            return "repeated"
        if entity not in hits:
            return _absence(text, entity)
        if entity in replaceable:
            return None
        # The last one kept that starts no later, if there is one.
        behind = ((hit.end, bisect_right(starts, hit.start)) for hit in hits[entity])
        within = (at > 0 and end <= kept[at - 1].end for end, at in behind)
        return "nested" if all(within) else "crossing"

    told = [(entity, reason(place, entity)) for place, entity in enumerate(entities)]
    untested = tuple(UntestedEntity(text=entity, reason=why) for entity, why in told if why is not None)
    return Located(text, tuple(entity for entity, why in told if why is None), tuple(kept), untested)


LEADING_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_POSSESSIVE_ENDING = re.compile(r"(?<=\w)['’]s$|(?<=s)['’]$", re.IGNORECASE)

_RUN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W_]+")
_is_word = re.compile(r"\w").match
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana and Han, without blanks between words; Korean, with endings behind them."""
_KATAKANA = "[\u30a1-\u30fe]"
_PLAIN = str.maketrans(dict.fromkeys("’‘‛′`´", "'") | dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‐‑‒–—―−", "-"))
_SENTENCE_START = re.compile(r"""(?:^|[.!?:…]["'’”)\]]*\s)\s*["'“‘(\[]*$""")
_SHORT = 3
"""A word in lower case that is no longer says nothing of what it stands in: of, the, van."""


def begins_sentence(text: str, at: int) -> bool:
    """True if a sentence begins at this place of the text, opening marks aside."""
    return bool(_SENTENCE_START.search(text, max(0, at - 12), at))


@lru_cache(maxsize=50_000)
def bare(entity: str) -> str:
    """A name without casing, accents, white space around marks, forms of quotes and dashes, article, or possessive."""
    return _POSSESSIVE_ENDING.sub("", LEADING_ARTICLE.sub("", _spelling(_plain(entity)).casefold()))


def missing(entities: Iterable[str], extracted: Sequence[str] | None) -> int | None:
    """A vector with a 1 for each of the entities that was not extracted; None for an answer that could not be read."""
    if extracted is None:
        return None
    return sum(1 << j for j, entity in enumerate(entities) if not is_among(entity, extracted))


def is_among(entity: str, extracted: Iterable[str]) -> bool:
    """True if the entity was extracted, in whatever spelling."""
    return any(bare(entity) == bare(one) for one in extracted)


def words_of(*texts: str) -> frozenset[str]:
    """The words that tell something, in one casing: all but short ones in lower case."""
    return frozenset(
        word.casefold()
        for text in texts
        for word in _WORD.findall(LEADING_ARTICLE.sub("", _plain(text)))
        if len(word) > _SHORT or word != word.lower() or word == word.upper()
    )


def is_initials(short: str, long: str) -> bool:
    """True for USA and "United States of America", J. F. K. and "John Fitzgerald Kennedy"."""
    letters = "".join(filter(str.isalpha, short)).casefold()
    words = _WORD.findall(long)
    capitals = (word for word in words if word != word.lower())
    return len(letters) > 1 and letters in {"".join(word[0] for word in one).casefold() for one in (words, capitals)}


def _plain(text: str) -> str:
    """The text composed, with plain quotes and dashes, without accents where letters have a case; as long as in NFC."""
    return "".join(
        unicodedata.normalize("NFD", sign)[0] if not sign.isascii() and sign.lower() != sign.upper() else sign
        for sign in unicodedata.normalize("NFC", text).translate(_PLAIN)
    )


def _hits(text: str, entity: str) -> list[Mention]:
    found = [Mention(entity, match.start(), match.end()) for match in _pattern(_plain(entity)).finditer(_plain(text))]
    return [hit for hit in found if _is_cased_alike(text, hit, entity)] or found


def _is_cased_alike(text: str, hit: Mention, entity: str) -> bool:
    written, wanted = _spelling(_plain(text[hit.start : hit.end])), _spelling(_plain(entity))
    if LEADING_ARTICLE.match(wanted):
        written, wanted = written[:1].lower() + written[1:], wanted[:1].lower() + wanted[1:]
    if written == wanted or (written == wanted.upper() and wanted != wanted.lower()):
        return True
    return begins_sentence(text, hit.start) and written == wanted[:1].upper() + wanted[1:]


def _spelling(text: str) -> str:
    """The text with one blank between words, and none next to marks."""
    return re.sub(r"\s+(?!\w)|(?<!\w)\s+", "", " ".join(text.split()))


def _pattern(entity: str) -> re.Pattern[str]:
    runs = _RUN.findall(entity)
    body = ""
    for before, run in zip(["", *runs], runs, strict=False):
        gap = "" if not before else r"\s+" if _is_word(before) and _is_word(run) else r"\s*"
        body += gap + re.escape(run)
    opening = f"(?<!{_beside(runs[0][0])}){'(?<![0-9][.,:])' if runs[0][0].isdigit() else ''}"
    closing = f"(?!{_beside(runs[-1][-1])}){'(?![.,:][0-9])' if runs[-1][-1].isdigit() else ''}"
    return re.compile(f"{opening}{body}{closing}", re.IGNORECASE)


def _beside(end: str) -> str:
    """The signs that no mention which begins or ends so has next to it."""
    if re.match(_KATAKANA, end):
        return _KATAKANA
    return r"[^\s\S]" if not _is_word(end) or re.match(f"[{_UNSPACED}]", end) else rf"[^\W{_UNSPACED}]"


def _absence(text: str, entity: str) -> UntestedReason:
    """The reason for which an entity has no mention; `not_in_text` only if nothing in the text may stand for it."""
    known, words = words_of(text), words_of(entity) or words_of(entity.upper())
    if words <= known:
        return "not_contiguous"
    is_other = (
        # Computed, transcribed, abbreviated, abbreviated in the text, inflected.
        any(map(str.isdigit, entity))
        or len({unicodedata.name(sign, "").split(" ")[0] for sign in text + entity if sign.isalpha()}) > 1
        or entity.isupper()
        or any(is_initials(part, entity) for part in text.split())
        or any(_is_form_of(word, other) for word in words for other in known)
    )
    return "other_form" if is_other else "not_in_text"


def _is_form_of(word: str, other: str) -> bool:
    """True for words with one beginning, or one end but for a letter; without capitals, with a letter in common."""
    if word.lower() == word.upper():
        return not set(word).isdisjoint(other)
    pairs = (zip(word[::step], other[::step], strict=False) for step in (1, -1))
    begun, ended = (len(list(takewhile(lambda pair: pair[0] == pair[1], one))) for one in pairs)
    return max(begun, ended) >= 3 and (5 * begun >= 3 * len(word) or ended >= len(word) - 1)


def _disjoint(text: str, hits: Iterable[Mention]) -> list[Mention]:
    """Those that keep their place, in the order of the text."""
    kept: list[Mention] = []
    taken = bytearray(len(text))
    for hit in sorted(hits, key=lambda one: (one.start - one.end, one.start, one.entity)):
        if not any(taken[hit.start : hit.end]):
            taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
            kept.append(hit)
    return sorted(kept, key=lambda one: one.start)
