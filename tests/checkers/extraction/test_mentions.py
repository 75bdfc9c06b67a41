"""Places of entities in a sentence, and entities that cannot be replaced: one test a rule."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.extraction.mentions import bare, find_mentions


def same_entity(one, other):
    return bare(one) == bare(other)


def written(text, *entities):
    """The mentions of each entity that can be replaced, as the text has them."""
    located = find_mentions(text, entities)
    found = {entity: [] for entity in located.entities}
    for entity, start, end in located.mentions:
        found[entity].append(text[start:end])
    return found


def reasons(text, *entities):
    return {one.text: one.reason for one in find_mentions(text, entities).unreplaceable}


@pytest.mark.parametrize(
    ("text", "entity", "mentions"),
    [
        ("Ada's bakery", "Ada", ["Ada"]),
        ("Ada’s bakery", "Ada's", ["Ada’s"]),
        ("worth US$1.826 billion", "US$ 1.826 billion", ["US$1.826 billion"]),
        ("They live in the U.S.", "U.S.", ["U.S."]),
        ("a York-based firm", "York", ["York"]),
        ("Yorkshire is wide", "York", None),
        ("5,000 years", "5", None),
        ("1.5 miles", "5", None),
        ("in 1999", "99", None),
        ("US law told us so", "US", ["US"]),
        ("ADA OKAFOR SPOKE, and Ada Okafor left", "Ada Okafor", ["ADA OKAFOR", "Ada Okafor"]),
        ("The Hague and the Hague", "the Hague", ["The Hague", "the Hague"]),
        ("she went to new york", "New York", ["new york"]),
    ],
)
def test_possessives_and_casing_hide_no_mention_and_a_part_of_a_word_is_none(text, entity, mentions):
    assert written(text, entity).get(entity) == mentions


@pytest.mark.parametrize(
    ("text", "entity", "reason", "other"),
    [
        ("Mohammed's family left.", "Mohammed", "nested", "Mohammed's family"),
        ("the solar fraction heating needs", "heating needs", "crossing", "solar fraction heating"),
        ("William and Annie Washington met.", "William Washington", "not_contiguous", "Annie Washington"),
        ("The trawler Ellida left Tromsø.", "Norway", "not_in_text", "Tromsø"),
        ("王芳住在上海。", "挪威", "not_in_text", "上海"),
        ("Ada – or so they say...", "", "blank", "Ada"),
        ("Ada – or so they say...", "...", "blank", "Ada"),
    ],
)
def test_an_entity_that_cannot_be_replaced_has_its_reason(text, entity, reason, other):
    assert reasons(text, entity, other) == {entity: reason}


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("王芳昨天从上海飞往成都。", "上海"),
        ("先週ベルリンでリンさんに会った。", "ベルリン"),
        ("สมหญิงย้ายไปภูเก็ต", "ภูเก็ต"),
        ("İzmir'e taşındı", "İzmir"),
        (unicodedata.normalize("NFD", "Zoë moved to Kraków"), "Kraków"),
        ("Zoë moved to Kraków", unicodedata.normalize("NFD", "Kraków")),
        ("Zoë moved to Kraków", "Zoe"),
    ],
)
def test_names_are_found_in_any_script_and_however_their_accents_are_written(text, entity):
    assert find_mentions(text, [entity]).entities == (entity,)


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Er arbeitet bei der Dresdner Bank.", "Dresdner Banken"),
        ("הוא גר בירושלים", "ירושלים"),
        ("Due on 7 June 2021", "2021-06-07"),
        ("A fee of 12,500 francs", "12500 francs"),
        ("the UK government", "United Kingdom"),
        ("Ms Varga left", "Ines Varga"),
    ],
)
def test_what_stands_there_in_another_form_is_not_found_missing(text, entity):
    (reason,) = reasons(text, entity).values()
    assert reason in {"other_form", "not_contiguous"}


def test_spellings_of_one_entity():
    assert same_entity("The  New York Times", "new york times")
    assert same_entity("Ada’s", "Ada")
    assert same_entity("US$ 5", "US$5")
    assert same_entity("the bakers'", "Bakers")
    assert not same_entity("New York", "New York Times")
    assert not same_entity("Newyork", "New York")


words = st.sampled_from("Ada Okafor New York Times bakery the The US us 5 5,000 U.S. O'Neil 's ' - – ,".split())
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)
texts = st.lists(words, max_size=15).map(" ".join)


@given(
    text=st.one_of(texts, st.text(max_size=60)), entities=st.lists(st.one_of(phrases, st.text(max_size=8)), max_size=6)
)
def test_each_entity_has_mentions_that_overlap_no_others_or_a_reason(text, entities):
    located = find_mentions(text, entities)
    assert {mention.entity for mention in located.mentions} == set(located.entities)
    assert sorted([*located.entities, *(one.text for one in located.unreplaceable)]) == sorted(entities)
    for one, following in zip(located.mentions, located.mentions[1:], strict=False):
        assert one.end <= following.start
    for mention in located.mentions:
        assert same_entity(text[mention.start : mention.end], mention.entity)


def test_many_mentions_take_no_long_time():
    located = find_mentions("a b " * 20_000, ["a", "b", "a b a", "b a b"])
    assert len(located.mentions) > 10_000
