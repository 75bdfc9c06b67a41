"""Replacements from kept libraries, else by the model's votes; without one, the reason."""

from collections import Counter

import pytest

from checkers.extraction.mentions import find_mentions
from checkers.extraction.replacement import replaced
from checkers.extraction.synonyms.classes import EntityClass
from checkers.extraction.synonyms.generator import NoReplacement, NoReplacementReason, Replacement, SynonymGenerator
from checkers.extraction.synonyms.guards import CandidateFault
from checkers.extraction.synonyms.questions import SynonymPrompts
from models.protocol import OracleUnavailable

TEXT = "Mirela Kovac opened a bakery in Graz after eleven years at Sonnleitner Foods."
NAMES = ("Mirela Kovac", "Graz", "eleven years", "Sonnleitner Foods")


async def test_names_come_from_libraries_and_nothing_is_asked(found, thesaurus):
    replacements = await found(TEXT, *NAMES)
    assert [one.source for one in replacements] == ["pool"] * 4
    assert [one.entity_class for one in replacements] == [
        EntityClass.PERSON,
        EntityClass.PLACE,
        EntityClass.DATE,
        None,
    ]
    assert thesaurus.asked == []


async def test_the_seed_decides_what_is_drawn(found):
    first = await found(TEXT, *NAMES, seed="a")
    assert first == await found(TEXT, *NAMES, seed="a")
    assert first != await found(TEXT, *NAMES, seed="b")


async def test_the_replaced_sentence_is_well_formed(found):
    replacements = await found("Ada's boss ate an apple.", "Ada's", model=False)
    located = find_mentions("Ada's boss ate an apple.", ["Ada's"])
    made = replaced(located, [replacements[0].text], 1)
    assert made.endswith((f"{replacements[0].text} boss ate an apple.",))
    assert made.split()[0].endswith(("'s", "s'"))


async def test_what_libraries_do_not_have_is_asked_for_and_voted_on(found, thesaurus):
    thesaurus.candidates["The Salt Road"] = ["The Glass Orchard", "Night Ferry"]
    (one,) = await found("In Porto, she showed her film The Salt Road.", "The Salt Road")
    assert one == Replacement("The Salt Road", "The Glass Orchard", True, None, "model")
    # The two are level until the last answer.
    assert Counter(thesaurus.asked) == {("names", "The Salt Road"): 7}


async def test_what_is_no_name_gets_a_synonym(found, thesaurus):
    thesaurus.candidates["bakery"] = ["shop"]
    (one,) = await found(TEXT, "bakery")
    assert one == Replacement("bakery", "shop", False, None, "model")
    assert Counter(thesaurus.asked) == {("synonyms", "bakery"): 4}


@pytest.mark.parametrize(("answer", "question"), [("named", "names"), ("normal", "synonyms")])
async def test_what_the_rules_cannot_decide_is_voted_on_first(answer, question, found, thesaurus):
    thesaurus.named["Apple"] = answer
    thesaurus.candidates["Apple"] = ["Zorblax"] if answer == "named" else ["Pear"]
    (one,) = await found("Apple sells phones.", "Apple")
    assert one.named is (answer == "named")
    assert Counter(thesaurus.asked) == {("normal", "Apple"): 6, (question, "Apple"): 4}


async def test_candidates_with_a_fault_are_passed_over(found, thesaurus):
    thesaurus.candidates["Crupet"] = ["Wallonia", "the old Crupet", "Charleroi"]
    (crupet, *_) = await found("Crupet is a village in Wallonia, Belgium.", "Crupet", "Wallonia", "Belgium")
    assert crupet.text == "Charleroi"


async def test_if_every_candidate_has_a_fault_there_is_none_and_the_faults_are_told(found, thesaurus):
    thesaurus.candidates["Crupet"] = ["Belgium", "village"]
    none, belgium = await found("Crupet is a village in Belgium.", "Crupet", "Belgium")
    assert none.reason is NoReplacementReason.ALL_REJECTED
    assert dict(none.rejected)["Belgium"] is CandidateFault.OTHER_ENTITY
    assert dict(none.rejected)["village"] is CandidateFault.IN_TEXT
    assert isinstance(belgium, Replacement)


async def test_without_a_model_there_is_none_for_what_libraries_do_not_have(found):
    (one,) = await found(TEXT, "bakery", model=False)
    assert one == NoReplacement("bakery", NoReplacementReason.NOT_ASKED)


async def test_answers_that_cannot_be_used_are_no_answer(found, stub):
    stub.answer = lambda request: "I would rather not."
    (one,) = await found(TEXT, "bakery")
    assert one == NoReplacement("bakery", NoReplacementReason.NO_ANSWER)


async def test_an_endpoint_that_is_down_holds_the_record(found, stub):
    stub.down()
    with pytest.raises(OracleUnavailable):
        await found(TEXT, "bakery")


async def test_two_entities_never_get_the_same(found, thesaurus):
    thesaurus.candidates["bakery"] = ["shop", "store"]
    thesaurus.candidates["tavern"] = ["shop", "store"]
    one, other = await found("A bakery and a tavern closed.", "bakery", "tavern")
    assert (one.text, other.text) == ("shop", "store")


async def test_the_most_that_may_be_asked_is_known_before():
    generator = SynonymGenerator(None, SynonymPrompts(), seed="s")
    located = find_mentions("Apple sells phones in Graz.", ["Apple", "phones", "Graz"])
    asked = [(question.task, count) for question, count in generator.most_questions(located)]
    assert asked == [("extraction.named", 11), ("extraction.names", 7), ("extraction.synonyms", 7)]
