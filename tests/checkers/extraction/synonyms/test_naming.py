"""Named or not, by rules alone: one case a rule, and none where the rules cannot say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.mentions import find_mentions
from checkers.extraction.synonyms.classes import EntityClass
from checkers.extraction.synonyms.naming import naming_of


def named(entity, text):
    located = find_mentions(text, [entity])
    return naming_of(located, located.entities.index(entity)).named


@pytest.mark.parametrize(
    ("entity", "text", "expected"),
    [
        # Dates and numbers, in any casing.
        ("five", "She has five shops.", True),
        ("1844", "it was 1844", True),
        ("FIVE", "SHE HAS FIVE SHOPS.", True),
        # Without a capital.
        ("my teacher", "Then my teacher met Aaron.", False),
        ("x0", "The x0 register is zero.", None),
        ("ada okafor", "ada okafor moved to lagos", None),
        ("אדה", "The name אדה is Hebrew.", None),
        # Capitals that tell.
        ("Aaron", "Then Aaron came.", True),
        ("iTunes", "The iTunes shop closed.", True),
        ("House of Commons", "He sat in the House of Commons.", True),
        ("first World War", "In the first World War he fought.", True),
        ("Asian countries", "These include some Asian countries.", None),
        ("Ada Okafor", "Ada Okafor left.", True),
        ("RV32E", "RV32E has few registers.", True),
        # A sentence that is all capitals.
        ("ADA", "ADA MOVED TO LAGOS", None),
        # Without telling capitals.
        ("The bakery", "The bakery closed.", False),
        ("Bakery owners", "Bakery owners met.", False),
        ("Apple", "Apple sells phones.", None),
        ("Turin", "Turin is large.", True),
        ("Fermata", "Fermata hired her.", None),
        ("Zorblax", "Zorblax hired her.", True),
        ("Apple", "Apple grew. Now Apple sells phones.", True),
    ],
)
def test_named_or_not(entity, text, expected):
    assert named(entity, text) is expected


def test_only_names_have_a_class():
    located = find_mentions("Ada met her teacher.", ["Ada", "teacher"])
    assert naming_of(located, 0).entity_class is EntityClass.PERSON
    assert naming_of(located, 1).entity_class is None


@given(text=st.text(max_size=30), entity=st.text(max_size=10))
def test_the_rules_take_any_text(text, entity):
    located = find_mentions(f"{text} {entity}", [entity])
    for at in range(len(located.entities)):
        assert naming_of(located, at).named in {True, False, None}
