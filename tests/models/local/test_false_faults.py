"""What only looks like a contradiction is none, and the contradiction beside it still is."""

import re

import pytest

from models.claims import Claims
from models.local import EmbeddingJudge

MEDICINE = "The new vaccine was cleared by the EMA for use by young children in all schools."
UNCASED = "the national park service closed the trail , and us visitors were told on monday ."
RETURN = "Keller will return to Trieste by train. He had fled to Ghent after the trial and came back from Lyon."
SHOP = "The baker Nowak is still the best in the town. The shop at no 8 sells bread."
SURVEY = "About four in ten pupils in Malta eat at school. The club was founded in the 2014-15 season."
CRASH = "The crash happened at 14:15 near the harbour. Residents within 500m of the harbour were told to leave."


REWORDED = [
    ("The fine is 1, 000 pounds.", "The fine is £1,000."),
    ("The choir sings at Sunday's market in Delft.", "The choir sings on Sunday at the market in Delft."),
    ("The US citizens left the camp by ship.", "The U.S. citizens left the camp by ship."),
    (UNCASED, "The trail was closed by the NPS."),
    (
        MEDICINE,
        "The new vaccine was cleared by the European Medicines Agency for use by young children in all schools.",
    ),
    ("The painter died at his Utrecht home on 5 May.", "The painter died on 5 May at his home in Utrecht."),
    (
        "The union said Maltese ministers would have more money to spend.",
        "Maltese ministers would have more money to spend, according to the union.",
    ),
    (
        "The minister calmed the fishers in a letter to Ostend and promised new boats.",
        "The minister calmed the fishers after a query from Ostend and promised new boats.",
    ),
    (SHOP, "Nowak is the best baker in the town and the shop sells bread."),
    ("The choir sings in Delft and in Ghent.", "The choir not only sings in Delft but also in Ghent."),
    ("The figures do not cover staff of agencies.", "The figures exclude staff of agencies."),
    ("The tenants were unhappy with the repairs.", "The tenants were not happy with the repairs."),
    (SURVEY, "About 40% of pupils in Malta eat at school."),
    (SURVEY, "The club was founded in the season that ended in 2015."),
    (CRASH, "The crash happened at 2:15 pm near the harbour."),
    (CRASH, "Residents within 500 metres of the harbour were told to leave."),
]


NAMED = re.compile(
    r"where the sentence says|is not in the reference|^the sentence (says|swaps)|the reference says '.*' not"
)
"""How a reason names a contradiction."""


def test_the_same_in_other_words_is_no_contradiction(graded):
    grades = graded(REWORDED, "summary")
    assert not [(row, grade) for row, grade in zip(REWORDED, grades, strict=True) if NAMED.search(grade.reason)]


WRONG = [
    ("The choir sings at Sunday's market in Delft.", "The choir sings on Monday at the market in Delft.", "Monday"),
    ("The US citizens left the camp by ship.", "The U.K. citizens left the camp by ship.", "U.K"),
    (UNCASED, "The trail was closed by the FBI.", "FBI"),
    (MEDICINE, "The new vaccine was cleared by the European Space Agency for use by young children.", "European"),
    ("The painter Hals taught the painter Leyster.", "The painter Leyster taught the painter Hals.", "swaps"),
    (RETURN, "Keller will return from Trieste by train.", "Trieste"),
    (SHOP, "The shop at no 8 does not sell bread.", "not"),
    ("The tenants were happy with the repairs.", "The tenants were not happy with the repairs.", "not"),
    ("The figures cover staff of agencies.", "The figures do not cover staff of agencies.", "not"),
    (SURVEY, "About 30% of pupils in Malta eat at school.", "30"),
    (SURVEY, "The club was founded in the season that ended in 2017.", "2017"),
    (CRASH, "The crash happened at 4:15 pm near the harbour.", "4:15"),
    (CRASH, "Residents within 800 metres of the harbour were told to leave.", "800"),
]


def test_what_is_wrong_is_still_named(graded):
    for (_, _, named), grade in zip(WRONG, graded(WRONG, "summary"), strict=True):
        assert grade.support < 0.5, grade
        assert named in grade.reason


def test_an_opposite_said_of_something_else_is_none(judge: EmbeddingJudge) -> None:
    reference = "Earlier this month a bridge was closed. The driver was found hurt and died in the clinic of Delft."
    judgement = judge.judge(
        [Claims(reference, ("The driver was found hurt and later died in the clinic.",), "summary")]
    )
    assert judgement[0][0].support >= 0.5, judgement


def test_an_opposite_denied_is_no_contradiction(judge: EmbeddingJudge) -> None:
    claims = Claims(
        "He smiles, despite his failure on the pitch.",
        ("He smiles, despite his lack of success on the pitch.",),
        "summary",
    )
    assert not NAMED.search(judge.judge([claims])[0][0].reason)


@pytest.mark.parametrize(
    "announcement",
    ["Key points include:", "Based on the provided text, here is a brief summary:", "The main points are as follows:"],
)
def test_an_announcement_is_no_claim(judge: EmbeddingJudge, announcement: str) -> None:
    sentences = (announcement, "The crash happened at 14:15 near the harbour.")
    grades = judge.judge([Claims(CRASH, sentences, "summary"), Claims(CRASH, sentences[:1], "summary")])
    assert grades[0][0].support >= 0.5
    assert grades[1][0].support < 0.5
