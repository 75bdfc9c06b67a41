"""Text matching: minimal pairs are told apart, rewordings pass, and the words at fault are named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.claims import Claims
from tests.support.labelled_hits import HITS

FERRY = "The early ferry carries forty cars from Rostock to Gedser."
MUSHROOMS = "Pick brown mushrooms in autumn and dry them at 45 degrees before you store them."


def judged(judge, premise, hypothesis):
    return judge.judge([Claims(premise, (hypothesis,), "entailment")])[0][0]


CHANGED = [
    (FERRY, "The early ferry carries forty cars from Gedser to Rostock.", ("Rostock", "Gedser")),
    (FERRY, "The early ferry carries forty pigs from Rostock to Gedser.", ("'cars'", "'pigs'")),
    (FERRY, "The early ferry crushes forty cars from Rostock to Gedser.", ("'carries'", "'crushes'")),
    (FERRY, "The late ferry carries forty cars from Rostock to Gedser.", ("'early'", "'late'")),
    (FERRY, "The early ferry carries fifty cars from Rostock to Gedser.", ("'forty'", "'fifty'")),
    (FERRY, "The early ferry never carries forty cars from Rostock to Gedser.", ("'never'",)),
    (FERRY, "The early ferry carries forty electric cars from Rostock to Gedser.", ("'electric'",)),
    (MUSHROOMS, "Dry brown mushrooms in autumn and pick them at 45 degrees before you store them.",
     ("Dry", "Pick")),
    (MUSHROOMS, "Pick brown mushrooms in autumn and dry them at 45 degrees after you store them.",
     ("'before'", "'after'")),
    ("All lifts stop at the third floor.", "Few lifts stop at the third floor.", ("'few'",)),
    ("Olga nursed Vera because Vera was ill.", "Olga nursed Vera because she was ill.", ("'Vera'", "'she'")),
]  # fmt: skip


def test_a_single_change_decides_and_is_named(graded):
    for (premise, _, named), grade in zip(CHANGED, graded(CHANGED, "entailment"), strict=True):
        assert grade.support < 0.5, grade
        assert all(word in grade.reason for word in named), grade
        assert grade.passage == premise


ENTAILED = [
    (FERRY, "The early ferry takes forty cars from Rostock to Gedser."),
    (FERRY, "From Rostock to Gedser, forty cars are carried by the early ferry."),
    (FERRY, "The ferry carries cars from Rostock to Gedser."),
    (FERRY, "The early ferry carries more than thirty cars from Rostock to Gedser."),
    (MUSHROOMS, "Pick brown fungi in autumn, and dry them at 45 degrees before storing them."),
    (FERRY, "The early ferry carries fewer than sixty cars from Rostock to Gedser."),
    ("The gate is not able to open.", "The gate is unable to open."),
    ("The crew failed to reach the harbour.", "The crew did not reach the harbour."),
    ("The mill closed in 2018.", "The mill closed before 2019."),
    ("The mill closed in 2018.", "The mill closed after 2017."),
    ("The town has 10,213 inhabitants.", "The town has about 10,000 inhabitants."),
    (
        "After heavy rain the river flooded the cellar of the old mill near the bridge.",
        "Heavy rain made the river rise, and the old mill by the bridge had water in its basement.",
    ),
    ("On 3 May 2021 the mill burned down.", "The mill burned down on May 3, 2021."),
]


def test_what_says_the_same_or_less_passes(graded):
    wrong = [
        (row, grade) for row, grade in zip(ENTAILED, graded(ENTAILED, "entailment"), strict=True) if grade.support < 0.5
    ]
    assert not wrong


def test_words_of_one_meaning_hardly_weaken_it(judge):
    premise = "The museum in Emden bought the wheel of the old mill when it closed."
    hypothesis = "When the old mill shut down, its wheel was acquired by a museum in Emden."
    assert judged(judge, premise, hypothesis).support > 0.8


def test_more_is_not_entailed_by_less(judge):
    less, more = "The court fined the bakery.", "The court fined the bakery in Bremen for false weights."
    assert judged(judge, more, less).support > 0.5 > judged(judge, less, more).support


def test_missing_evidence_rejects_and_its_words_are_named(judge):
    claim = "The glacier lost nine metres of ice in the summer of 2003."
    told = "Surveyors report that the glacier lost nine metres of ice during the hot summer of 2003, a record."
    without = "Surveyors report from the glacier, where summers have been hot."
    assert judged(judge, told, claim).support >= 0.5
    judgement = judged(judge, without, claim)
    assert judgement.support < 0.5
    assert "'metres'" in judgement.reason


def test_the_passage_that_decides_is_found_in_a_long_text(judge):
    filler = [f"Chapter {n} describes how crew {n} paints hull number {n} in the yard." for n in range(1, 120)]
    answer = "The dry dock is flooded through two sluices."
    text = " ".join([*filler[:90], answer, *filler[90:]])
    right, wrong = "The dry dock is flooded through two sluices.", "The dry dock is flooded through three sluices."
    found = judged(judge, text, right)
    assert (found.support >= 0.5, found.passage) == (True, answer)
    assert judged(judge, text, wrong).support < found.support


@pytest.mark.parametrize("store", ["cache", "knowledge"])
def test_hits_as_users_meet_them_are_judged_as_a_person_does(judge, store):
    hits = [hit for hit in HITS if hit.store == store]
    forward = judge.judge([Claims(hit.matched, (hit.query,), "entailment") for hit in hits])
    backward = judge.judge([Claims(hit.query, (hit.matched,), "entailment") for hit in hits])
    wrong = []
    for hit, there, back in zip(hits, forward, backward, strict=True):
        support = there[0].support if store == "knowledge" else min(there[0].support, back[0].support)
        if (support >= 0.5) != hit.right:
            wrong.append(hit)
    assert len(wrong) <= 0.1 * len(hits), wrong


def test_several_sentences_are_judged_each_for_itself(judge):
    sentences = ("The early ferry carries forty cars.", "The late ferry carries forty cars.")
    both = judge.judge([Claims(FERRY, sentences, "entailment")])[0]
    assert both == [judged(judge, FERRY, sentence) for sentence in sentences]


def test_texts_without_words_are_not_entailed(judge):
    assert judged(judge, "...", "The dock is full.").support == 0.0
    assert judged(judge, "The dock is full.", "?!").support == 0.0
    assert judged(judge, "The dock is full. " * 400, "?!").support == 0.0
    assert judged(judge, "The dock is full.", "the").support == 0.0


_NOUNS = st.sampled_from("harbour violin chimney lantern ladder orchard kettle saddle".split())
_VERBS = st.sampled_from("repairs paints sells measures".split())


@settings(max_examples=8)
@given(first=_NOUNS, second=_NOUNS, verb=_VERBS, text=st.text(max_size=40))
def test_a_text_entails_itself_and_support_stays_in_bounds(graded, first, second, verb, text):
    sentence = f"The {first} beside the {second} is what the guild {verb} in winter."
    other = f"{text} {first}"
    same, there, back = graded([(sentence, sentence), (sentence, other), (other, sentence)], "entailment")
    assert same.support == 1.0
    assert 0.0 <= there.support <= 1.0
    assert 0.0 <= back.support <= 1.0
