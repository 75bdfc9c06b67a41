"""Dividing responses into sentences, long texts into pieces, and text into words and marks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.local.tokens import tokens
from models.wording import pieces_of, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith paid $3.50. He left.", ["Dr. Smith paid $3.50.", "He left."]),
        ("- first point\n- second point", ["first point", "second point"]),
        ("1. Open the lid. Then\nwait.\n2. Close it.", ["Open the lid.", "Then\nwait.", "Close it."]),
        ("Return it within this many days:\n90) days.", ["Return it within this many days:", "90) days."]),
        ("A. Smith came.\n(a) He sat.\n(b) He left.", ["A. Smith came.", "He sat.", "He left."]),
        ("First. 2. Second.", ["First.", "2. Second."]),
        ("It has vitamin A\u00a0. He left.", ["It has vitamin A\u00a0.", "He left."]),
        ("这是文。下一句！", ["这是文。", "下一句！"]),
        ("It ended.\n\n***\n", ["It ended.\n\n***"]),
        ("", []),
        (" \n ... ", []),
    ],
)
def test_divides_as_a_reader_would(text: str, expected: list[str]):
    assert [sentence.text for sentence in split_sentences(text)] == expected


@given(st.text())
def test_every_letter_is_in_exactly_one_sentence_at_its_offset(text: str):
    sentences = split_sentences(text)
    assert all(text[one.start : one.end] == one.text for one in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    covered = {place for one in sentences for place in range(one.start, one.end)}
    # Only a list marker may stand outside: a single letter or up to three digits.
    outside = "".join(character if place not in covered else " " for place, character in enumerate(text))
    assert all(len(word.strip("().#")) <= 3 for word in outside.split() if any(c.isalpha() for c in word))


WORDS = st.lists(st.text("abc.\n é", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(WORDS, st.integers(1, 80))
def test_the_pieces_hold_all_of_it_in_order_and_fit(text: str, room: int):
    pieces = pieces_of(text, room)
    assert all(len(piece) <= room for piece in pieces)
    reached = 0
    for piece in pieces:
        # The last place that leaves no gap.
        place = text.rfind(piece, 0, reached + len(piece))
        assert place >= 0
        reached = place + len(piece)
    assert reached == len(text)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60), st.integers(200, 400))
def test_every_sentence_that_is_shorter_than_the_overlap_stands_whole_in_a_piece(counts: list[int], room: int):
    sentences = [f"It was {number}{'0' * count}." for number, count in enumerate(counts)]
    text = " ".join(sentences)
    pieces = pieces_of(text, room)
    assert all(any(sentence in piece for piece in pieces) for sentence in sentences)


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
def test_text_is_cut_as_the_penn_treebank_cuts_it(text: str, cut: str):
    assert [token.text for token in tokens(text)] == cut.split()


@given(st.text())
def test_cutting_loses_nothing_but_blanks(text: str):
    found = tokens(text)
    assert "".join(token.text for token in found) == "".join(text.replace("’", "'").split())
    assert all(text[token.start : token.end].replace("’", "'") == token.text for token in found)
