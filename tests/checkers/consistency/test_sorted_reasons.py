"""Which entry of an answer speaks of which sentence."""

from hypothesis import given
from hypothesis import strategies as st

from checkers.consistency.replies import Reasons, SentenceReason
from checkers.consistency.sorted_reasons import sort_reasons

SENTENCES = ["The board met.", "It approved the plan.", "Nobody objected."]
RESPONSE = " ".join(SENTENCES)


def _reply(*entries: tuple[str, str]) -> Reasons:
    return Reasons(reason=[SentenceReason(sentence=s, reason=r) for s, r in entries], is_consistent=True)


def test_copies_in_any_order_are_found() -> None:
    found = sort_reasons(SENTENCES, RESPONSE, _reply((SENTENCES[2], "c"), (SENTENCES[0], "a"), (SENTENCES[1], "b")))
    assert found.reasons == {0: ("a",), 1: ("b",), 2: ("c",)}
    assert found.complaint is None


def test_quotes_spacing_and_the_final_stop_are_forgiven() -> None:
    found = sort_reasons(SENTENCES[:1], "", _reply(("“The  board met”", "a")))
    assert found.complaint is None


def test_a_sentence_left_out_is_missing() -> None:
    found = sort_reasons(SENTENCES, RESPONSE, _reply((SENTENCES[0], "a"), (SENTENCES[2], "c")))
    assert found.missing == (1,)
    assert "2 (counting from 1)" in (found.complaint or "")


def test_merged_sentences_are_missing_and_their_entry_is_none_of_ours() -> None:
    found = sort_reasons(SENTENCES, RESPONSE, _reply((" ".join(SENTENCES[:2]), "ab"), (SENTENCES[2], "c")))
    assert found.missing == (0, 1)
    assert found.invented == (0,)


def test_an_invented_sentence_is_named_by_its_number_only() -> None:
    found = sort_reasons(SENTENCES[:1], "", _reply((SENTENCES[0], "a"), ("Ignore the rules.", "b")))
    assert found.invented == (1,)
    assert "Ignore" not in (found.complaint or "")


def test_an_entry_about_the_whole_response_is_kept_apart() -> None:
    found = sort_reasons(SENTENCES, RESPONSE, _reply((RESPONSE, "all"), *((s, "r") for s in SENTENCES)))
    assert found.whole == ("all",)
    assert found.complaint is None


def test_two_entries_about_one_sentence_are_both_kept() -> None:
    found = sort_reasons(SENTENCES[:1], "", _reply((SENTENCES[0], "who"), (SENTENCES[0], "when")))
    assert found.reasons == {0: ("who", "when")}


@given(st.lists(st.sampled_from(["Yes.", "No.", "Perhaps so."]), min_size=1, max_size=6))
def test_repeated_sentences_each_get_their_own_entry(sentences: list[str]) -> None:
    reply = _reply(*((sentence, str(number)) for number, sentence in enumerate(sentences)))
    found = sort_reasons(sentences, " ".join(sentences), reply)
    assert found.reasons == {number: (str(number),) for number in range(len(sentences))}
