"""Words that are all in the reference can still say what it does not."""

from models.claims import Claims
from models.local import EmbeddingJudge

BIKE = (
    "The Basic plan costs 9 euros a month. The Family plan costs 19 euros a month and can be used by five people. "
    "Payment by card is free of charge. Payment on invoice costs 2 euros. Queries are cancelled after 30 seconds. "
    "The keeper noticed the damage at six in the morning and called the coastguard."
)


PAIRS = [
    ("The Basic plan costs 9 euros a month.", "The Basic plan costs 19 euros a month."),
    ("Queries are cancelled after 30 seconds.", "Queries are cancelled after 30 minutes."),
    ("Payment by card is free of charge.", "Payment on invoice is free of charge."),
    (
        "The keeper noticed the damage at six in the morning.",
        "The keeper, who was drunk, noticed the damage at six in the morning.",
    ),
    ("The keeper called the coastguard.", "Did you know that the keeper fought the angry coastguard?"),
    ("The keeper called the coastguard.", "O guarda não chamou os bombeiros da cidade."),
]


def test_the_faithful_sentence_is_supported_and_the_false_one_is_not(judge):
    for (faithful, _), grades in zip(PAIRS, judge.judge([Claims(BIKE, pair, "answer") for pair in PAIRS]), strict=True):
        assert grades[0].support >= 0.5 > grades[1].support, faithful


def test_what_the_question_speaks_of_may_be_said_of_the_answer(judge: EmbeddingJudge) -> None:
    reference = "Items may be returned within 30 days of delivery. Lamps are packed in boxes."
    claims = Claims(
        reference, ("You can return the lamp within 30 days of delivery.",), "answer", "May I return the lamp?"
    )
    assert judge.judge([claims])[0][0].support >= 0.5


def test_a_courtesy_is_no_claim(judge: EmbeddingJudge) -> None:
    reasons = [grade.reason for grade in judge.judge([Claims(BIKE, ("Can I help you further?",), "answer")])[0]]
    assert "takes for granted" not in reasons[0]
