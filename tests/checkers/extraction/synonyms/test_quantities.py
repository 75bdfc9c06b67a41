"""Dates and numbers of the same form with other values."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.synonyms.classes import EntityClass, quantity_class
from checkers.extraction.synonyms.quantities import other_quantity

FORMS = {
    "April 25 , 1844": r"[A-Z][a-z]+ \d{1,2} , \d{4}",
    "25 Apr. 1844": r"\d{1,2} [A-Z][a-z]{2,3}\. \d{4}",
    "MAY 1990": r"[A-Z]{3,} \d{4}",
    "the late 1950s": r"the late \d{3}0s",
    "19th century": r"\d{1,2}(st|nd|rd|th) century",
    "11:35 pm": r"\d{1,2}:\d\d pm",
    "Monday": r"[A-Z][a-z]+day",
    "US$ 1.826 billion": r"US\$ \d\.\d{3} billion",
    "5,000": r"\d,000",
    "25%": r"\d\d%",
    "two": r"[a-z]+",
    "Seven months": r"[A-Z][a-z]+ months",
    "thirty-four percent": r"[a-z]+ty-[a-z]+ percent",
    "a hundred": r"a [a-z]+",
    "first": r"[a-z]+",
    "13–15": r"\d\d–\d\d",
    "1891 to 1892": r"\d{4} to \d{4}",
    "16 general-purpose registers": r"\d\d general-purpose registers",
}


@pytest.mark.parametrize("entity", FORMS)
@given(random=st.randoms(use_true_random=False))
def test_another_one_has_the_form_and_the_class_but_not_the_value(entity, random):
    other = other_quantity(entity, random)
    assert other is not None
    assert other != entity
    assert re.fullmatch(FORMS[entity], other)
    assert quantity_class(other) is quantity_class(entity)


@pytest.mark.parametrize("entity", ["one", "1", "one week", "1 kilometre", "Ada", "bakery", "RV32E"])
def test_what_counts_one_and_what_is_no_quantity_has_none(entity):
    assert other_quantity(entity, Random(1)) is None


@given(random=st.randoms(use_true_random=False))
def test_spans_of_time_stay_as_long_and_ranges_rise(random):
    first, last = map(int, re.findall(r"\d+", other_quantity("1891 to 1892", random) or ""))
    assert last - first == 1
    low, high = map(int, re.findall(r"\d+", other_quantity("13–15", random) or ""))
    assert low < high


@given(random=st.randoms(use_true_random=False))
def test_dates_exist(random):
    month, day, year = re.fullmatch(r"(\w+) (\d+), (\d+)", other_quantity("February 28, 2020", random) or "").groups()
    assert quantity_class(month) is EntityClass.DATE
    assert 1 <= int(day) <= 28
    assert int(year) <= 2025


@pytest.mark.parametrize(("entity", "endings"), [("19th", {"2": "nd", "3": "rd"})])
def test_ordinals_end_as_they_should(entity, endings):
    made = {other_quantity(entity, Random(seed)) for seed in range(200)}
    for ordinal in made - {None}:
        number, ending = ordinal[:-2], ordinal[-2:]
        assert ending == ("th" if len(number) == 2 and number[0] == "1" else endings.get(number[-1], "th"))
