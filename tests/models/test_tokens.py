"""How text is cut into words and marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.local.tokens import tokens


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("He didn't pay $3,500.50, did he?", "He did n't pay $3,500.50 , did he ?"),
        ("Anna’s well-known dog", "Anna 's well-known dog"),
        ("Mr. O'Neil can't come", "Mr . O'Neil ca n't come"),
        ("March 22 , 2020 .", "March 22 , 2020 ."),
        ("-5% of 3.5-inch pipes in the U.S. on 22/11/2026", "-5% of 3.5-inch pipes in the U.S. on 22/11/2026"),
        ("1911-14, 11am, 5m, £2.5bn", "1911-14 , 11am , 5m , £2.5bn"),
        ("half- way (so)", "half - way ( so )"),
        ("", ""),
    ],
)
def test_text_is_cut_as_the_penn_treebank_cuts_it(text: str, cut: str) -> None:
    assert [token.text for token in tokens(text)] == cut.split()


@given(st.text())
def test_cutting_loses_nothing_but_blanks(text: str) -> None:
    found = tokens(text)
    assert "".join(token.text for token in found) == "".join(text.replace("’", "'").split())
    assert all(text[token.start : token.end].replace("’", "'") == token.text for token in found)
