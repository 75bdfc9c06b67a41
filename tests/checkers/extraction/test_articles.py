"""A or an, by how a phrase is read aloud."""

import pytest

from checkers.extraction.articles import indefinite_article


@pytest.mark.parametrize(
    ("phrase", "article"),
    [
        ("bakery", "a"),
        ("old bakery", "an"),
        ("hour", "an"),
        ("European", "a"),
        ("union", "a"),
        ("unused mill", "an"),
        ("one-way street", "a"),
        ("NBC", "an"),
        ("UN", "a"),
        ("MBA", "an"),
        ("“Italian”", "an"),
        ("8", "an"),
        ("80-year lease", "an"),
        ("11th", "an"),
        ("18", "an"),
        ("1,800", "a"),
        ("1850 law", "an"),
        ("110", "a"),
        ("7", "a"),
        ("$5 note", "a"),
        ("", "a"),
    ],
)
def test_the_article_goes_by_the_sound(phrase, article):
    assert indefinite_article(phrase) == article
