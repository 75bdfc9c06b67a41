"""What a search asks, and in which order; which beams go on; what is left out again."""

import json
from pathlib import Path

import pytest

from checkers.longtail.corpus import read_corpus
from checkers.longtail.settings import LinkSettings
from lab.link.reranking import kept
from lab.link.rules.reading import parsed
from lab.link.values import gap_of
from tests.assay.running import assay
from tests.support.link import RULES, World
from tests.support.stub_acts import status

ALLERGY = (
    "is_allergic_to(Person X, Allergen A) & is_a_kind_of(Ingredient Z, Allergen A) & is_in(Ingredient Z, Dish B) "
    "-> cannot_eat(Person X, Dish B)"
)
VALUES = {"X": "Person X", "A": "dairy", "Z": "milk", "B": "risotto"}


@pytest.mark.parametrize(
    ("order", "variable", "known", "sentences", "facts"),
    [
        ("forward", "A", "X", ["Person X is allergic to {A}"], []),
        ("forward", "Z", "XA", ["{Z} is a kind of dairy"], ["{Z} is a kind of dairy"]),
        # The conclusion stays out.
        ("forward", "B", "XAZ", ["milk is in {B}"], ["milk is in {B}"]),
        ("backward", "B", "X", ["Person X cannot eat {B}"], []),
        ("backward", "Z", "XB", ["{Z} is in risotto"], ["{Z} is in risotto"]),
        (
            "backward",
            "A",
            "XBZ",
            ["Person X is allergic to {A}", "milk is a kind of {A}"],
            ["milk is a kind of {A}"],
        ),
    ],
)
def test_a_variable_is_asked_for_in_all_sentences_whose_other_value_is_known_and_judged_in_those_that_are_facts(
    order: str, variable: str, known: str, sentences: list[str], facts: list[str]
):
    (rule,) = parsed(f"[food]\n{ALLERGY} order {order}", "t.rules")
    gap = gap_of(rule, variable, {name: VALUES[name] for name in known})
    assert (list(gap.sentences), list(gap.facts)) == (sentences, facts)


@pytest.mark.parametrize(("count", "left"), [(0, 0), (1, 1), (8, 6), (9, 7), (200, 150), (201, 200), (40_000, 200)])
def test_of_more_than_200_beams_200_go_on_else_three_quarters(count: int, left: int):
    assert kept(count, LinkSettings()) == left


def build(world: World, text: str, cwd: Path, **settings: float):
    (cwd / "t.rules").write_text(text, encoding="utf-8")
    sizes = {f"ASSAY_LONGTAIL__LINK__{name.upper()}": str(value) for name, value in settings.items()}
    given = {**world.variables(), "ASSAY_LONGTAIL__LINK__WRONG_SHARE": "0", **sizes}
    return assay("probes", "build", "t.rules", "--out", "out", cwd=cwd, **given)


def test_a_value_that_was_accepted_is_left_out_once_there_are_more_probable_ones(tmp_path: Path):
    def holds(statement: str) -> float:
        return 0.72 if "fits into" in statement and statement.endswith(("room-0.", "room-1.")) else 0.92

    with World(tools=8, rooms=6, holds=holds) as world:
        ran = build(world, RULES, tmp_path, values=2, calls=3, keep=0.5)
        assert ran.returncode == 0, ran.stderr
        rooms = [one.fences["named"] for one in world.calls_for_values if "tool-0 fits into" in one.fences["sentences"]]
    # In the first call they are the best, and are not to be named again; in the second they are not right any more.
    assert [json.loads(one) for one in rooms] == [[], ["room-0", "room-1"], ["room-2", "room-3"]]
    assert {one.conclusion[-1] for one in read_corpus(tmp_path / "out")} <= set("2345")


def test_beams_that_differ_in_what_is_not_told_make_one_statement(tmp_path: Path):
    rule = (
        "is_part_of(Person X, Tool A) & is_in(Part Z, Tool A) & fits_into(Part Z, Room B) -> works_in(Person X, Room B)"
    )
    with World(tools=4, rooms=3) as world:
        world.things["Part"] = ["wheel", "lid"]
        ran = build(world, f"[natural properties]\n{rule} vetted", tmp_path, keep=0.5, calls=1)
    assert ran.returncode == 0, ran.stderr
    said = [(one.premise, one.conclusion) for one in read_corpus(tmp_path / "out")]
    assert len(set(said)) == len(said) > 0
    # Head and tail keep two tools, then both parts of one of these, then three of six rooms, one of them twice.
    assert len(said) == 2 * 2


def test_nothing_is_related_to_itself(tmp_path: Path):
    with World(tools=6, rooms=0) as world:
        rule = "works_only_with(Person X, Tool A) & hangs_beside(Tool A, Tool B) -> sees(Person X, Tool B)"
        ran = build(world, f"[natural properties]\n{rule} vetted", tmp_path, keep=0.5, calls=1)
    assert ran.returncode == 0, ran.stderr
    said = [(one.premise[-1], one.conclusion[-1]) for one in read_corpus(tmp_path / "out")]
    assert said
    assert all(first != second for first, second in said)


def test_the_critic_is_asked_about_a_data_type_with_its_article(tmp_path: Path):
    with World(tools=4, rooms=2) as world:
        world.things["Hour"] = world.things["Tool"]
        ran = build(world, RULES.replace("Tool A", "Hour A"), tmp_path, keep=0.5)
    assert ran.returncode == 0, ran.stderr
    assert any("tool-0 is an Hour." in one.fences.get("statements", "") for one in world.requests)


def test_questions_without_a_usable_answer_are_told_and_asked_again_by_the_next_build(tmp_path: Path):
    with World(tools=8, rooms=4) as world:
        answer = world._script

        def script(request):
            refused = "tool-3 fits into" in request.fences.get("sentences", "")
            return status(400, "I do not talk about that") if refused else answer(request)

        world.play(script)
        first = build(world, RULES, tmp_path, keep=0.5)
        assert first.returncode == 0, first.stderr
        # Two calls in vain end the search.
        assert "2 questions without a usable answer: judge_failed" in first.stdout
        assert not any("tool-3" in one.premise for one in read_corpus(tmp_path / "out"))
        world.play(answer)
        world.requests.clear()
        second = build(world, RULES, tmp_path, keep=0.5)
        assert second.returncode == 0, second.stderr
        assert "without a usable answer" not in second.stdout
        assert all("tool-3" in one.fences["sentences"] for one in world.calls_for_values)
        assert world.calls_for_values


WRONG = [
    ({"ASSAY_JUDGE__BACKEND": "local"}, "longtail.link.knowledge is the judge, and the local judge compares texts"),
    (
        {"ASSAY_LONGTAIL__LINK__CRITIC": "nobody"},
        "longtail.link.critic: there is no model 'nobody'; configured are judge",
    ),
    ({"ASSAY_LONGTAIL__LINK__SCORER": "endpoint:nobody"}, "longtail.link.scorer: there is no model 'nobody'"),
    ({"ASSAY_LONGTAIL__LINK__SCORER": "no/model", "HF_HUB_OFFLINE": "1"}, "'no/model' is no folder and cannot be"),
    ({"ASSAY_LONGTAIL__LINK__KEEP": "0"}, "ASSAY_LONGTAIL__LINK__KEEP = '0': should be greater than 0"),
    ({"arguments": ("none.rules",)}, "none.rules: cannot be read: No such file"),
    ({"arguments": ("t.rules", "--only", "b")}, "--only b: there is no such rule in t.rules; there are tools"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[told[:30] for _, told in WRONG])
def test_a_users_mistake_is_named(given: dict, told: str, tmp_path: Path):
    (tmp_path / "t.rules").write_text(RULES, encoding="utf-8")
    with World(tools=1, rooms=1) as world:
        arguments = given.pop("arguments", ("t.rules",))
        ran = assay("probes", "build", *arguments, "--out", "out", cwd=tmp_path, **{**world.variables(), **given})
        assert not world.requests
    assert ran.returncode == 2
    assert told in ran.stderr


def test_a_second_build_in_the_same_folder_is_refused_while_the_first_is_at_work(tmp_path: Path):
    from lab.link.answers import FILE, AnswerStore

    (tmp_path / "out").mkdir()
    with World(tools=1, rooms=1) as world, AnswerStore(tmp_path / "out" / FILE):
        ran = build(world, RULES, tmp_path)
    assert ran.returncode == 2
    assert "is another build at work there?" in ran.stderr
