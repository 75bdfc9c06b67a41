"""Negatives by rule: what each relation changes, what it leaves alone, and that the tagging gives its name back."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.retrieval.tagging import tag
from lab.audit.edits import RULES, by_rule

TEXTS = (
    "The old captain of the ferry (a widower) bought a red bicycle in Trondheim for 420 kroner.",
    "Maria moved from Lisbon to Utrecht in 2014, and her brother left Porto in 2016.",
    "The council will publish its final report on 12 March, after three long hearings.",
    "In the annex, the new printer is not connected to the office network.",
    "the farmer sold 36 sheep and 14 goats and has bought a second tractor for the lower field .",
    "She quickly opened the heavy door and found the missing letters in a drawer.",
    "Our warehouse in Lund had accepted the crates from Oslo before the driver had signed the receipt.",
)


def made(text: str, relation: str, seeds: int = 25) -> set[str]:
    """All that some seeds make of the text."""
    return {found for seed in range(seeds) if (found := by_rule(text, relation, Random(seed))) is not None}


@pytest.mark.parametrize("relation", RULES)
def test_each_rule_finds_places_and_its_negatives_carry_its_name(relation):
    found = [(text, other) for text in TEXTS if (other := by_rule(text, relation, Random(0))) is not None]
    assert len(found) >= 2
    for text, other in found:
        assert other != text
        assert tag(text, other).relation == relation
    assert [by_rule(text, relation, Random(7)) for text in TEXTS] == [by_rule(it, relation, Random(7)) for it in TEXTS]


def test_a_swap_exchanges_two_names_or_two_numbers_of_one_sort():
    swapped = "Maria moved from Porto to Utrecht in 2014, and her brother left Lisbon in 2016."
    assert swapped in made(TEXTS[1], "word_swap")
    assert made("The lamp costs $20 in shops and some $30 at fairs.", "word_swap") == {
        "The lamp costs $30 in shops and some $20 at fairs."
    }
    assert not made("The lamp costs $20 in shops and some 30 at fairs.", "word_swap")
    assert not made("We saw Rahel and Petra.", "word_swap")


DENIED = [
    ("The lift is working again.", "The lift is not working again."),
    ("The lift is not working.", "The lift is working."),
    ("The board has approved the plan.", "The board has not approved the plan."),
    ("You can return worn shoes.", "You can not return worn shoes."),
]


@pytest.mark.parametrize(("text", "denied"), DENIED)
def test_a_not_more_or_less(text, denied):
    assert denied in made(text, "negative_expression")


@pytest.mark.parametrize(
    "text",
    [
        "Which lift is working?",
        "The clerk didn’t say that the lift is working.",
        "Nobody said that the lift is working.",
        "The board has a plan.",
    ],
)
def test_questions_and_what_is_negated_already_get_no_not(text):
    assert not made(text, "negative_expression")


def test_what_is_taken_out_leaves_the_rest_as_it_was():
    assert made("The clerk (a widower) sings.", "word_deletion") == {"The clerk sings."}
    assert made("She quickly left the old town.", "word_deletion") == {"She left the old town."}
    assert made("They sold almost 40 lamps.", "word_deletion") == {"They sold 40 lamps."}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("It costs $20.50 a litre.", r"It costs \$\d+\.\d\d a litre\."),
        ("It grew by 35% here.", r"It grew by \d+% here\."),
        ("It opens on 12 March.", r"It opens on (?:[1-9]|1\d|2[0-8]) March\."),
        ("It was built in 1904.", r"It was built in [12]\d{3}\."),
    ],
)
def test_prices_percentages_days_and_years_stay_ones(text, pattern):
    others = made(text, "quantifier_substitution")
    assert others
    assert all(re.fullmatch(pattern, other) for other in others)


@given(st.integers(0, 10**9), st.integers(0, 2**32))
@settings(max_examples=60)
def test_numbers_change_and_keep_how_they_are_written(value, seed):
    for written in (f"{value}", f"{value:,}", f"{value / 100:.2f}"):
        other = by_rule(f"The tank holds {written} units.", "quantifier_substitution", Random(seed))
        if other is None:
            # One alone has its noun in the singular.
            assert float(written) == 1
            continue
        new = other.removeprefix("The tank holds ").removesuffix(" units.")
        assert new != written
        assert len(new.partition(".")[2]) == len(written.partition(".")[2])
        assert ("," in written) or ("," not in new)
        # The paper's factor is in [0, 2].
        assert float(new.replace(",", "")) <= max(2 * float(written.replace(",", "")) + 1, 20)


@given(st.text(max_size=60), st.sampled_from(sorted(RULES)))
def test_any_text_has_a_negative_or_none(text, relation):
    other = by_rule(text, relation, Random(1))
    assert other is None or other != text


@pytest.mark.parametrize(
    "text", ["Yes.", "", "?!", "Hm", "It came 3rd.", "In the 1870s.", "Bolts of type B12.", "1914-1918.", "(Aside.)"]
)
def test_a_text_without_a_safe_place_has_none(text):
    assert [by_rule(text, relation, Random(0)) for relation in RULES] == [None] * len(RULES)


def test_what_is_longer_than_a_sentence_is_left_alone():
    assert by_rule("The ball (a red one) is here. " * 40, "word_deletion", Random(0)) is None
