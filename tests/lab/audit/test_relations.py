"""The relation that two texts are tagged with."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from checkers.closed_class import NEGATORS
from lab.audit.relations import RELATIONS, relation_of

TABLE_1 = [
    ("The only industry in the town is light farming on the small rice paddies.",
     "The light industry in the town is only farming on the small rice paddies.", "word_swap"),
    ("Carl borrowed a book from Richard, but the book was unreadable to him.",
     "Carl borrowed a book from Richard , but the book was unreadable to Richard.", "object_substitution"),
    ("I think we know what we ’re going to speak about.", "I think we be what we ’re going to speak about.",
     "action_substitution"),
    ("I appreciate it, that is good to know.", "I do not appreciate it, that is good to know.",
     "negative_expression"),
    ("But it is Jackie saying it so sorta disappointing.", "But it is Jackie saying it so sorta upbeat.",
     "negative_expression"),
    # The table prints the base twice; the positive lacks the word that was meant.
    ("In 2012, Jordan started all 16 games while recording 8.0 sacks and 54 tackles.",
     "In 2012, Jordan started 16 games while recording 8.0 sacks and 54 tackles.", "word_deletion"),
    ("In 1865, an open sewer system replaced the underground sewers.",
     "In 3016 , an open sewer system replaced the underground sewers.", "quantifier_substitution"),
    ("The second series was well received by the critics better than the first.",
     "The first series was recorded by critics better than the second.", "back_translation_error"),
    ("The sewing machine was built in 1804.",
     ("In 1804, an invention was built by Englishmen Thomas Stone and James Henderson, and a device for embroidering "
      "was constructed by John Duncan in Scotland."), "inference_error"),
]  # fmt: skip
"""The paper's examples: base and negative."""

CERTAIN = [
    ("They were late, so the ferry left", "the tourists were late , so the ferry left .", "object_substitution"),
    ("The lake froze last winter.", "The lake didn't freeze last winter.", "negative_expression"),
    ("The tram can be seen from here", "The tram cannot be seen from here", "negative_expression"),
    ("Two of the pumps leak.", "Seven of the pumps leak.", "quantifier_substitution"),
    # Most words are others; and a negation in the place of too many words.
    ("Nurses warn guards.", "Pilots warn cooks.", "other"),
    ("He very often locks the gate.", "He never locks the gate.", "back_translation_error"),
    # Hyphens are cut in both texts if in one.
    ("The self - made man sang.", "The self-made man danced.", "action_substitution"),
    ("", "The baker sings.", "other"),
    ("?!", "...", "other"),
]
"""Figures, negations, words of grammar, order and number of words tell these."""

GUESSED = [
    ("The nurse opened the window.", "The nurse opened the umbrella.", "object_substitution"),
    ("The plan of the port follows the old plan", "The map of the port follows the old map", "object_substitution"),
    ("They were tired after the match.", "The old referee was tired after the match.", "object_substitution"),
    ("Is there a bus to the harbour?", "Is there a bus to the airport?", "object_substitution"),
    ("The council rejected the bridge.", "The council approved the bridge.", "action_substitution"),
    ("The council rejected the bridge.", "The council rejects the bridge.", "action_substitution"),
    ("She wants to repair the clock.", "She wants to sell the clock.", "action_substitution"),
    ("Did she buy some old chairs?", "Did she sell some old chairs?", "action_substitution"),
    ("They must walk to the old walk.", "They must drive to the old drive.", "action_substitution"),
    ("How do I open an account?", "How do I close an account?", "action_substitution"),
    ("The soup is hot.", "the soup is cold", "negative_expression"),
    ("I want a cheap seat.", "I want an expensive seat.", "negative_expression"),
    ("She drives very fast.", "She drives very slowly.", "negative_expression"),
    ("The self-made man sang.", "The self-taught man sang.", "negative_expression"),
    ("She saw some swans.", "She didn't see any swans.", "negative_expression"),
]
"""The class of a word that replaces another is told by the words beside it, which may mislead."""


@pytest.mark.parametrize(("query", "matched", "relation"), [*TABLE_1, *CERTAIN])
def test_a_pair_is_tagged_with_its_relation_in_either_direction(query: str, matched: str, relation: str) -> None:
    assert relation_of(query, matched) == relation_of(matched, query) == relation


def test_four_of_five_words_replaced_have_the_relation_of_their_class() -> None:
    right = [relation_of(query, matched) == relation for query, matched, relation in GUESSED]
    assert sum(right) >= 0.8 * len(GUESSED)


WORDS = "the small grey cat near seven old houses by a quiet river sees us often while rain falls".split()
sentences = st.permutations(WORDS).map(lambda words: words[:10])


@given(sentences, st.randoms(use_true_random=False))
def test_any_other_order_is_a_word_swap(words: list[str], chance: object) -> None:
    other = list(words)
    chance.shuffle(other)  # type: ignore[attr-defined]
    assume(other != words)
    assert relation_of(" ".join(words), " ".join(other).capitalize() + " .") == "word_swap"


@given(sentences, st.sets(st.integers(0, 9), min_size=1, max_size=9))
def test_any_skipped_words_are_a_deletion_in_both_directions(words: list[str], left_out: set[int]) -> None:
    kept = [word for at, word in enumerate(words) if at not in left_out]
    here, there = " ".join(words), " ".join(kept)
    assert relation_of(here, there) == relation_of(there, here) == "word_deletion"


@given(sentences, st.sampled_from(sorted(NEGATORS)), st.integers(0, 10))
def test_one_negating_word_more_is_a_negative_expression(words: list[str], negator: str, at: int) -> None:
    other = [*words[:at], negator, *words[at:]]
    assert relation_of(" ".join(words), " ".join(other)) == "negative_expression"


@given(sentences, st.lists(st.tuples(st.integers(0, 9), st.integers(2, 999), st.integers(1000, 9999)), min_size=1))
def test_other_numbers_are_a_quantifier_substitution(words: list[str], numbers: list[tuple[int, int, int]]) -> None:
    query, matched = list(words), list(words)
    for at, number, other in numbers[:3]:
        query[at], matched[at] = str(number), str(other)
    assert relation_of(" ".join(query), " ".join(matched)) == "quantifier_substitution"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_get_a_tag(query: str, matched: str) -> None:
    assert relation_of(query, matched) in RELATIONS
    assert relation_of(query, query) == "other"


def test_long_texts_of_few_words_are_tagged_in_time() -> None:
    """Nothing is told apart word by word where that would take minutes."""
    assert relation_of("north south " * 2000, "south south north " * 1400) == "back_translation_error"
