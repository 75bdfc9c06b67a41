"""Dividing responses into sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.wording import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith paid $3.50. He left.", ["Dr. Smith paid $3.50.", "He left."]),
        ("- first point\n- second point", ["first point", "second point"]),
        ("1. Open the lid. Then\nwait.\n2. Close it.", ["Open the lid.", "Then\nwait.", "Close it."]),
        ("# Summary\n\nIt rained.", ["Summary", "It rained."]),
        ("Return it within this many days:\n90) days.", ["Return it within this many days:", "90) days."]),
        ("A. Smith came.\n(a) He sat.\n(b) He left.", ["A. Smith came.", "He sat.", "He left."]),
        ("First. 2. Second.", ["First.", "2. Second."]),
        ("How many? 7.", ["How many?", "7."]),
        ("这是文。下一句！", ["这是文。", "下一句！"]),
        ("It ended.\n\n***\n", ["It ended.\n\n***"]),
        ("42", ["42"]),
        ("", []),
        (" \n ... ", []),
    ],
)
def test_divides_as_a_reader_would(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == expected


@given(st.text())
def test_every_letter_is_in_exactly_one_sentence_at_its_offset(text: str) -> None:
    sentences = split_sentences(text)
    assert all(text[one.start : one.end] == one.text for one in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    covered = {place for one in sentences for place in range(one.start, one.end)}
    # Only a list marker may stand outside: a single letter or up to three digits.
    outside = "".join(character if place not in covered else " " for place, character in enumerate(text))
    assert all(len(word.strip("().#")) <= 3 for word in outside.split() if any(c.isalpha() for c in word))
