"""Parts of speech in context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.tagger import read_words, tag_words

SENTENCES = [
    "She/PRP walks/VBZ to/TO the/DT old/JJ market/NN ./.",
    "his/PRP$ walks/NNS are/VBP pleasant/JJ",
    "they/PRP might/MD increase/VB the/DT increase/NN",
    "he/PRP likes/VBZ to/TO book/VB hotels/NNS",
    "the/DT book/NN was/VBD stolen/VBN yesterday/RB",
    "two/CD children/NNS ran/VBD quickly/RB",
    "it/PRP does/VBZ n't/RB rain/VB in/IN the/DT desert/NN",
    "A/DT tall/JJ woman/NN called/VBD Brimsby/NNP sings/VBZ loudly/RB",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_are_tagged_by_what_stands_around_them(sentence: str) -> None:
    words, tags = zip(*(pair.rsplit("/", 1) for pair in sentence.split()), strict=True)
    assert tag_words(words) == tags


@pytest.mark.parametrize("sentence", SENTENCES[:-1])
def test_case_changes_no_tag(sentence: str) -> None:
    words = [pair.rsplit("/", 1)[0] for pair in sentence.split()]
    assert tag_words([word.lower() for word in words]) == tag_words(words)
    assert tag_words([word.upper() for word in words]) == tag_words(words)


def test_a_sentence_fits_better_than_its_words_in_disorder() -> None:
    fit = read_words("the dog quickly ate the bread".split()).fit
    assert fit > read_words("the the quickly bread dog ate".split()).fit


@given(st.lists(st.text(min_size=1, max_size=12), max_size=30))
def test_every_word_gets_a_tag(words: list[str]) -> None:
    assert len(tag_words(words)) == len(words)


def test_a_very_long_text_is_tagged() -> None:
    assert len(tag_words(["word", "and"] * 2000)) == 4000
