"""Tool calls: what is decided without a judge, what with one, and what is left open."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from assay.testing import ScriptedJudge
from checkers.checker import Models
from checkers.tool_call import PLUGIN
from models.protocol import Answer, Claims, Grades, Judgement
from schemas import Abstention, ToolCall, ToolCallEvidence, Verdict
from tests.checkers.case import cause_of, evidence_of
from tests.checkers.tool_call.setting import call


class GradingJudge(ScriptedJudge):
    """A judge whose grades are given by kind of claim, in order."""

    def __init__(self, **grades: Sequence[Judgement]) -> None:
        super().__init__()
        self._grades = {"control": _grades(0.1), **grades}

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        self.claims += claims
        return Answer((tuple(self._grades[task.removeprefix("tool_call.")]),))


def _grades(*supports: float, **more: Any) -> list[Judgement]:
    return [Judgement(support, f"support {support}", None, **more) for support in supports]


async def _verdict(record: ToolCall, judge: Any = None, **settings: Any) -> Verdict:
    given = {"ask_judge": judge is not None, **settings}
    models = Models(judge=judge or ScriptedJudge())
    return await PLUGIN.build(PLUGIN.settings.model_validate(given), models).check(record)


_found = partial(evidence_of, ToolCallEvidence)


FAILED = {"result": {"isError": True}}


@pytest.mark.parametrize(
    ("changed", "fault", "says"),
    [
        ({"name": "hire_boat"}, "unknown_tool", "There is no tool 'hire_boat'; there are book_boat"),
        (
            {"arguments": '{"boat": "Els'},
            "unparsable",
            "cannot be read: Invalid JSON: EOF while parsing a string at line 1",
        ),
        ({"arguments": "[1]"}, "unparsable", "Input should be an object"),
        ({"arguments": ""}, "schema", "'boat' is a required property"),
        ({"arguments": {"boat": "Elster", "day": "July"}}, "schema", "at $.day (format): 'July' is not a 'date'"),
        ({"arguments": {"boat": 3, "day": 4}}, "schema", "at $.day (type): 4 is not of type"),
        (FAILED | {"response": '{"status": "ok"}'}, "told_as_success", "failed, and the response says that it did not"),
    ],
)
async def test_what_needs_no_judge_is_rejected_without_asking_one(changed: dict[str, Any], fault: str, says: str):
    judge = ScriptedJudge()
    for asked in (judge, None):
        verdict = await _verdict(call(**changed), asked)
        assert (verdict.outcome, verdict.score, _found(verdict).fault) == ("reject", 0.0, fault)
        assert says in verdict.reason
    assert judge.claims == []
    assert verdict.judge == "none"


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"arguments": '{"boat": "Elster", "day": "2026-07-04"}'},
        {"tools": [{"name": "book_boat", "parameters": {}}], "arguments": ""},
        FAILED | {"response": "It is booked."},
        FAILED | {"response": '{"error": "no boat"}'},
    ],
)
async def test_without_a_judge_what_only_one_could_tell_is_left_untested(changed: dict[str, Any]):
    verdict = await _verdict(call(**changed))
    assert (verdict.outcome, verdict.score) == ("accept", 1.0)
    assert _found(verdict).findings == ()


async def test_a_call_about_which_nothing_is_known_is_left_open():
    verdict = await _verdict(call(tools=[], prompt=None), GradingJudge())
    assert cause_of(verdict) == "no_reference"
    # The prompt is enough to judge the values by.
    assert (await _verdict(call(tools=[]), GradingJudge(arguments=_grades(0.9, 0.8)))).outcome == "accept"


async def test_each_value_is_a_claim_about_prompt_and_contexts_and_the_worst_one_decides():
    judge = GradingJudge(arguments=_grades(0.9, 0.2))
    verdict = await _verdict(call(contexts=["The Elster is free in July."]), judge)
    assert (verdict.outcome, verdict.score, _found(verdict).fault) == ("reject", 0.2, "argument")
    assert verdict.reason == "day is “2026-07-04”: support 0.2."
    assert [(one.name, one.value, one.finding, one.support) for one in _found(verdict).findings] == [
        ("boat", "Elster", "supported", 0.9),
        ("day", "2026-07-04", "unsupported", 0.2),
    ]
    (claims,) = judge.claims  # no control is needed where it rejects
    assert claims.reference == "The user says: I would like the Elster on 2026-07-04.\n\nThe Elster is free in July."
    assert "Elster" in claims.sentences[0]
    assert "Name of the boat" in claims.sentences[0]


async def test_values_within_objects_are_claims_and_defaults_and_empty_ones_are_not():
    address = {"type": "object", "properties": {"city": {"type": "string", "description": "where it goes"}}}
    schema = {"properties": {"to": address, "speed": {"enum": ["slow", "fast"], "default": "slow"}}}
    arguments = {"to": {"city": "Ghent", "note": None}, "tags": [], "text": "", "speed": "slow"}
    tools = [{"name": "ship", "parameters": schema}]
    judge = GradingJudge(arguments=_grades(0.9))
    verdict = await _verdict(call(name="ship", tools=tools, arguments=arguments), judge)
    assert verdict.outcome == "accept"
    assert [(one.name, one.finding) for one in _found(verdict).findings] == [("to.city", "supported")]
    assert judge.claims[0].sentences == ("To.city (where it goes): Ghent",)
    # What is not the default was chosen for a reason.
    chosen = GradingJudge(arguments=_grades(0.9, 0.1))
    fast = call(name="ship", tools=tools, arguments=arguments | {"speed": "fast"})
    assert (await _verdict(fast, chosen)).outcome == "reject"


@pytest.mark.parametrize(
    ("failure", "success", "outcome"), [(0.9, 0.2, "accept"), (0.3, 0.8, "reject"), (0.9, 0.95, "reject")]
)
async def test_a_failure_is_told_where_that_follows_rather_than_a_success(failure, success, outcome):
    judge = GradingJudge(arguments=_grades(0.9, 0.9), response=_grades(failure, success))
    verdict = await _verdict(call(**FAILED, response="Well."), judge)
    told = _found(verdict).findings[-1]
    finding, fault = ("supported", None) if outcome == "accept" else ("unsupported", "told_as_success")
    assert (verdict.outcome, told.name, told.finding) == (outcome, "(response)", finding)
    assert _found(verdict).fault == fault
    assert told.support == pytest.approx((1 + failure - success) / 2)
    assert "Well." in {claims.reference for claims in judge.claims}
    # Of a result that is none, or none that failed, nothing is asked.
    fine = GradingJudge(arguments=_grades(0.9, 0.9))
    assert (await _verdict(call(result={"ok": True}, response="Well."), fine)).outcome == "accept"


async def test_what_the_judge_leaves_open_is_left_open_unless_a_fault_is_sure():
    open_ = [*_grades(0.9), *_grades(0.4, unsure=True)]
    verdict = await _verdict(call(), GradingJudge(arguments=open_))
    assert isinstance(verdict.evidence, Abstention)
    assert (verdict.evidence.cause, verdict.evidence.score) == ("between_thresholds", 0.4)
    assert "not sure of 1, the first: day is “2026-07-04”" in verdict.reason
    sure = [*_grades(0.1), *_grades(0.4, unsure=True)]
    assert (await _verdict(call(), GradingJudge(arguments=sure))).outcome == "reject"


async def test_a_judge_that_agrees_to_whatever_it_is_told_accepts_nothing():
    verdict = await _verdict(call(), GradingJudge(arguments=_grades(0.9, 0.9), control=_grades(0.9)))
    assert cause_of(verdict) == "judge_misled"


async def test_a_rejected_call_names_every_fault_on_a_line():
    verdict = await _verdict(call(arguments={"boat": "Elster", "day": "\x1b[1mJuly\n", "crew": 2}))
    assert len(_found(verdict).faults) == 2
    assert verdict.reason == "; ".join(_found(verdict).faults) + "."


def test_a_result_says_by_its_structure_whether_it_failed():
    assert [call(result=one).failed for one in (None, "All is well.", [1], {"status": 450_000})] == [None] * 4
    assert [call(result=one).failed for one in ({"error": None}, '{"ok": true}')] == [False] * 2
    failed = [{"isError": True}, {"success": False, "status": "ok"}, {"error": {"code": 7}}, "TimeoutError: no answer"]
    assert all(call(result=one).failed for one in failed)
    assert call(result={"ok": True}, is_error=True).failed
