"""Sentences with some entities replaced: only mentions change, and the sentence stays well formed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.mentions import find_mentions
from checkers.extraction.replacement import replaced


def all_replaced(text, **replacements):
    """With underscores for blanks in the names of entities."""
    entities = [name.replace("_", " ") for name in replacements]
    located = find_mentions(text, entities)
    assert len(located.entities) == len(entities)
    return replaced(located, list(replacements.values()), (1 << len(entities)) - 1)


def test_the_chosen_entities_are_replaced_wherever_they_stand():
    located = find_mentions("Ada left Lagos; Lagos missed Ada.", ["Ada", "Lagos"])
    names = ["Maria", "Turin"]
    assert replaced(located, names, 0b00) == "Ada left Lagos; Lagos missed Ada."
    assert replaced(located, names, 0b01) == "Maria left Lagos; Lagos missed Maria."
    assert replaced(located, names, 0b10) == "Ada left Turin; Turin missed Ada."
    assert replaced(located, names, 0b11) == "Maria left Turin; Turin missed Maria."


def test_replacements_that_exchange_entities_do_not_meet():
    assert all_replaced("Ada met Maria.", Ada="Maria", Maria="Ada") == "Maria met Ada."


@pytest.mark.parametrize(
    ("text", "entity", "replacement", "expected"),
    [
        ("An Italian baker", "Italian", "French", "A French baker"),
        ("AN ITALIAN BAKER", "Italian", "French", "A FRENCH BAKER"),
        ("a bakery and an “old bakery”", "old bakery", "tavern", "a bakery and a “tavern”"),
        ("a French baker", "French", "European", "a European baker"),
        ("a French baker", "French", "Austrian", "an Austrian baker"),
        ("a 7-year term", "7", "8", "an 8-year term"),
        ("an 11th term", "11th", "12th", "a 12th term"),
        ("vitamin A French people lack", "French", "Italian", "vitamin A Italian people lack"),
        ("James' dog", "James", "Ada", "Ada's dog"),
        ("Ada's dog", "Ada", "James", "James' dog"),
        ("Ada 's dog", "Ada", "James", "James ' dog"),
        ("the bakers' union", "bakers", "men", "the men's union"),
        ("James's dog", "James", "Thomas", "Thomas's dog"),
        ("the 'Tigers' won", "Tigers", "Ajax", "the 'Ajax' won"),
        ("They live in the U.S.", "the U.S.", "Peru", "They live in Peru."),
        ("They live in Peru.", "Peru", "the U.S.", "They live in the U.S."),
        ("The company sold it.", "the company", "the firm", "The firm sold it."),
        ("Bakeries closed.", "bakeries", "taverns", "Taverns closed."),
        ("Ada has it.", "Ada", "iPhone", "iPhone has it."),
        ("ADA'S HOUSE", "Ada", "James", "JAMES' HOUSE"),
        ("NASA paid.", "NASA", "Miller Group", "Miller Group paid."),
        ("U.S.'s Lagos'.", "Lagos", "New York", "U.S.'s New York's."),
    ],
)
def test_the_sentence_stays_well_formed(text, entity, replacement, expected):
    located = find_mentions(text, [entity])
    assert replaced(located, [replacement], 1) == expected


@pytest.mark.parametrize(
    ("replacements", "vector"), [((), 1), (("Maria",), 2), (("Maria",), -1), (("Maria", "Eve"), 1)]
)
def test_numbers_that_do_not_fit_are_an_error(replacements, vector):
    with pytest.raises(ValueError, match="for 1 entities"):
        replaced(find_mentions("Ada left.", ["Ada"]), replacements, vector)


ENTITIES = {
    "Ada Okafor": "Maria Lopez",
    "James": "Igor",
    "Italian": "French",
    "New York": "Lagos",
    "New York Times": "Daily Mail",
    "U.S.": "Peru",
    "bakers": "teachers",
    "11": "7",
    "old bakery": "tavern",
}
FILLERS = ["met", "the", "in", "“", "”", ",", ";", "and", "quietly", "(", ")"]


def _sentence(pieces):
    """Entities with articles and possessives as grammar has them, and other words, as a sentence."""
    text = " ".join(pieces)
    return text if text.endswith(".") else f"{text}."


named = st.sampled_from(sorted(ENTITIES))
possessive = named.map(lambda entity: f"{entity}'" if entity.endswith("s") else f"{entity}'s")
with_article = st.sampled_from(["an Italian", "an 11", "an old bakery"])
sentences = st.lists(st.one_of(named, possessive, with_article, st.sampled_from(FILLERS)), max_size=12).map(_sentence)


@given(text=sentences)
def test_nothing_replaced_is_the_text(text):
    located = find_mentions(text, list(ENTITIES))
    count = len(located.entities)
    assert replaced(located, ["x"] * count, 0) == text


@given(text=sentences, data=st.data())
def test_replacing_and_replacing_back_is_the_text(text, data):
    located = find_mentions(text, list(ENTITIES))
    names = [ENTITIES[entity] for entity in located.entities]
    vector = data.draw(st.integers(0, (1 << len(names)) - 1))
    there = replaced(located, names, vector)
    chosen = [pair for place, pair in enumerate(zip(located.entities, names, strict=True)) if vector >> place & 1]
    others = [entity for place, entity in enumerate(located.entities) if not vector >> place & 1]
    again = find_mentions(there, [name for _, name in chosen] + others)
    assert len(again.entities) == len(located.entities)
    back = replaced(again, [entity for entity, _ in chosen] + others, (1 << len(chosen)) - 1)
    assert back == text


@given(text=sentences, data=st.data())
def test_nothing_outside_the_mentions_changes_but_articles_possessives_and_the_last_stop(text, data):
    located = find_mentions(text, list(ENTITIES))
    count = len(located.entities)
    vector = data.draw(st.integers(0, (1 << count) - 1))
    marks = [f"Q{number}Q" for number in range(count)]
    there = replaced(located, marks, vector)
    kept, at = "", 0
    for mention in located.mentions:
        kept += text[at : mention.start]
        kept += marks[mention.entity] if vector >> mention.entity & 1 else text[mention.start : mention.end]
        at = mention.end
    kept += text[at:]
    assert _without_grammar(there) == _without_grammar(kept)


def _without_grammar(text):
    return re.sub(r"\ban? (?=\W*Q)|(?<=Q)'s?|\.$", "", text, flags=re.IGNORECASE)


@given(text=sentences, random=st.randoms(use_true_random=False))
def test_the_order_of_the_list_does_not_matter(text, random):
    entities = list(ENTITIES)
    shuffled = random.sample(entities, len(entities))
    made = []
    for order in (entities, shuffled):
        located = find_mentions(text, order)
        made.append(replaced(located, [ENTITIES[one] for one in located.entities], (1 << len(located.entities)) - 1))
    assert made[0] == made[1]
