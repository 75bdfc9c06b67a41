"""Whether an entity is a name, by rules alone (oracle-checker, appendix A.2: they settled 93% there).

Names are replaced by other names of their class, all else by a synonym. Dates and numbers count as names: one date
takes the place of another.

1. Dates and numbers are named, in any casing.
2. Without a capital and without a digit it is not named; this says nothing of scripts without capitals, nor in a
   sentence without them.
3. A capital tells, except the first one of a sentence and except in a sentence that is all capitals. With telling
   capitals it is named if the last word that means something has one, or more than half of those words.
4. Without telling capitals, as at the beginning of a sentence: a word that WordNet has with a capital only, a known
   name of a person, and a word that it does not have, are named; several words of which the others are lower case are
   not; of a single common word the rules cannot say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.extraction.mentions import Located, begins_sentence
from checkers.extraction.synonyms.classes import (
    EntityClass,
    entity_class,
    is_capitalised,
    is_common,
    is_function_word,
    quantity_class,
)
from models.text.tokens import spoken_words


@dataclass(frozen=True, slots=True)
class Naming:
    """What the rules say of an entity."""

    named: bool | None
    """None if they cannot decide."""
    entity_class: EntityClass | None
    """None if it is no name, or of no class that the rules know."""


def naming_of(located: Located, entity: int) -> Naming:
    """What the rules say of an entity in its sentence."""
    name = located.entities[entity]
    starts = [mention.start for mention in located.mentions if mention.entity == entity]
    named = _is_named(name, located.text, is_first=all(begins_sentence(located.text, at) for at in starts))
    return Naming(named, None if named is False else entity_class(name, located.text[: starts[0]]))


def _is_named(name: str, text: str, *, is_first: bool) -> bool | None:
    if quantity_class(name) is not None:
        return True
    if not is_capitalised(name):
        has_case = name != name.upper() and is_capitalised(text)
        return False if has_case and not any(character.isdigit() for character in name) else None
    if text == text.upper():
        return None
    words = [token.text for token in spoken_words(name)]
    content = [word for word in words if not is_function_word(word)] or words
    first = content[0]
    is_silent = is_first and words[0] == first and not is_capitalised(first[1:])
    telling = [word for word in content[int(is_silent) :] if is_capitalised(word)]
    if telling:
        return True if is_capitalised(content[-1]) or 2 * len(telling) > len(content) else None
    return _without_telling_capitals(content, is_silent=is_silent)


def _without_telling_capitals(content: Sequence[str], *, is_silent: bool) -> bool | None:
    if not is_silent:
        # Only a word of grammar has the capital: "The bakery".
        return False
    if is_common(content[0]):
        return None if len(content) == 1 else False
    return True if len(content) == 1 else None
