"""`assay probes build` as users run it, against an endpoint whose knowledge and likelihoods are known."""

import json
from collections import Counter
from pathlib import Path

import pytest

from checkers.longtail.corpus import STATEMENTS, Statement, read_corpus
from tests.lab.interrupted import killed
from tests.lab.link.world import World, build_of_rules, gaps_of, log_likelihood, named_in, statements_of


def build(world: World, cwd: Path, **sizes: int) -> dict:
    """The figures of a build into the folder `out`."""
    ran = world.build(cwd, "--json", **sizes)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def numbers(statements: list[Statement]) -> list[int]:
    """The number of the tool in each."""
    return [round(-10 * log_likelihood(one.premise)) for one in statements]


@pytest.mark.parametrize(("beams", "tools", "left"), [(200, 16, 9), (8, 16, 1)])
def test_the_separation_is_what_the_likelihoods_make_it(beams: int, tools: int, left: int, tmp_path: Path):
    """Each of the two rerankings keeps three quarters of the tools, or so many beams; what both have is left out."""
    with World(tools=tools, rooms=8) as world:
        figures = build(world, tmp_path, beams=beams)
    (rule,) = figures["rules"]
    assert rule["delta"] == figures["mean_delta"] == pytest.approx(0.1 * max(tools - left, left))
    assert figures["mean_interval"] == pytest.approx([rule["low"], rule["high"]])
    statements = list(read_corpus(tmp_path / "out"))
    assert rule["head"] + rule["tail"] == len(statements)
    assert rule["in_both"] == 8 * max(0, 2 * left - tools)
    head, tail = (numbers([one for one in statements if one.distribution == kind]) for kind in ("head", "tail"))
    assert set(head) == set(range(len(set(head))))
    assert set(tail) == set(range(tools - len(set(tail)), tools))


def test_a_statement_holds_what_probes_need(tmp_path: Path):
    with World(tools=4, rooms=2) as world:
        build(world, tmp_path)
    first = next(read_corpus(tmp_path / "out"))
    assert first == Statement(
        rule="Person X works only with Tool A & Tool A fits into Room B -> Person X can work in Room B",
        domain="natural properties",
        distribution="head",
        premise="Person X works only with tool-0",
        conclusion="Person X can work in room-0",
        negation="Person X cannot work in room-0",
        question="can Person X work in room-0",
        answer="yes",
        correct=True,
        log_likelihood=0.0,
    )


def test_a_variable_gets_four_calls_that_leave_out_what_is_accepted(tmp_path: Path):
    with World(tools=90, rooms=0) as world:
        ran = world.build(tmp_path, values=20)
        assert ran.returncode == 3
        assert "no statement was found" in ran.stderr
        tools = [one for one in world.calls_for_values if "works only with ___" in gaps_of(one)]
        rooms = [one for one in world.calls_for_values if "fits into ___" in gaps_of(one)]
    assert [len(named_in(one)) for one in tools] == [0, 20, 40, 60]
    assert all(one.body["temperature"] == 0.7 for one in tools)
    # Of 80 tools 60 go on to each distribution, 40 of them to both; two calls in vain end each search.
    assert Counter(gaps_of(one) for one in rooms) == {f"tool-{number} fits into ___.": 2 for number in range(80)}


def test_what_the_critic_doubts_is_left_out_and_makes_the_statements_that_are_wrong(tmp_path: Path):
    def holds(statement: str) -> float:
        if statement in ("Room-1 is a room.", "Tool-2 is a tool."):
            return 0.6
        if "fits into" in statement and ("room-3" in statement or "room-4" in statement):
            return 0.02
        # A broken chain proves nothing: in room-4 one can work all the same.
        return 0.02 if "room-3" in statement and statement.startswith("If ") else 0.97

    with World(tools=24, rooms=6, holds=holds) as world:
        build(world, tmp_path)
    statements = list(read_corpus(tmp_path / "out"))
    assert not any("tool-2" in one.premise.split() or "room-1" in one.conclusion for one in statements)
    assert {one.conclusion for one in statements if not one.correct} == {"Person X can work in room-3"}
    assert {one.conclusion[-1] for one in statements if one.correct} == set("025")
    for kind in ("head", "tail"):
        right, wrong = (
            [one for one in statements if one.distribution == kind and one.correct == correct]
            for correct in (True, False)
        )
        assert len(wrong) == round(len(right) * 0.16 / 0.84) > 0


def test_what_stopped_a_search_is_told_with_a_table_of_its_variables(tmp_path: Path):
    with World(tools=3, rooms=2, holds=lambda said: 0.51 if said.startswith("Tool") else 0.97) as world:
        ran = world.build(tmp_path, values=3)
    assert ran.returncode == 3
    told = "Error: no statement was found: tools: Tool A: 3 named, 0 of the type (best 0.51, needed 0.65)"
    assert ran.stderr.splitlines()[-1] == told
    (row,) = [one.split() for one in ran.stdout.splitlines() if "Tool A" in one and "lacks" not in one]
    assert row[3:9] == ["1", "3", "0", "0.510", "0.650", "0"]
    assert not (tmp_path / "out" / STATEMENTS).exists()


def test_what_a_real_model_lists_is_taken_but_for_repeats_and_what_is_no_value(tmp_path: Path):
    """The list is Qwen2.5-Coder-1.5B-Instruct's of countries, with what small models add."""
    listed = ["the United States", "Canada", "Australia", "1. Brazil", "canada", "", "___", "<text-1f>", "Germany."]
    with World(tools=0, rooms=0) as world:
        answer = world.answer
        world.answer = lambda asked: answer(asked) if statements_of(asked) else json.dumps({"values": listed})
        ran = world.build(tmp_path, "--json", values=9)
        schema = world.calls_for_values[0].body["response_format"]["json_schema"]["schema"]["properties"]["values"]
        limits = {request.body["max_tokens"] for request in world.calls_for_values}
        asked = {one for request in world.requests for one in statements_of(request) if one.endswith("is a tool.")}
    assert json.loads(ran.stdout)["variables"][0]["named"] == 5
    assert asked == {f"{one} is a tool." for one in ("The United States", "Canada", "Australia", "Brazil", "Germany")}
    assert (schema["minItems"], schema["maxItems"], schema["items"]["minLength"]) == (9, 9, 1)
    assert max(limits) <= 200


def test_a_build_that_was_killed_goes_on_where_it_stopped_and_asks_nothing_twice(tmp_path: Path):
    statements = tmp_path / "out" / STATEMENTS
    with World(tools=12, rooms=12) as world:
        build(world, tmp_path, values=6)
        whole, needed = statements.read_bytes(), len(world.asked)
        (tmp_path / "out").rename(tmp_path / "undisturbed")
        world.requests.clear()
        # One at a time: if the next question is there, the answer to the one before it has been taken in.
        variables = world.variables() | {"ASSAY_JUDGE__CONCURRENCY": "1"}
        killed([*build_of_rules(tmp_path), "--values=6"], world, needed // 2, tmp_path, **variables)
        answered = world.asked[:-2]
        assert not statements.exists()
        world.requests.clear()

        build(world, tmp_path, values=6)
        assert not set(answered) & set(world.asked)
        assert len(set(world.asked)) == len(world.asked)
        assert statements.read_bytes() == whole

        world.requests.clear()
        build(world, tmp_path, values=6)
        assert world.asked == []
        assert statements.read_bytes() == whole
