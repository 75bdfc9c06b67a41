"""Evaluators: what labels and what generates, lies among them; files of examples; several labels."""

import asyncio
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.draws import seed_of
from checkers.labelling.challenges import Encodings
from checkers.labelling.evaluators.composed import Composed, FunctionEvaluator
from checkers.labelling.evaluators.llm import LLMEvaluator
from checkers.labelling.evaluators.search import LIES, SearchGenerator, search, string_like
from checkers.labelling.evaluators.sklearn import SklearnLabeller, decimal_feature
from checkers.labelling.examples import load_examples
from checkers.labelling.kary import Problem, play_all
from checkers.labelling.protocol import EvaluatorFailed, Turn, play
from checkers.labelling.questions import Example, Questions, datapoint_of
from checkers.labelling.rubric import parse_rubric
from checkers.labelling.values import is_echo, same_label, shown
from checkers.oracle.protocol import OracleUnavailable
from tests.support.labelling import (
    IN_PHENOMENON,
    OUT_OF_PHENOMENON,
    Fixed,
    NoJudge,
    Scripted,
    bit_strings,
    encoded,
    verifier,
)
from tests.support.made import json_values

bits = st.text("01", min_size=12, max_size=12)


def turn(seed: int = 0, number: int = 1) -> Turn:
    return Turn(number=number, draw=Random(seed))


def generated(x, lie=None, bit=1, seed=0):
    generator = search(Encodings(IN_PHENOMENON, NoJudge()), string_like, lie)
    return asyncio.run(generator.similar(x, bit, turn(seed)))


@given(x=bits, seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_the_honest_generator_makes_every_clause_agree(x, seed):
    assert encoded(IN_PHENOMENON, generated(x, seed=seed))[1] == encoded(IN_PHENOMENON, x)[1]


@given(x=bits, seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_one_that_does_not_know_sigma_makes_as_many_criteria_hold(x, seed):
    made = generated(x, "sigma", seed=seed)
    assert sorted(encoded(IN_PHENOMENON, made)[0]) == sorted(encoded(IN_PHENOMENON, x)[0])


@given(x=bits, bit=st.sampled_from([0, 1]), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_one_that_does_not_know_f_makes_the_majority_of_ones_the_label(x, bit, seed):
    made = generated(x, "f", bit, seed)
    assert (2 * made.count("1") >= 12) == bool(bit)


def test_the_third_lie_is_replaced_in_a_quarter_of_the_rounds():
    x = "101011010100"
    unlike = [
        encoded(IN_PHENOMENON, generated(x, "replaced", seed=seed))[1] != encoded(IN_PHENOMENON, x)[1]
        for seed in range(1500)
    ]
    # A random string is like x by luck now and then.
    assert 0.18 < sum(unlike) / len(unlike) < 0.28


# Over 300 strings a share is off by 3% at most, 95 times in 100.
@pytest.mark.parametrize(
    ("lie", "low", "high"), [(None, 1, 1), ("sigma", 0.1, 0.28), ("f", 0, 0.05), ("replaced", 0.38, 0.58)]
)
def test_how_often_each_lie_succeeds_in_the_notebooks_setting(lie, low, high):
    judge = verifier(mode="strings")
    evaluator = Composed("tree", Fixed(), search(judge.encodings, string_like, lie))
    strings = [x for x, _ in zip(bit_strings(), range(300), strict=False)]

    async def successes() -> int:
        games = [await play(x, evaluator, judge, seed=seed_of(x)) for x in strings]
        return sum(game.succeeded for game in games)

    assert low <= asyncio.run(successes()) / 300 <= high


def test_a_generator_of_another_rubric_is_found_out():
    judge = verifier(OUT_OF_PHENOMENON, mode="strings")
    evaluator = Composed("tree", Fixed(), search(Encodings(IN_PHENOMENON, NoJudge()), string_like))
    strings = [x for x, _ in zip(bit_strings(), range(200), strict=False)]

    async def successes() -> int:
        return sum([(await play(x, evaluator, judge, seed=x)).succeeded for x in strings])

    assert asyncio.run(successes()) <= 24
    assert set(LIES) == {"sigma", "f", "replaced"}


@pytest.mark.parametrize("x", ["", "012", 5, None, ["0"]])
def test_only_strings_of_bits_are_drawn_at_random(x):
    with pytest.raises(EvaluatorFailed, match="only strings of the digits 0 and 1"):
        string_like(x, Random(0))


async def test_a_search_that_finds_nothing_ends():
    async def nothing_suits(*_):
        return False

    with pytest.raises(EvaluatorFailed, match="none of 50 random datapoints"):
        await SearchGenerator(nothing_suits, string_like, most_draws=50).similar("0101", 1, turn())


def test_a_decision_tree_labels_and_reads_strings_as_decimal_numbers():
    from sklearn.tree import DecisionTreeClassifier

    rows, labels = [("0001", 0), ("0100", 0), ("1000", 1), ("1111", 1)], [0, 0, 1, 1]
    assert decimal_feature("0100") == (100.0,)
    model = DecisionTreeClassifier(random_state=123).fit([decimal_feature(x) for x, _ in rows], labels)
    labeller = SklearnLabeller(model, decimal_feature)
    found = [asyncio.run(labeller.label(x, turn())).bit for x, _ in [*rows, *rows]]
    assert found == labels * 2


@pytest.mark.parametrize("x", ["abc", "", "1e999", "nan", 7, None, {"a": 1}])
async def test_a_datapoint_without_features_is_told(x):
    labeller = SklearnLabeller(object(), decimal_feature)  # type: ignore[arg-type]
    with pytest.raises(EvaluatorFailed, match="has no features"):
        await labeller.label(x, turn())


async def test_a_classifier_of_other_classes_is_told():
    class Three:
        def predict(self, features):
            return [3]

    with pytest.raises(EvaluatorFailed, match="predicts 3; expected 0 or 1"):
        await SklearnLabeller(Three(), decimal_feature).label("1", turn())


async def test_any_callable_is_an_evaluator():
    async def later(x):
        return f"{x}!", True

    assert (await FunctionEvaluator("f", lambda x: (f"{x}?", 0)).propose("a", turn())).similar == "a?"
    proposed = await FunctionEvaluator("f", later).propose("a", turn())
    assert (proposed.similar, proposed.bit) == ("a!", 1)


@pytest.mark.parametrize("answer", [None, "ab", ("x",), ("x", 2), ("x", "1"), ("x", 1, 1)])
async def test_a_callable_that_gives_anything_else_is_told(answer):
    with pytest.raises(EvaluatorFailed, match="expected a pair"):
        await FunctionEvaluator("f", lambda _: answer).propose("a", turn())


async def test_a_callable_that_raises_costs_its_own_datapoint_alone():
    def broken(x):
        raise KeyError(x)

    def down(x):
        raise OracleUnavailable("away", retry_after=1)

    with pytest.raises(EvaluatorFailed, match="f raised KeyError"):
        await FunctionEvaluator("f", broken).propose("secret", turn())
    with pytest.raises(OracleUnavailable):
        await FunctionEvaluator("f", down).propose("a", turn())


def test_picking_needs_something_to_pick_from():
    with pytest.raises(ValueError, match="'pick' needs datapoints"):
        LLMEvaluator(object(), verifier(), Questions(), name="m", strategy="pick")  # type: ignore[arg-type]


def test_examples_are_read_with_or_without_labels(tmp_path):
    file = tmp_path / "examples.jsonl"
    file.write_text('\ufeff{"x": "a", "y": 1}\n\n{"x": {"b": [1]}}\n', encoding="utf-8")
    assert load_examples(file) == (Example("a", 1), Example({"b": [1]}))


@given(x=json_values)
def test_every_datapoint_can_be_shown_and_generated(x):
    class Reply:
        datapoint = shown(x)

    made = datapoint_of(Reply(), x)  # type: ignore[arg-type]
    assert made == x
    assert is_echo(x, made)


@given(first=json_values, second=json_values)
def test_echoes_are_alike_both_ways(first, second):
    assert is_echo(first, first)
    assert is_echo(first, second) == is_echo(second, first)


@pytest.mark.parametrize(
    ("first", "second"), [(True, 1), (1, 1.5), ("1", 1), (None, 0), ([], {}), ({"a": 1}, {"b": 1})]
)
def test_values_of_other_kinds_are_no_echoes(first, second):
    assert not is_echo(first, second)


def test_labels_are_compared_by_what_they_say():
    assert same_label(1, True)
    assert same_label("1", 1)
    assert same_label(" polite ", "polite")
    assert not same_label("polite", "Polite")
    assert not same_label(0, "")


def _ternary(*labels: str) -> Problem:
    rubrics = [
        parse_rubric(
            f'rubric: {one}\ncriteria:\n  - many: {{count: "1", at_least: {least}}}\n'
            f"label: {{by: all, values: {{0: {labels[-1]}, 1: {one}}}}}\n",
            shown=one,
        )
        for least, one in zip(range(9, 0, -3), labels[:-1], strict=False)
    ]
    return Problem("ones", tuple(rubrics))


@given(chosen=st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3))
def test_k_labels_come_from_k_minus_one_bits(chosen):
    problem = _ternary("many", "some", "few", "none")
    assert problem.labels == ("many", "some", "few", "none")
    assert problem.label(chosen) == (problem.labels[chosen.index(1)] if 1 in chosen else "none")
    assert problem.knows("few")
    assert not problem.knows("all")


def test_every_label_is_reached_and_a_lie_in_one_game_is_enough_to_fail():
    problem = _ternary("many", "few", "none")
    judges = [verifier(rubric) for rubric in problem.rubrics]
    echo = Scripted(lambda x, _: x)
    honest = Scripted(lambda x, _: "1" + "0" * 11)
    games = asyncio.run(play_all("0" * 12, [honest, echo], judges, seed="s"))
    assert [game.succeeded for game in games] == [True, False]
    assert len({game.seed for game in games}) == 2


def test_labels_stand_for_one_thing_each():
    with pytest.raises(ValueError, match="the label 'a' stands for two things"):
        _ternary("a", "a", "b")


def test_a_problem_has_a_rubric():
    with pytest.raises(ValueError, match="no rubric"):
        Problem("p", ())


def test_nothing_heavy_is_imported():
    code = (
        "import sys, checkers.labelling.checker, checkers.labelling.evaluators.sklearn, assay.cli.trust;"
        "print([name for name in ('numpy', 'sklearn', 'matplotlib', 'openai', 'torch') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
