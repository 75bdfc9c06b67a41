"""Known names of people, places and forms of companies: Faker's lists of several locales."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

Gender = Literal["female", "male"]

LOCALES = (
    "cs_CZ", "de_DE", "en_GB", "en_IN", "en_NG", "en_US", "es_ES", "fr_FR", "hr_HR", "it_IT", "pt_BR", "sv_SE", "tr_TR",
)  # fmt: skip
"""Locales whose names of people are written in Latin letters, some of each part of the world that Faker has any of."""

_PLACES = (
    ("en", "countries"),
    ("en_US", "states"),
    ("en_CA", "provinces"),
    ("en_AU", "states"),
    ("en_GB", "counties"),
    ("en_IN", "cities"),
    ("de_DE", "cities"),
    ("pl_PL", "cities"),
)
"""Lists of places that there are, which some locales have; others put together names of places that there are not."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names of people, as `folded` has them."""

    female: frozenset[str]
    male: frozenset[str]
    given: frozenset[str]
    """Those of both lists, and those that the library gives no gender."""
    surnames: frozenset[str]

    def gender(self, given: str) -> Gender | None:
        """The gender that a given name tells; None if it is unknown, or used by both."""
        name = folded(given)
        if (name in self.female) == (name in self.male):
            return None
        return "female" if name in self.female else "male"


def folded(name: str) -> str:
    """A name in lower case without accents: Kovač and Kovac are one."""
    decomposed = unicodedata.normalize("NFKD", name.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


@cache
def known_names() -> KnownNames:
    """The names of all `LOCALES`."""

    def listed(*attributes: str) -> frozenset[str]:
        names = (name for locale in LOCALES for one in attributes for name in _listed("person", locale, one))
        return frozenset(map(folded, names))

    female, male = listed("first_names_female"), listed("first_names_male")
    return KnownNames(
        female,
        male,
        female | male | listed("first_names"),
        listed("last_names", "last_names_female", "last_names_male"),
    )


def given_names(locale: str, gender: Gender | None) -> tuple[str, ...]:
    """The given names of a locale; of one gender if it is known."""
    return _listed("person", locale, "first_names" if gender is None else f"first_names_{gender}")


@cache
def surnames(locale: str) -> tuple[str, ...]:
    """The surnames of a locale."""
    # Some stand the other way round: "Dussen van".
    return tuple(name for name in _listed("person", locale, "last_names") if not name.split()[-1].islower())


@cache
def known_places() -> Mapping[str, tuple[str, ...]]:
    """For each known place, folded and without an article, the places of its list: countries, states, cities.

    Countries that are called by their initials are known by them, too: US, U.K.
    """
    groups = [_listed("address", locale, attribute) for locale, attribute in _PLACES]
    # A name that several lists have is the one of the first: Georgia is a country.
    places = {folded(place): group for group in reversed(groups) for place in group}
    short = {place.removesuffix(" of america"): group for place, group in places.items()}
    initials = {
        form: group
        for place, group in short.items()
        if place.startswith("united ")
        for form in ("".join(word[0] for word in place.split()), "".join(f"{word[0]}." for word in place.split()))
    }
    return places | short | initials


@cache
def cities() -> tuple[str, ...]:
    """Cities of several countries."""
    return tuple(
        city for locale, attribute in _PLACES if attribute == "cities" for city in _listed("address", locale, attribute)
    )


def company_forms() -> tuple[str, ...]:
    """What ends the names of companies: Inc, Ltd, Group."""
    return _listed("company", "en_US", "company_suffixes")


@cache
def _listed(provider: str, locale: str, attribute: str) -> tuple[str, ...]:
    # The lists themselves: the library's public functions only draw from them.
    module: Any = import_module(f"faker.providers.{provider}.{locale}")
    return tuple(str(name) for name in getattr(module.Provider, attribute, ()))
