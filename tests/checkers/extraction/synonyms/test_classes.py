"""The classes that rules give to entities; where a rule may be wrong, none."""

import pytest

from checkers.extraction.synonyms.classes import EntityClass, entity_class, needs_article


@pytest.mark.parametrize(
    ("entity", "before", "expected"),
    [
        ("Ada Okafor", "", EntityClass.PERSON),
        ("Mirela Kovac", "", EntityClass.PERSON),
        ("Dr. Bain", "", EntityClass.PERSON),
        ("King Charles", "", EntityClass.PERSON),
        ("Tom Baker", "", EntityClass.PERSON),
        ("Rittikrai", "He worked with the actor ", EntityClass.PERSON),
        ("Lagos", "", EntityClass.PLACE),
        ("the United States", "", EntityClass.PLACE),
        ("US", "", EntityClass.PLACE),
        ("U.K.", "", EntityClass.PLACE),
        ("Cumberland County", "", EntityClass.PLACE),
        ("Wallonia, Belgium", "", EntityClass.PLACE),
        ("Soulanges", "He was born in ", EntityClass.PLACE),
        ("University of Turin", "", EntityClass.ORGANISATION),
        ("Vigra Church", "", EntityClass.ORGANISATION),
        ("Miller Group", "", EntityClass.ORGANISATION),
        ("NASA", "", EntityClass.ORGANISATION),
        ("Italian", "", EntityClass.PEOPLE),
        ("British", "", EntityClass.PEOPLE),
        ("Battle of Homs", "", EntityClass.EVENT),
        ("April 25, 1844", "", EntityClass.DATE),
        ("the late 1950s", "", EntityClass.DATE),
        ("seventy years", "", EntityClass.DATE),
        ("19th century", "", EntityClass.DATE),
        ("Monday", "", EntityClass.DATE),
        ("35 AD", "", EntityClass.DATE),
        ("US$ 1.826 billion", "", EntityClass.NUMBER),
        ("five", "", EntityClass.NUMBER),
        ("25%", "", EntityClass.NUMBER),
        ("16 general-purpose registers", "", EntityClass.NUMBER),
        ("Microsoft", "", None),
        ("The Salt Road", "", None),
        ("bakery", "", None),
        ("RV32E", "", None),
        ("Billboard 200", "", None),
        ("2010 Winter Olympics", "He won at the ", None),
    ],
)
def test_the_class_of_an_entity(entity, before, expected):
    assert entity_class(entity, before) is expected


def test_a_month_without_a_capital_is_another_word():
    assert entity_class("may") is None


def test_places_that_take_an_article():
    assert needs_article("Netherlands")
    assert needs_article("United Kingdom")
    assert not needs_article("France")
