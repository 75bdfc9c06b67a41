"""What counts as a question, and what sort of thing it asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.questions import asked, is_question
from models.text.words import normalise, words

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


SORTS = [
    ("When does the pool open?", "time", ""),
    ("In which year was the mill built?", "time", "year"),
    ("What was the date of the fire?", "time", "date"),
    ("How many rooms are there?", "number", "many"),
    ("What is the population of Lund?", "number", "population"),
    ("Who founded the museum?", "person", ""),
    ("What former president opened the bridge?", "person", "president"),
    ("Where is the head office?", "place", ""),
    ("Lund is in which country?", "place", "country"),
    ("Why was the bridge closed?", "reason", ""),
    ("For what reason was the bridge closed?", "reason", "reason"),
    ("How do I reset my password?", "manner", ""),
    ("Which pass covers the night bus?", "thing", ""),
    ("Is the bridge open when it rains?", "yes_no", ""),
    ("The man who sold the mill bought what?", "thing", ""),
    ("Timetable of the ferry?", "thing", ""),
]


@pytest.mark.parametrize(("question", "sort", "focus"), SORTS)
def test_what_a_question_asks_for_and_the_word_that_says_so(question: str, sort: str, focus: str) -> None:
    found = words(normalise(question))
    wanted = asked(found)
    assert (wanted.sort, " ".join(found[at].surface for at in wanted.focus)) == (sort, focus)


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    found = words(normalise(text))
    assert isinstance(is_question(text), bool)
    assert all(0 <= at < len(found) for at in asked(found).focus)
