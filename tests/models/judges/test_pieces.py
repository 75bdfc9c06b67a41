"""Cutting a long reference into overlapping pieces."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from models.sentences import pieces_of

WORDS = st.lists(st.text("abc.\n é", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(WORDS, st.integers(1, 80))
def test_the_pieces_hold_all_of_it_in_order_and_fit(text: str, room: int) -> None:
    pieces = pieces_of(text, room)
    assert all(0 <= piece.stop - piece.start <= room for piece in pieces)
    assert (pieces[0].start, pieces[-1].stop) == (0, len(text))
    assert all(before.start < after.start <= before.stop < after.stop for before, after in pairwise(pieces))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60), st.integers(200, 400))
def test_every_sentence_that_is_shorter_than_the_overlap_stands_whole_in_a_piece(counts: list[int], room: int) -> None:
    sentences = [f"It was {number}{'0' * count}." for number, count in enumerate(counts)]
    text = " ".join(sentences)
    pieces = [text[piece] for piece in pieces_of(text, room)]
    assert all(any(sentence in piece for piece in pieces) for sentence in sentences)


def test_a_piece_ends_with_a_paragraph_where_it_can() -> None:
    text = "One thing is told here. And another.\n\n" * 10
    first, *_ = pieces_of(text, 100)
    assert text[: first.stop].endswith("another.\n\n")
