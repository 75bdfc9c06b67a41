"""A search asks in its order, keeps its beams, and leaves out again what is no longer accepted (appendix B)."""

from contextlib import closing
from pathlib import Path

import pytest

from assay.kept_answers import KeptAnswers
from checkers.longtail.corpus import read_corpus
from lab.link.rules import Rule
from lab.link.search import FACT_FLOOR, TYPE_FLOOR, gap_of, threshold
from tests.assay.running import assay
from tests.lab.link.world import RULES, World, gaps_of, named_in
from tests.support.stub_acts import status

ALLERGY = {
    "domain": "food",
    "types": {"X": "Person", "A": "Allergen", "Z": "Ingredient", "B": "Dish"},
    "premise": ["{X} is allergic to {A}", "{Z} is a kind of {A}", "{Z} is in {B}"],
    "conclusion": "{X} cannot eat {B}",
    "negation": "{X} can eat {B}",
    "question": "can {X} eat {B}",
    "answer": "no",
}
VALUES = {"X": "Person X", "A": "dairy", "Z": "milk", "B": "risotto"}


@pytest.mark.parametrize(
    ("order", "variable", "known", "sentences", "facts"),
    [
        ("forward", "Z", "XA", ["{Z} is a kind of dairy"], ["{Z} is a kind of dairy"]),
        # The conclusion stays out.
        ("forward", "B", "XAZ", ["milk is in {B}"], ["milk is in {B}"]),
        ("backward", "A", "XBZ", ["Person X is allergic to {A}", "milk is a kind of {A}"], ["milk is a kind of {A}"]),
    ],
)
def test_a_variable_is_asked_for_in_all_sentences_whose_other_value_is_known_and_judged_in_those_that_are_facts(
    order: str, variable: str, known: str, sentences: list[str], facts: list[str]
):
    rule = Rule.model_validate({"name": "allergy", **ALLERGY, "order": order})
    gap = gap_of(rule, variable, {name: VALUES[name] for name in known})
    assert (list(gap.sentences), list(gap.facts)) == (sentences, facts)


def test_a_value_that_was_accepted_is_left_out_once_there_are_more_probable_ones(tmp_path: Path):
    def holds(statement: str) -> float:
        return 0.72 if "fits into" in statement and statement.endswith(("room-0.", "room-1.")) else 0.92

    with World(tools=8, rooms=6, holds=holds) as world:
        ran = world.build(tmp_path, values=2)
        assert ran.returncode == 0, ran.stderr
        rooms = [named_in(one) for one in world.calls_for_values if "tool-0 fits into" in gaps_of(one)]
    assert [len(one) for one in rooms] == [0, 2, 4, 6]
    # In the first call they are the best; in the second they are not right any more.
    assert {one.conclusion[-1] for one in read_corpus(tmp_path / "out")} <= set("2345")


def test_questions_without_a_usable_answer_are_told_and_asked_again_by_the_next_build(tmp_path: Path):
    with World(tools=8, rooms=4) as world:
        answer = world._script

        def script(request):
            refused = "tool-3 fits into" in gaps_of(request)
            return status(400, "I do not talk about that") if refused else answer(request)

        world.play(script)
        first = world.build(tmp_path)
        assert first.returncode == 0, first.stderr
        # Two calls in vain end the search.
        assert "failures, judge_failed" in first.stdout
        assert not any("tool-3" in one.premise for one in read_corpus(tmp_path / "out"))
        world.play(answer)
        world.requests.clear()
        second = world.build(tmp_path)
        assert second.returncode == 0, second.stderr
        assert "failures" not in second.stdout
        assert all("tool-3" in gaps_of(one) for one in world.calls_for_values)
        assert world.calls_for_values


WRONG = [
    ({"ASSAY_JUDGE__BACKEND": "local"}, "the critic is the judge, and the local judge compares texts"),
    ({"arguments": ("t.yaml", "--scorer", "endpoint:nobody")}, "--scorer: there is no model 'nobody'; configured are"),
    ({"arguments": ("t.yaml", "--scorer", "a/model")}, "--scorer a/model: allowed are endpoint:judge and endpoint:SUB"),
    ({"arguments": ("t.yaml", "--measurer", "endpoint:judge")}, "--measurer is the scorer"),
    (
        {"ASSAY_SUBJECTS__RULER__MODEL": "world", "arguments": ("t.yaml", "--measurer", "endpoint:ruler")},
        "--measurer is",
    ),
    ({"arguments": ("none.yaml",)}, "none.yaml: cannot be read: No such file"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[told[:30] for _, told in WRONG])
def test_a_users_mistake_is_named(given: dict, told: str, tmp_path: Path):
    (tmp_path / "t.yaml").write_text(RULES, encoding="utf-8")
    with World(tools=1, rooms=1) as world:
        arguments = given.pop("arguments", ("t.yaml",))
        ran = assay("probes", "build", *arguments, "--out", "out", cwd=tmp_path, **{**world.variables(), **given})
        assert not world.requests
    assert ran.returncode == 2
    assert told in ran.stderr


def test_a_second_build_in_the_same_folder_is_refused_while_the_first_is_at_work(tmp_path: Path):
    (tmp_path / "out").mkdir()
    with World(tools=1, rooms=1) as world, closing(KeptAnswers(tmp_path / "out" / "answers.sqlite")):
        ran = world.build(tmp_path)
    assert ran.returncode == 2
    assert "is another run at work there?" in ran.stderr


@pytest.mark.parametrize(
    ("told", "floor", "expected"),
    [
        pytest.param([0.72, 0.71, 0.6], FACT_FLOOR, 0.7, id="it falls to the best value"),
        pytest.param([0.72, 0.7, 0.81], FACT_FLOOR, 0.8, id="it rises, and rejects the earlier"),
        pytest.param([1.0, 0.95, 0.999], FACT_FLOOR, 0.95, id="never to certainty"),
        pytest.param([0.64, 0.6], TYPE_FLOOR, 0.65, id="data types have a floor"),
        pytest.param([None, 0.9], FACT_FLOOR, 0.9, id="no answer is no low probability"),
        pytest.param([None], FACT_FLOOR, 0.85, id="nothing is known"),
    ],
)
def test_the_threshold_of_worked_sequences(told: list[float | None], floor: float, expected: float):
    assert threshold(told, floor) == expected
