"""Cutting a long reference into overlapping pieces."""

from hypothesis import given
from hypothesis import strategies as st

from models.wording import pieces_of

WORDS = st.lists(st.text("abc.\n é", min_size=1, max_size=12), max_size=60).map(" ".join)


@given(WORDS, st.integers(1, 80))
def test_the_pieces_hold_all_of_it_in_order_and_fit(text: str, room: int) -> None:
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
def test_every_sentence_that_is_shorter_than_the_overlap_stands_whole_in_a_piece(counts: list[int], room: int) -> None:
    sentences = [f"It was {number}{'0' * count}." for number, count in enumerate(counts)]
    text = " ".join(sentences)
    pieces = pieces_of(text, room)
    assert all(any(sentence in piece for piece in pieces) for sentence in sentences)
