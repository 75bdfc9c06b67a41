"""Candidates that would spoil the test: those of the paper's table 6, and their kin."""

import pytest

from checkers.extraction.mentions import find_mentions
from checkers.extraction.synonyms.classes import EntityClass, entity_class
from checkers.extraction.synonyms.guards import CandidateFault, fault_of

VIGRA = ("Vigra Church is located a short distance south of Roald.", ("Vigra Church", "Roald"))
CRUPET = ("Crupet is a village in Wallonia, Belgium.", ("Crupet", "Wallonia", "Belgium"))
AWARD = (
    "The award, along with funds for the construction of, was worth US$ 1.826 billion.",
    ("construction", "US$ 1.826 billion"),
)
OBAMA = ("Then Barack Obama met John Smith in the United States.", ("Barack Obama", "John Smith", "the United States"))
TRADE = ("The bakery sold bread to two small taverns and the Lagos market.", ("bakery", "taverns", "Lagos"))


def fault(candidate, entity, sentence, *, named=True, kind=None):
    text, entities = sentence
    others = [other for other in entities if other != entity]
    kind = kind or (entity_class(entity) if named else None)
    return fault_of(candidate, entity, find_mentions(text, entities), others, named=named, kind=kind)


def test_a_candidate_that_repeats_the_sentence_is_rejected():
    repeated = "Vigra Church is located a short distance south of Ålesund."
    assert fault(repeated, "Roald", VIGRA) is CandidateFault.SENTENCE
    assert fault("the place that is a short distance south", "Roald", VIGRA) is CandidateFault.SENTENCE
    assert fault("sold bread to", "Lagos", TRADE) is CandidateFault.SENTENCE


def test_a_candidate_that_is_much_longer_than_the_entity_is_rejected():
    assert fault("cafe that offers cakes every day", "bakery", TRADE, named=False) is CandidateFault.SENTENCE


def test_a_candidate_that_holds_another_entity_is_rejected():
    assert fault("Liege, Belgium", "Wallonia", CRUPET) is CandidateFault.OTHER_ENTITY
    assert fault("Belgium", "Wallonia", CRUPET) is CandidateFault.OTHER_ENTITY
    assert fault("Church", "Roald", VIGRA) is CandidateFault.OTHER_ENTITY


def test_a_candidate_of_another_type_is_rejected():
    assert fault("grant", "US$ 1.826 billion", AWARD) is CandidateFault.TYPE


@pytest.mark.parametrize(
    ("candidate", "entity", "sentence", "named"),
    [
        ("Stavanger Cathedral", "Vigra Church", VIGRA, True),
        ("Stavanger Church", "Vigra Church", VIGRA, True),
        ("Ålesund", "Roald", VIGRA, True),
        ("Charleroi", "Crupet", CRUPET, True),
        ("Liege", "Wallonia", CRUPET, True),
        ("France", "Belgium", CRUPET, True),
        ("building", "construction", AWARD, False),
        ("US$ 3.141 billion", "US$ 1.826 billion", AWARD, True),
        ("Angela Merkel", "Barack Obama", OBAMA, True),
        ("shop", "bakery", TRADE, False),
        ("inns", "taverns", TRADE, False),
    ],
)
def test_fit_candidates_have_no_fault(candidate, entity, sentence, named):
    assert fault(candidate, entity, sentence, named=named) is None


@pytest.mark.parametrize(
    ("candidate", "entity"),
    [
        ("Obama", "Barack Obama"),
        ("Former president Barack Obama", "Barack Obama"),
        ("B. O.", "Barack Obama"),
        ("Johnny Smith", "John Smith"),
        ("Mr. Smith", "John Smith"),
        ("JOHN SMITH", "John Smith"),
        ("US", "the United States"),
        ("United States of America", "the United States"),
    ],
)
def test_an_alias_is_rejected(candidate, entity):
    assert fault(candidate, entity, OBAMA) is CandidateFault.ALIAS


def test_another_word_for_the_same_name_is_an_alias():
    sentence = ("They live in Holland.", ("Holland",))
    assert fault("Netherlands", "Holland", sentence) is CandidateFault.ALIAS
    assert fault("Peru", "Holland", sentence) is None


@pytest.mark.parametrize(
    ("candidate", "entity", "named", "expected"),
    [
        ("", "bakery", False, CandidateFault.BLANK),
        ("...", "bakery", False, CandidateFault.BLANK),
        ("bakery shop", "bakery", False, CandidateFault.ALIAS),
        ("market", "bakery", False, CandidateFault.IN_TEXT),
        ("small inns", "taverns", False, CandidateFault.IN_TEXT),
        ("shop, store", "bakery", False, CandidateFault.SEVERAL),
        ("shop (store)", "bakery", False, CandidateFault.SEVERAL),
        ("shop and store", "bakery", False, CandidateFault.SEVERAL),
        ("shop of Peru", "bakery", False, CandidateFault.TYPE),
        ("it", "bakery", False, CandidateFault.TYPE),
        ("shops", "bakery", False, CandidateFault.TYPE),
        ("inn", "taverns", False, CandidateFault.TYPE),
        ("seventeen", "bakery", False, CandidateFault.TYPE),
        ("quickly", "bakery", False, CandidateFault.TYPE),
        ("harbour", "Lagos", True, CandidateFault.TYPE),
        ("Ada Okafor", "Lagos", True, CandidateFault.TYPE),
        ("Peru 5", "Lagos", True, None),
        ("1844", "Lagos", True, CandidateFault.TYPE),
        ("Netherlands", "Lagos", True, CandidateFault.TYPE),
        ("the Netherlands", "Lagos", True, None),
    ],
)
def test_the_other_faults(candidate, entity, named, expected):
    assert fault(candidate, entity, TRADE, named=named) is expected


@pytest.mark.parametrize(
    ("candidate", "entity", "text"),
    [
        ("Stavanger Church", "Vigra Church", "Vigra Church is a church."),
        ("Mr. Kowalski", "Mr. Bain", "Mr. Bain left."),
        ("Oslo, Norway", "Rome, Italy", "They met in Rome, Italy."),
        ("Netherlands", "United States", "They live in the United States."),
    ],
)
def test_what_the_entity_has_itself_is_no_fault(candidate, entity, text):
    """A word that the text has elsewhere, a title, a comma, an article before it."""
    assert fault(candidate, entity, (text, (entity,))) is None


@pytest.mark.parametrize("initials", ["DoD", "D. D."])
def test_initials_may_count_the_small_words_or_not(initials):
    department = "Department of Defense"
    assert fault(initials, department, (f"He works for the {department}.", (department,))) is CandidateFault.ALIAS


def test_a_people_stays_in_its_number():
    sentence = ("The Italians won.", ("Italians",))
    assert fault("Greek", "Italians", sentence, kind=EntityClass.PEOPLE) is CandidateFault.TYPE
    assert fault("Greeks", "Italians", sentence, kind=EntityClass.PEOPLE) is None


def test_a_number_keeps_its_currency_and_a_date_stays_a_date():
    assert fault("€ 3 billion", "US$ 1.826 billion", AWARD) is CandidateFault.TYPE
    assert fault("May 1844", "US$ 1.826 billion", AWARD, kind=EntityClass.NUMBER) is CandidateFault.TYPE
