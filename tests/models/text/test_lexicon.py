"""What the lexicon that comes with the package knows."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.lexicon import lexicon
from models.text.packed import PARTS_OF_SPEECH


@pytest.mark.parametrize(
    ("word", "lemmas"),
    [
        ("dogs", {"dog"}),
        ("ran", {"run"}),
        ("Geese", {"goose"}),
        ("hoping", {"hope"}),
        ("hopped", {"hop"}),
        ("saw", {"see", "saw"}),
        ("was", {"be"}),
        ("discuss", {"discuss"}),
        ("has", {"have"}),
        ("glorping", set()),
    ],
)
def test_inflected_words_have_their_base_forms(word: str, lemmas: set[str]) -> None:
    assert lexicon().lemmas(word) == lemmas
    assert lexicon().knows(word) is bool(lemmas)


def test_base_forms_are_told_apart_by_part_of_speech() -> None:
    assert lexicon().lemmas("leaves", "n") == {"leaf"}
    assert lexicon().lemmas("leaves", "v") == {"leave"}


def test_senses_say_how_common_a_word_is_as_each_part_of_speech() -> None:
    counts = lexicon().senses("walk")
    assert set(counts) == {"n", "v"}
    assert counts["v"] > counts["n"]
    assert lexicon().senses("walked")["v"] == counts["v"]


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("dogs", "dog", "same"),
        ("purchase", "buy", "synonym"),
        ("hot", "cold", "antonym"),
        ("moist", "dry", "antonym"),
        ("decreased", "increase", "antonym"),
        ("oaks", "tree", "narrower"),
        ("person", "woman", "broader"),
        ("Lisbon", "city", "narrower"),
        ("decide", "decision", "derived"),
        ("filled", "unfilled", "antonym"),
        ("previous", "later", "antonym"),
        ("lend", "borrow", "antonym"),
        ("window", "sadness", None),
        ("glorp", "dog", None),
    ],
)
def test_words_stand_in_the_closest_relation_there_is(one: str, other: str, relation: str | None) -> None:
    assert lexicon().relation(one, other) == relation


def test_siblings_are_other_kinds_of_the_same_and_common_ones_come_first() -> None:
    days = lexicon().siblings("monday", "n")
    assert {"tuesday", "friday", "thursday"} <= set(days)
    assert "monday" not in days
    assert days.index("tuesday") < days.index("midweek")
    assert lexicon().siblings("paris", "n")[:20].count("london") == 1
    assert "dog" in lexicon().siblings("cat", "n")
    assert lexicon().siblings("quick", "a") == ()


def test_a_name_is_written_with_its_capital() -> None:
    assert lexicon().written("monday") == "Monday"
    assert lexicon().written("Table") == "table"


@given(st.text(max_size=20))
def test_any_text_is_a_word_that_may_not_be_known(word: str) -> None:
    words = lexicon()
    known = words.knows(word)
    assert known is bool(words.lemmas(word)) is bool(words.senses(word))
    assert all(words.lemmas(word, pos) <= words.lemmas(word) for pos in PARTS_OF_SPEECH)
    assert words.relation(word, word) == "same"


@given(*[st.sampled_from("tree oak hot cold run walk big large teach teacher dog city".split())] * 2)
def test_relations_are_the_same_from_the_other_side(one: str, other: str) -> None:
    turned = {"narrower": "broader", "broader": "narrower"}
    relation = lexicon().relation(one, other)
    assert lexicon().relation(other, one) == turned.get(relation or "", relation)


def test_threads_may_share_it() -> None:
    words = [*"dog cat house run walk hot cold quickly teacher".split()] * 50
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lexicon().lemmas, words)) == [lexicon().lemmas(word) for word in words]


def test_the_commonest_meaning_alone_may_decide_what_a_word_stands_for() -> None:
    words = lexicon()
    assert words.is_mainly("river", "stream", "n")
    assert words.is_mainly("Lagos", "location", "n")
    assert words.is_a("party", "person", "n")
    assert not words.is_mainly("party", "person", "n")


@pytest.mark.parametrize(
    ("word", "spelling"), [("turin", "Turin"), ("nasa", "NASA"), ("Bakery", "bakery"), ("napoleon", "Napoleon")]
)
def test_a_word_that_names_something_in_some_meaning_is_spelt_as_the_name(word: str, spelling: str) -> None:
    assert lexicon().spelling(word) == spelling
