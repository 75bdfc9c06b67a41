"""Which class an entity belongs to, by rules: its form, WordNet's kinds of things, and known names of people.

A replacement must be of the same class, so a rule that may be wrong decides nothing here.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from checkers.extraction.synonyms.gazetteer import company_forms, folded, known_names, known_places
from models.text.closed_class import FUNCTION_WORDS, NUMERALS, ORDINALS
from models.text.dates import MONTHS, WEEKDAYS, calendar_value
from models.text.lexicon import lexicon
from models.text.tokens import FIGURE, FIGURE_ENDING, spoken_words


class EntityClass(StrEnum):
    """What kind of thing an entity is."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    PEOPLE = "people"
    """A nation, language or faith, and what belongs to it: Italian, Buddhist."""
    DATE = "date"
    """A date, a time, a span of time."""
    NUMBER = "number"
    """A number, a count, a measure, a sum of money."""
    EVENT = "event"
    WORK = "work"
    """A work of art, a publication, a law."""


_FIGURE = re.compile(rf"{FIGURE}{FIGURE_ENDING}?", re.IGNORECASE)
_YEAR = re.compile(r"(?:1\d\d\d|20\d\d)s?")
_ERAS = frozenset("AD BC BCE CE BP".split())
_PARTS_OF_TIME = frozenset("early late mid middle beginning end am pm".split())
_CURRENCIES = frozenset("$€£¥")
_SIGNS = _CURRENCIES | {"%"}

_KINDS = (
    (EntityClass.ORGANISATION, ("organization", "institution", "group")),
    (
        EntityClass.PLACE,
        (
            "location", "structure", "facility", "way", "stream", "elevation", "region", "formation", "land", "water",
        ),
    ),
    (EntityClass.WORK, ("creation", "publication", "writing", "music", "statute", "show")),
    (EntityClass.EVENT, ("event",)),
    (EntityClass.PERSON, ("person",)),
)  # fmt: skip
"""WordNet's words for each class, the more telling classes first: most nouns can be some event."""

TITLES = frozenset("mr mrs ms miss dr prof sir dame lord lady st saint".split())
"""What stands before the name of a person, in lower case."""
_PARTICLES = frozenset("de da di del della do dos du la le van von der den bin ibn al el y e".split())
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_WITH_ARTICLE = re.compile(
    r"\b(?:United|Republic|Kingdom|Federation|Islands|Isle|States|Emirates|Territor(?:y|ies)|Netherlands|Philippines"
    r"|Bahamas|Maldives|Comoros|Gambia|Congo|Jamahiriya|US|UK|UAE|U\.S|U\.K|U\.A\.E)\b"
)
_AT = re.compile(r"\b(?:in|at|near)(?:\s+the)?\s+$", re.IGNORECASE)


def is_numeral(word: str) -> bool:
    """True for a number in digits or words, and for its ordinal: 5,000, 19th, five, fifth."""
    lower = word.lower()
    return lower in NUMERALS or lower in ORDINALS or bool(_FIGURE.fullmatch(word))


def quantity_class(entity: str) -> EntityClass | None:
    """Date or number, if the entity is either; in any casing."""
    words = [token.text for token in spoken_words(entity)]
    calendar = [word for word in words if _is_calendar(word)]
    numerals = [word for word in words if is_numeral(word)]
    eras = [word for word in words if word in _ERAS]
    others = [
        word
        for at, word in enumerate(words)
        if not (_is_calendar(word) or is_numeral(word) or word in _ERAS or word in _SIGNS)
        and not (is_function_word(word) or word.lower() in _PARTS_OF_TIME)
        # US$, A$
        and not (at + 1 < len(words) and words[at + 1] in _CURRENCIES)
    ]
    if not calendar and not numerals:
        return None
    if calendar and not others:
        return EntityClass.DATE
    times = others and all(lexicon().is_a(word, "period", "n") for word in others)
    if times or eras or (not others and any(_YEAR.fullmatch(word) for word in numerals)):
        return EntityClass.DATE
    if calendar or any(word != word.lower() for word in others) or any(map(_has_digit, others)):
        return None
    return EntityClass.NUMBER


def entity_class(entity: str, before: str = "") -> EntityClass | None:
    """The class; None if no rule knows it. `before` is what stands before the entity in its sentence."""
    quantity = quantity_class(entity)
    if quantity is not None:
        return quantity
    words = [token.text.removesuffix("'s") for token in spoken_words(entity)]
    content = [word for word in words if not is_function_word(word)]
    if not content or not any(map(is_capitalised, content)):
        return None
    if len(content) > 1:
        return _class_of_several(entity, words, content, before)
    return _class_of_one(content[0], before)


def is_function_word(word: str) -> bool:
    """True for a word of grammar; "US" is none."""
    return word.lower() in FUNCTION_WORDS and not (len(word) > 1 and word.isupper())


def is_capitalised(word: str) -> bool:
    """True if it has a capital, at its beginning (Ada) or elsewhere (iTunes)."""
    return word != word.lower()


def is_common(word: str) -> bool:
    """True for a word that WordNet has in lower case, whatever it is written like here."""
    known = lexicon()
    return any(known.written(base).islower() for base in known.lemmas(word))


def head_of(words: Sequence[str]) -> str:
    """The word that says what the entity is: University in University of Turin, County in Cumberland County."""
    for at, word in enumerate(words[1:], start=1):
        if word.lower() in {"of", "for", "in", "at", "on"}:
            return words[at - 1]
    return words[-1]


def _class_of_several(entity: str, words: Sequence[str], content: Sequence[str], before: str) -> EntityClass | None:
    if folded(without_article(entity)) in known_places():
        return EntityClass.PLACE
    parts = entity.split(", ")
    if len(parts) > 1:
        kinds = {entity_class(part) for part in parts}
        return EntityClass.PLACE if EntityClass.PLACE in kinds and kinds <= {EntityClass.PLACE, None} else None
    if content[-1].lower() in {form.split()[-1].lower() for form in company_forms()}:
        return EntityClass.ORGANISATION
    if _is_full_name(words, content):
        return EntityClass.PERSON
    head = head_of(words)
    if is_common(head):
        # "The Salt Road" may be a film: only a name within tells that the kind is meant.
        return None if all(map(is_common, content)) and words[0] == "The" else kind_of(head)
    return _class_by_context(entity, before)


def _is_full_name(words: Sequence[str], content: Sequence[str]) -> bool:
    """True for names of people of several words, with or without a title: Ada Okafor, Mr. Bain, King Charles."""
    names = known_names()
    first, head = folded(content[0]), head_of(words)
    if not all(is_capitalised(word) or word.lower() in _PARTICLES for word in words):
        return False
    if first in TITLES:
        return True
    if first in names.given:
        return not is_common(head) or folded(head) in names.surnames
    if is_common(head):
        return False
    return kind_of(first) is EntityClass.PERSON if is_common(first) else folded(content[-1]) in names.surnames


def _class_by_context(entity: str, before: str) -> EntityClass | None:
    """A place behind "in", "at" or "near", a person behind a word for a person ("the actor")."""
    if any(map(_has_digit, entity)) or entity.isupper():
        return None
    if _AT.search(before):
        return EntityClass.PLACE
    last = before.split()[-1:]
    is_role = any(one.isalpha() and one.islower() and lexicon().is_mainly(one, "person", "n") for one in last)
    return EntityClass.PERSON if is_role else None


def _class_of_one(word: str, before: str) -> EntityClass | None:
    if folded(word) in known_places():
        return EntityClass.PLACE
    known = lexicon()
    lower = word.lower()
    names = known_names()
    is_known = known.knows(lower) and not is_common(lower)
    if is_known and (known.is_a(lower, "language", "n") or (folded(word) not in names.given and _is_people(lower))):
        return EntityClass.PEOPLE
    kind = kind_of(lower) if is_known else None
    if kind is not EntityClass.PLACE and folded(word) in names.given | names.surnames:
        kind = EntityClass.PERSON
    if kind is EntityClass.PERSON and is_known and known.is_a(lower, "location", "n") and _AT.search(before):
        return None
    return _class_by_context(word, before) if kind is None and not is_common(lower) else kind


def _is_people(word: str) -> bool:
    return is_adjective(word) and any(lexicon().is_mainly(word, kind, "n") for kind in ("person", "people"))


def is_adjective(word: str) -> bool:
    """True for a word that may be an adjective."""
    return any(part == "a" for _, part, _ in lexicon().analyses(word))


def kind_of(noun: str) -> EntityClass | None:
    """The class of what a common noun stands for, in its commonest meaning."""
    known = lexicon()
    lower = noun.lower()
    for one, kinds in _KINDS:
        if any(lower in known.lemmas(kind, "n") or known.is_mainly(lower, kind, "n") for kind in kinds):
            return one
    return None


def without_article(name: str) -> str:
    """The name without a leading article."""
    return _ARTICLE.sub("", name)


def _is_calendar(word: str) -> bool:
    return calendar_value(word, MONTHS) is not None or calendar_value(word, WEEKDAYS) is not None


def needs_article(place: str) -> bool:
    """True for places that take "the" within a sentence: the United States, the Netherlands."""
    return bool(_WITH_ARTICLE.search(place))


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
