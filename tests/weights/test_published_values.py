"""The scores that the judges' authors publish on their models' cards."""

import pytest

from models.grounding.judge import GroundingJudge
from models.protocol import Claims, ModelFailed
from tests.weights.conftest import LoadJudge

HHEM = [
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0111),
    ("I am in California", "I am in United States.", 0.6474),
    ("I am in United States", "I am in California.", 0.1290),
    ("A person on a horse jumps over a broken down airplane.", "A person is outdoors, on a horse.", 0.8969),
    (
        "A boy is jumping on skateboard in the middle of a red bridge.",
        "The boy skates down the sidewalk on a red bridge",
        0.1846,
    ),
    (
        "A man with blond-hair, and a brown shirt drinking out of a public water fountain.",
        "A blond man wearing a brown shirt is reading a book.",
        0.0050,
    ),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543),
]
STUDENTS = "A group of students gather in the school library to study for their upcoming final exams."
EXAMINATION = "The students are preparing for an examination."
VACATION = "The students are on vacation."
MINICHECK = [(STUDENTS, EXAMINATION, 0.98059), (STUDENTS, VACATION, 0.00712)]


@pytest.mark.parametrize(("name", "published"), [("hhem-2.1", HHEM), ("minicheck-flan-t5-large", MINICHECK)])
def test_scores_are_the_published_ones(
    judge_by_name: LoadJudge, name: str, published: list[tuple[str, str, float]]
) -> None:
    judge = judge_by_name(name)

    found = [score(judge, premise, claim) for premise, claim, _ in published]

    assert found == pytest.approx([value for _, _, value in published], abs=1e-3)


def test_factcg_tells_a_supported_claim_from_another(judge_by_name: LoadJudge) -> None:
    # Its card gives the figures .0653 and .784 for pairs of its own.
    judge = judge_by_name("factcg")

    assert score(judge, STUDENTS, VACATION) < 0.5 < score(judge, STUDENTS, EXAMINATION)


def score(judge: GroundingJudge, premise: str, claim: str) -> float:
    (graded,) = judge.judge([Claims(premise, (claim,), "answer")])
    assert not isinstance(graded, ModelFailed)
    return graded[0].support
