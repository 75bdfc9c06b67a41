"""What makes a candidate unfit to replace an entity (oracle-checker, table 6 and appendix A.2).

The paper shows these faults and leaves them to future work; here such a candidate is passed over for the next one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from checkers.extraction.mentions import Located, same_entity
from checkers.extraction.synonyms.classes import (
    TITLES,
    EntityClass,
    entity_class,
    head_of,
    is_capitalised,
    is_common,
    is_function_word,
    needs_article,
    quantity_class,
    without_article,
)
from checkers.extraction.synonyms.forms import is_plural
from models.text.lexicon import lexicon
from models.text.tokens import spoken_words
from models.text.words import stem


class CandidateFault(StrEnum):
    """Why a candidate cannot replace an entity."""

    BLANK = "blank"
    """It has no letter and no digit."""
    SENTENCE = "sentence"
    """It repeats a part of the sentence, or is much longer than the entity."""
    OTHER_ENTITY = "other_entity"
    """It contains, equals or is contained in another entity of the sentence, or the replacement of one."""
    ALIAS = "alias"
    """It names the same: a part of the name or more than it, initials, a synonym of a name."""
    IN_TEXT = "in_text"
    """The sentence has one of its words already."""
    SEVERAL = "several"
    """It is a list, or has an explanation added."""
    TYPE = "type"
    """It does not fit: of another class, no name for a name or a name for none, a plural for a singular, or in want of
    an article."""


_REPEATED = 3
"""So many words of the sentence in a row are a part of the sentence."""
_WORDS_MORE = 3
_JOINTS = re.compile(r"[,;:/|()\[\]{}\n\"“”]|\s(?:and|or|&|-|–|—)\s")
_SIMILAR = {EntityClass.ORGANISATION, EntityClass.PLACE, EntityClass.EVENT, EntityClass.WORK}
"""A word may say any of them: a church is a building and those who meet there."""
_CURRENCY = re.compile(r"[$€£¥%]")


def fault_of(
    candidate: str,
    entity: str,
    located: Located,
    others: Iterable[str],
    *,
    named: bool,
    kind: EntityClass | None,
) -> CandidateFault | None:
    """The first fault of a candidate for an entity of a sentence; None if it is fit.

    Args:
        candidate: In the form in which it would stand in the sentence.
        entity: The one that it shall replace.
        located: The sentence.
        others: The other entities of the sentence, whether they can be replaced or not, and their replacements.
        named: True if the entity is a name.
        kind: The entity's class, if it is known.
    """
    words, own = _words(candidate), _words(entity)
    text = _words(_without_mentions(located, entity))
    misfit = _is_other_name if named else _is_other_noun
    faults: tuple[tuple[CandidateFault, Callable[[], bool]], ...] = (
        (CandidateFault.BLANK, lambda: not words),
        (CandidateFault.SENTENCE, lambda: len(words) > 2 * len(own) + _WORDS_MORE or _shares_a_row(words, text)),
        (CandidateFault.OTHER_ENTITY, lambda: any(_overlap(words, other) for other in map(_words, others) if other)),
        (CandidateFault.ALIAS, lambda: _is_alias(candidate, entity, kind, named=named)),
        (CandidateFault.IN_TEXT, lambda: bool((_meanings(words) - _meanings(own)) & _meanings(text))),
        (CandidateFault.SEVERAL, lambda: bool(set(_JOINTS.findall(candidate)) - set(_JOINTS.findall(entity)))),
        (CandidateFault.TYPE, lambda: misfit(candidate, entity, kind)),
    )
    return next((fault for fault, holds in faults if holds()), None)


def _words(text: str) -> tuple[str, ...]:
    spoken = (token.text.lower().removesuffix("'s") for token in spoken_words(without_article(text)))
    return tuple(word for word in spoken if word[0].isalnum())


def _meanings(words: Iterable[str]) -> set[str]:
    return {stem(word) for word in words if not is_function_word(word)}


def _without_mentions(located: Located, entity: str) -> str:
    made, at = "", 0
    for mention in located.mentions:
        if located.entities[mention.entity] == entity:
            # A mark keeps what stands before from being read on with what stands behind.
            made += f"{located.text[at : mention.start]} | "
            at = mention.end
    return made + located.text[at:]


def _contains(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    length = len(shorter)
    return any(longer[at : at + length] == shorter for at in range(len(longer) - length + 1))


def _overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    return _contains(one, other) or _contains(other, one)


def _shares_a_row(words: Sequence[str], text: Sequence[str]) -> bool:
    rows = (words[at : at + _REPEATED] for at in range(len(words) - _REPEATED + 1))
    return any(_contains(text, row) for row in rows)


def _is_alias(candidate: str, entity: str, kind: EntityClass | None, *, named: bool) -> bool:
    words, own = _words(candidate), _words(entity)
    if same_entity(candidate, entity) or _overlap(words, own):
        return True
    if not named:
        return _meanings(words) == _meanings(own)
    if quantity_class(entity) is not None:
        return False
    # "Smith" is a common noun, too; but a word that says what the thing is, or a title, is no part of its name.
    part = {word for word in own if not is_common(word)} | (set(own[1:]) if kind is EntityClass.PERSON else set())
    shared = {word for word in part & set(words) if not is_function_word(word) and word not in TITLES}
    return bool(shared) or _is_initials(candidate, entity) or _is_initials(entity, candidate) or _is_same(words, own)


def _is_initials(short: str, long: str) -> bool:
    """True for USA and "United States of America", J. F. K. and "John Fitzgerald Kennedy"."""
    letters = "".join(character for character in short if character.isalpha()).lower()
    words = _words(long)
    if len(letters) < 2 or len(words) < 2:
        return False
    telling = [word for word in words if not is_function_word(word)]
    return letters in {"".join(word[0] for word in words), "".join(word[0] for word in telling)}


def _is_same(words: Sequence[str], own: Sequence[str]) -> bool:
    """True if WordNet has both for one thing: Holland, Netherlands."""
    return len(words) == len(own) == 1 and words[0] in lexicon().synonyms(own[0])


def _is_other_name(candidate: str, entity: str, kind: EntityClass | None) -> bool:
    quantity = quantity_class(entity)
    if quantity is not None or quantity_class(candidate) is not None:
        return quantity is not quantity_class(candidate) or _signs(candidate) != _signs(entity)
    firsts = [next((word for word in _spoken(text) if not is_function_word(word)), "") for text in (candidate, entity)]
    if is_capitalised(firsts[1]) and not is_capitalised(firsts[0]):
        return True
    if kind is EntityClass.PEOPLE and is_plural(entity) != is_plural(candidate):
        return True
    if needs_article(candidate) and not (needs_article(entity) or candidate != without_article(candidate)):
        return True
    other = entity_class(candidate)
    return None not in {kind, other} and other is not kind and not {kind, other} <= _SIMILAR


def _is_other_noun(candidate: str, entity: str, _: EntityClass | None) -> bool:
    heads = [head_of(_spoken(text)) for text in (candidate, entity)]
    if all(map(is_function_word, _spoken(candidate))) or quantity_class(candidate) is not quantity_class(entity):
        return True
    if any(map(is_capitalised, _spoken(candidate)[1:])) and not any(map(is_capitalised, _spoken(entity)[1:])):
        return True
    known = lexicon()
    is_noun = [not known.knows(head) or bool(known.lemmas(head, "n")) for head in heads]
    return is_plural(heads[0]) != is_plural(heads[1]) or (is_noun[1] and not is_noun[0])


def _spoken(text: str) -> list[str]:
    return [token.text for token in spoken_words(text)]


def _signs(text: str) -> list[str]:
    return sorted(_CURRENCY.findall(text))
