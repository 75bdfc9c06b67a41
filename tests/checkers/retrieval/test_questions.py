"""Texts that ask, with or without a mark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.retrieval.questions import is_question

ASKING = [
    "Where is the head office?",
    "where is the head office",
    "In which year was the mill built",
    "Is the pool open today",
    "Can I return worn shoes",
    "My screen flickers. What can I do?",
    "The mill was built when?",
    "Is it “free”?”",
    "門は何時に開きますか？",
]
STATING = [
    "The pool is open today.",
    "head office address",
    "What a view!",
    "Which pass I bought is of no account.",
    "Can openers",
    "Is it? It is.",
    "",
    "…",
]


@pytest.mark.parametrize("text", ASKING)
def test_a_text_that_asks_is_a_question_with_or_without_its_mark(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", STATING)
def test_a_text_that_states_or_only_names_is_none(text: str) -> None:
    assert not is_question(text)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(is_question(text), bool)
