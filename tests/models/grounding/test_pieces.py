"""References cut at sentences into pieces: nothing is lost, nothing is changed."""

from hypothesis import given
from hypothesis import strategies as st

from models.grounding.pieces import halves_of, nearest_sentence, pieces_of

TEXTS = st.text("ab .\n!?\ud800é", max_size=200)


@given(TEXTS, st.integers(1, 20))
def test_pieces_hold_all_words_in_their_order_and_no_more_than_the_limit(text: str, limit: int) -> None:
    pieces = pieces_of(text, limit)

    sound = text.encode("utf-8", "replace").decode()
    assert "".join("".join(pieces).split()) == "".join(sound.split())
    assert all(0 < len(piece.split()) <= limit for piece in pieces)
    assert all(piece in sound for piece in pieces)


def test_a_piece_ends_with_a_sentence_where_one_fits() -> None:
    text = "The mill turns slowly. It grinds rye and oats. The miller sleeps.\n\nHis cat does not."

    assert pieces_of(text, 9) == [
        "The mill turns slowly. It grinds rye and oats.",
        "The miller sleeps.\n\nHis cat does not.",
    ]


def test_a_sentence_longer_than_a_piece_is_divided_between_words() -> None:
    assert pieces_of("one two three four five. Six.", 2) == ["one two", "three four", "five.", "Six."]


@given(st.text("ab .\n!?é", max_size=200))
def test_halves_hold_everything_but_white_space(text: str) -> None:
    halves = halves_of(text)

    assert "".join("".join(halves).split()) == "".join(text.split())
    assert len(halves) <= 2
    if len(text.strip()) > 1:
        assert all(len(half) < len(text) for half in halves)


def test_halves_are_cut_between_sentences_then_words_then_characters() -> None:
    assert halves_of("It is one. It is two. It is three.") == ["It is one. It is two.", "It is three."]
    assert halves_of("one two three") == ["one two", "three"]
    assert halves_of("一二三四") == ["一二", "三四"]
    assert halves_of("x") == ["x"]


def test_the_nearest_sentence_shares_most_words_with_the_claim() -> None:
    piece = "The mill turns. The miller grinds rye. His cat sleeps."

    assert nearest_sentence(piece, "Rye is ground by the miller.") == "The miller grinds rye."
    assert nearest_sentence(piece, "xyz") == "The mill turns."
