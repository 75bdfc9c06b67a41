"""Putting a candidate into the form in which the entity stands: article, possessive ending, number, casing."""

import re

from checkers.extraction.synonyms.classes import head_of, is_common
from models.text.articles import indefinite_article
from models.text.grammar import grammar
from models.text.lexicon import lexicon
from models.text.tokens import spoken_words

_ARTICLE = re.compile(r"^(the|an?)\s+(?=\S)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
_ENDS = ' \t\n"“”*_`.'


def is_plural(noun: str) -> bool:
    """True for the plural of a noun: bakeries, men. What also is a singular in -s is none: series."""
    analyses = [(base, tag) for base, part, tag in lexicon().analyses(noun) if part == "n"]
    is_base = any(tag is None for _, tag in analyses)
    return any(tag == "NNS" for _, tag in analyses) and not (is_base and noun.lower().endswith("s"))


def without_possessive(entity: str) -> tuple[str, bool]:
    """The entity without a possessive ending, and whether it had one: Ada's, the bakers'."""
    bare = _POSSESSIVE.sub("", entity)
    return (bare, True) if bare and bare != entity else (entity, False)


def in_form_of(candidate: str, entity: str, *, named: bool) -> str:
    """A candidate as it would stand in the entity's place.

    A possessive ending goes with the entity. What is no name takes the entity's article and number, and no capital that
    the entity has not. Quotes and full stops around the candidate fall away, unless the entity ends in a full stop.
    """
    bare, possessive = without_possessive(entity)
    made = " ".join(candidate.split()).strip(_ENDS)
    if candidate.rstrip(' \t\n"“”*_`').endswith(".") and bare.endswith("."):
        made += "."
    if not named and made:
        made = _with_article(in_number_of(_uncapitalised(_ARTICLE.sub("", made), bare), bare), bare)
    if possessive and made:
        made += "'" if made[-1] in "sS" else "'s"
    return made


def _uncapitalised(candidate: str, entity: str) -> str:
    first = candidate.split(maxsplit=1)[0]
    if entity[:1].isupper() or not is_common(first) or first[1:] != first[1:].lower():
        return candidate
    return candidate[:1].lower() + candidate[1:]


def in_number_of(candidate: str, entity: str) -> str:
    """A noun in the plural if the entity is one, else in the singular; unchanged if it is unknown."""
    words = [[token.text for token in spoken_words(text)] for text in (candidate, entity)]
    if not all(words) or head_of(words[0]) != words[0][-1]:
        return candidate
    noun, model = words[0][-1], head_of(words[1])
    if is_plural(noun) == is_plural(model) or not candidate.endswith(noun) or not lexicon().lemmas(noun, "n"):
        return candidate
    other = grammar().plural_noun(noun) if is_plural(model) else grammar().singular_noun(noun)
    return candidate.removesuffix(noun) + str(other) if other else candidate


def _with_article(candidate: str, entity: str) -> str:
    article = _ARTICLE.match(entity)
    if article is None:
        return candidate
    if article[1].lower() == "the":
        return f"{article[1]} {candidate}"
    made = indefinite_article(candidate)
    return f"{made.capitalize() if article[1][0].isupper() else made} {candidate}"
