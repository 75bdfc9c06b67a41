"""The 13 questions about a statement, and the answers that are right."""

import pytest

from checkers.longtail.corpus import Statement
from checkers.longtail.templates import TEMPLATES, polarity, templates_of
from checkers.longtail.yes_or_no import meaning

STATEMENT = Statement(
    rule="r",
    domain="locational",
    distribution="tail",
    premise="Person X lives in Bhutan",
    conclusion="Person X cannot walk to the sea",
    negation="Person X can walk to the sea",
    question="can Person X walk to the sea",
    answer="no",
)
POSITIVE = STATEMENT.model_copy(
    update={"conclusion": STATEMENT.negation, "negation": STATEMENT.conclusion, "answer": "yes"}
)
INCORRECT = STATEMENT.model_copy(update={"correct": False})


def test_there_are_thirteen_with_the_labels_of_the_paper():
    labels = [template.answer(STATEMENT) for template in TEMPLATES.values()]
    assert list(TEMPLATES) == list(range(1, 14))
    assert labels == [*"yes yes true right yes yes".split(), "no", *"no no false wrong no no".split()]


def test_only_the_seventh_depends_on_the_sign_of_the_conclusion():
    differing = [number for number, one in TEMPLATES.items() if one.answer(STATEMENT) != one.answer(POSITIVE)]
    assert differing == [7]
    assert TEMPLATES[7].answer(POSITIVE) == "yes"


def test_six_are_positive_and_seven_negative():
    for statement in (STATEMENT, POSITIVE):
        signs = [polarity(number, one.answer(statement)) for number, one in TEMPLATES.items()]
        assert signs == ["positive"] * 6 + ["negative"] * 7


@pytest.mark.parametrize("number", TEMPLATES)
def test_a_question_holds_the_premise_and_the_part_that_it_asks_about(number: int):
    asked = TEMPLATES[number].question(STATEMENT)
    parts = {
        "conclusion": {1, 2, 3, 4, 5, 13},
        "negation": {6, 8, 9, 10, 11, 12},
        "question": {7},
    }
    (part,) = (name for name, numbers in parts.items() if number in numbers)
    assert STATEMENT.premise in asked
    # What begins a sentence begins with a capital.
    assert getattr(STATEMENT, part)[1:] in asked


@pytest.mark.parametrize("number", TEMPLATES)
def test_a_question_names_the_words_of_its_answer(number: int):
    template = TEMPLATES[number]
    words = {"true": "true or false", "right": "right or wrong"}
    expected = template.answer(STATEMENT)
    affirming = {"false": "true", "wrong": "right"}.get(expected, expected)
    assert words.get(affirming, "yes or no") in template.question(STATEMENT).lower()


def test_braces_in_a_statement_stay_as_they_are():
    odd = STATEMENT.model_copy(update={"premise": "Person X {about} {0}"})
    assert "Person X {about} {0}." in TEMPLATES[1].question(odd)


def test_of_an_incorrect_statement_only_what_is_known_is_asked_and_denied():
    asked = list(templates_of(INCORRECT))
    assert [template.number for template in asked] == [1, 2, 3, 4, 5, 6]
    assert [template.answer(INCORRECT) for template in asked] == "no no false wrong no no".split()
    assert not any(meaning(template.answer(INCORRECT)) for template in asked)
    assert {polarity(template.number, template.answer(INCORRECT)) for template in asked} == {"negative"}


def test_all_thirteen_are_asked_of_a_correct_one():
    assert [template.number for template in templates_of(STATEMENT)] == list(range(1, 14))
