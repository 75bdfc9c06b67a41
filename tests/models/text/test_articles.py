"""A or an, by how a phrase is read aloud."""

import subprocess
import sys

import pytest

from models.text.articles import indefinite_article


@pytest.mark.parametrize(
    ("phrase", "article"),
    [
        ("bakery", "a"),
        ("old bakery", "an"),
        ("hour", "an"),
        ("European", "a"),
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


def test_the_grammar_is_there_without_parsing_itself_again():
    code = "import sys; from models.text.grammar import grammar; print(grammar().a('hour'), 'typeguard' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "an hour False\n"
