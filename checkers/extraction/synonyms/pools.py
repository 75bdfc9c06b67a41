"""Names of the same class from kept libraries: Faker's names of people, places and companies, WordNet's single things.

Drawing is repeatable: the same seed, entity and versions of the libraries give the same names in the same order.
"""

import itertools
from collections.abc import Iterator
from random import Random

from checkers.draws import generator
from checkers.extraction.synonyms.classes import (
    TITLES,
    EntityClass,
    entity_class,
    head_of,
    is_adjective,
    is_capitalised,
    is_common,
    is_function_word,
    needs_article,
    without_article,
)
from checkers.extraction.synonyms.forms import in_number_of, is_plural
from checkers.extraction.synonyms.gazetteer import (
    LOCALES,
    cities,
    company_forms,
    folded,
    given_names,
    known_names,
    known_places,
    surnames,
)
from checkers.extraction.synonyms.quantities import other_quantity
from models.text.lexicon import lexicon
from models.text.tokens import Token, spoken_words

MOST = 40
"""Candidates for one entity, at most."""

_LONGEST_PLACE = 4
"""Words of a known place that is looked for within a longer name."""


def pool_of(entity: str, kind: EntityClass | None, seed: str) -> Iterator[str]:
    """Names that may take the place of a named entity of this class, at most `MOST`, each once; perhaps none.

    A name that says what it is of keeps that: "University of Dallas" for "University of Turin". A given name is
    replaced by one of the same gender where it tells one, and by names of any locale.
    """
    draw = generator(seed, f"pool {entity}")
    drawn = itertools.chain(_in_the_same_frame(entity, draw), _whole(entity, kind, draw))
    return itertools.islice(dict.fromkeys(itertools.islice(drawn, MOST * 2)), MOST)


def _whole(entity: str, kind: EntityClass | None, draw: Random) -> Iterator[str]:
    drawn: Iterator[str] = iter(())
    if kind in {EntityClass.DATE, EntityClass.NUMBER}:
        made = (other_quantity(entity, draw) for _ in range(MOST))
        drawn = (quantity for quantity in made if quantity is not None)
    elif _says_what_it_is(entity):
        pass
    elif kind is EntityClass.PERSON:
        drawn = _people(entity, draw)
    elif kind is EntityClass.PLACE:
        drawn = _places(entity, draw)
    elif kind is EntityClass.PEOPLE:
        drawn = _siblings(entity, draw, like_adjective=is_adjective(entity))
    elif kind is EntityClass.ORGANISATION:
        drawn = itertools.chain(_siblings(entity, draw), _companies(draw))
    return drawn


def _says_what_it_is(entity: str) -> bool:
    """True for several words with a common noun for a head: nothing but its own frame fits "House of Commons"."""
    words = [token.text for token in spoken_words(without_article(entity))]
    if len(words) < 2 or folded(without_article(entity)) in known_places():
        return False
    first = folded(words[0])
    return is_common(head_of(words)) and first not in known_names().given and first not in TITLES


def _people(entity: str, draw: Random) -> Iterator[str]:
    words = entity.split()
    title = words.pop(0) if len(words) > 1 and words[0].lower().rstrip(".") in TITLES else None
    known = known_names()
    first = folded(words[0])
    is_given = first in known.given
    gender = known.gender(first) if is_given else None
    while True:
        locale = draw.choice(LOCALES)
        given, surname = draw.choice(given_names(locale, gender)), draw.choice(surnames(locale))
        alone = given if is_given and title is None else surname
        name = f"{given} {surname}" if len(words) > 1 else alone
        yield f"{title} {name}" if title else name


def _places(entity: str, draw: Random) -> Iterator[str]:
    parts = entity.split(", ")
    if len(parts) > 1:
        pools = [_places(part, draw) for part in parts]
        return map(", ".join, zip(*pools, strict=False))
    bare = without_article(entity)
    group = known_places().get(folded(bare))
    if group is not None:
        # Where one place takes an article the other must, as it may stand before the entity.
        article = entity.removesuffix(bare) if needs_article(bare) else ""
        others = [other for other in group if needs_article(other) == needs_article(bare)]
        return (f"{article}{other}" for other in draw.sample(others, len(others)))
    return itertools.chain(_siblings(entity, draw), draw.sample(cities(), MOST))


def _companies(draw: Random) -> Iterator[str]:
    while True:
        yield f"{draw.choice(surnames(draw.choice(LOCALES)))} {draw.choice(company_forms())}"


def _siblings(entity: str, draw: Random, *, like_adjective: bool = False) -> Iterator[str]:
    """Single things of the same kind as WordNet has them: Danube, Mekong; NASA, FEMA; Italian, Greek."""
    known = lexicon()
    if len(entity.split()) > 1 or not known.knows(entity) or is_common(entity):
        return
    others = [known.spelling(word) for word in known.siblings(entity, "n")]
    for other in draw.sample(others, len(others)):
        if is_capitalised(other) and (is_adjective(other) or not like_adjective):
            yield in_number_of(other, entity) if is_plural(entity) else other


def _in_the_same_frame(entity: str, draw: Random) -> Iterator[str]:
    """Other names within the same words: House of Commons of Mexico, Lopez County; none if there is no such word."""
    if folded(without_article(entity)) in known_places():
        return
    tokens = spoken_words(entity)
    names = list(_names_within(tokens))
    if not names or sum(len(name) for name in names) == len(tokens):
        return
    if any(map(_is_numeric, tokens)):
        return
    pools = []
    for name in names:
        text = entity[name[0].start : name[-1].end]
        kind = entity_class(text) or EntityClass.PERSON
        pools.append(_surnames(draw) if kind is EntityClass.PERSON and len(name) == 1 else _whole(text, kind, draw))
    for others in itertools.islice(zip(*pools, strict=False), MOST):
        made, at = "", 0
        for name, other in zip(names, others, strict=True):
            made += entity[at : name[0].start] + other
            at = name[-1].end
        yield made + entity[at:]


def _names_within(tokens: list[Token]) -> Iterator[list[Token]]:
    """Known places of several words, full names of people, and single words that are names."""
    at = 0
    while at < len(tokens):
        for length in range(min(_LONGEST_PLACE, len(tokens) - at), 1, -1):
            span = tokens[at : at + length]
            text = " ".join(token.text for token in span)
            if folded(text) in known_places() or (length == 2 and _is_full_name(span)):
                yield span
                at += length
                break
        else:
            if _is_name(tokens[at].text):
                yield [tokens[at]]
            at += 1


def _is_full_name(span: list[Token]) -> bool:
    first, last = (token.text for token in span)
    return _is_name(first) and _is_name(last) and folded(first) in known_names().given


def _is_name(word: str) -> bool:
    return (
        is_capitalised(word)
        and not is_common(word)
        and not is_function_word(word)
        and not word.isupper()
        and word.lower() not in TITLES
    )


def _is_numeric(token: Token) -> bool:
    return any(character.isdigit() for character in token.text)


def _surnames(draw: Random) -> Iterator[str]:
    while True:
        yield draw.choice(surnames(draw.choice(LOCALES)))
