"""Names of the same class from kept libraries."""

import itertools

import pytest

from checkers.extraction.synonyms.classes import EntityClass, entity_class, is_adjective, needs_article
from checkers.extraction.synonyms.forms import is_plural
from checkers.extraction.synonyms.gazetteer import folded, known_names, known_places
from checkers.extraction.synonyms.pools import MOST, pool_of


def drawn(entity, *, seed="s", count=10):
    return list(itertools.islice(pool_of(entity, entity_class(entity), seed), count))


ENTITIES = ["Ada Okafor", "Lagos", "NASA", "Italian", "April 25, 1844", "US$ 1.8 billion", "University of Turin"]


@pytest.mark.parametrize("entity", ENTITIES)
def test_names_of_the_class_are_drawn_by_the_seed(entity):
    names = drawn(entity)
    assert len(names) >= 5
    assert names == drawn(entity)
    assert names != drawn(entity, seed="t")
    assert len(set(names)) == len(names)
    assert {entity_class(name) for name in names} <= {entity_class(entity), None}


def test_there_is_an_end_to_them():
    assert len(drawn("Ada Okafor", count=10 * MOST)) == MOST


def test_people_keep_their_title_the_form_of_their_name_and_the_gender_it_tells():
    assert all(name.startswith("Dr. ") for name in drawn("Dr. Bain"))
    assert all(len(name.split()) >= 2 for name in drawn("Ada Okafor"))
    assert known_names().gender("Ingrid") == "female"
    assert all(folded(name) in known_names().female for name in drawn("Ingrid"))
    assert all(folded(name) in known_names().surnames for name in drawn("Okafor"))


def test_people_come_from_several_locales():
    assert any(not name.isascii() for name in drawn("Ada Okafor", count=MOST))


def test_a_country_is_replaced_by_a_country_and_a_state_by_a_state():
    countries = known_places()["france"]
    assert set(drawn("Peru")) <= set(countries)
    assert set(drawn("Texas")) <= set(known_places()["ohio"])


def test_a_place_with_an_article_is_replaced_by_one_with_an_article():
    assert all(name.startswith("the ") and needs_article(name) for name in drawn("the United States"))
    assert all(needs_article(name) for name in drawn("U.S."))
    assert not any(needs_article(name) for name in drawn("Peru"))


def test_a_people_is_replaced_in_its_number_and_part_of_speech():
    plurals = list(itertools.islice(pool_of("Italians", EntityClass.PEOPLE, "s"), 20))
    assert plurals
    assert all(is_plural(name) for name in plurals)
    assert all(is_adjective(name) for name in drawn("Italian"))


def test_a_chain_of_places_is_replaced_by_one():
    assert all(name.count(", ") == 1 for name in drawn("Turin, Peru"))


def test_words_that_say_what_it_is_stay():
    assert all(name.startswith("University of ") for name in drawn("University of Turin"))
    assert all(name.endswith(" County") for name in drawn("Cumberland County"))
    assert all(name.startswith("Battle of ") for name in drawn("Battle of Homs"))
    assert all(name.endswith(" Times") and "New" not in name for name in drawn("New York Times"))


@pytest.mark.parametrize("entity", ["House of Commons", "The Salt Road", "First World War", "Microsoft"])
def test_what_no_library_has_gets_no_name(entity):
    assert drawn(entity) == []


def test_an_unknown_organisation_gets_the_name_of_a_company():
    companies = pool_of("Fermata", EntityClass.ORGANISATION, "s")
    assert {entity_class(name) for name in companies} == {EntityClass.ORGANISATION}
