"""Candidates in the form of the entity that they stand for."""

import pytest

from checkers.extraction.synonyms.forms import in_form_of, is_plural


@pytest.mark.parametrize(
    ("candidate", "entity", "expected"),
    [
        ("firm", "company", "firm"),
        ("Firm", "company", "firm"),
        ("the firm", "company", "firm"),
        ("firm", "the company", "the firm"),
        ("a firm", "The company", "The firm"),
        ("organisation", "a company", "an organisation"),
        ("firm", "companies", "firms"),
        ("old firms", "company", "old firm"),
        ("register of firms", "registers", "register of firms"),
        ("teachers", "the bakers'", "the teachers'"),
        ("men", "the bakers'", "the men's"),
        (" “firm”. ", "company", "firm"),
        ("", "company", ""),
    ],
)
def test_synonyms_take_article_number_possessive_and_casing(candidate, entity, expected):
    assert in_form_of(candidate, entity, named=False) == expected


@pytest.mark.parametrize(
    ("candidate", "entity", "expected"),
    [
        ("Maria", "Ada's", "Maria's"),
        ("James", "Ada’s", "James'"),
        ("The Hague", "Turin", "The Hague"),
        ("Acme Inc.", "Fermata", "Acme Inc"),
        ("Acme Inc.", "Fermata Ltd.", "Acme Inc."),
        ("**Maria  Lopez**", "Ada Okafor", "Maria Lopez"),
    ],
)
def test_names_take_the_possessive_only(candidate, entity, expected):
    assert in_form_of(candidate, entity, named=True) == expected


def test_plurals():
    assert is_plural("bakeries")
    assert is_plural("men")
    assert not is_plural("bakery")
    assert not is_plural("series")
    assert not is_plural("zorblax")
