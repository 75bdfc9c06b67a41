"""Rubric files: what conditions mean, what a judge is asked, what is refused, and the paper's table 1."""

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from assay.testing import ScriptedJudge
from checkers.labelling.questions import asking
from checkers.labelling.rubric import load_rubric, parse_rubric
from models.protocol import ClaimKind
from tests.checkers.labelling.players import (
    EXAMPLES,
    IN_PHENOMENON,
    OUT_OF_PHENOMENON,
    KnownJudge,
    encoded,
    label_of,
    rubric_of,
)
from tests.support.record_strategies import json_values

STRINGS = ["".join(bits) for bits in product("01", repeat=12)]
TICKET: dict[str, JsonValue] = {
    "subject": "Help",
    "body": "It is on fire.",
    "minutes": 61,
    "tags": ["Fire"],
    "to": None,
}


def faults(text: str) -> str:
    with pytest.raises(ValueError, match=r"^r\.yaml: ") as refusal:
        parse_rubric(text, shown="r.yaml")
    assert all(line.startswith("r.yaml: ") for line in str(refusal.value).split("\n"))
    return str(refusal.value).replace("r.yaml: ", "")


def test_table_1_of_the_paper():
    inside, outside = IN_PHENOMENON, OUT_OF_PHENOMENON
    assert list(inside.total)[3:] == ["starts_zero", "has_pattern"]
    assert outside.total == outside.criteria
    for x in STRINGS:
        zero, pattern, ones = x[0] == "0", "10101" in x, x.count("1")
        bits = (ones % 2 == 0, zero is not pattern, ones > 5)
        assert encoded(inside, x) == (bits, (*bits, zero, pattern))
        assert label_of(inside, bits) == int(sum(bits) >= 2)
        bits = ("111" in x, x[-1] == "1", "110001" in x)
        assert encoded(outside, x) == (bits, bits)


async def test_support_tickets():
    rubric = load_rubric(EXAMPLES / "support-tickets.yaml")
    body = "Nobody in the office can log in since this morning."
    ticket: JsonValue = {"subject": "We are LOCKED OUT", "body": body, "customer": {"plan": "free", "open_tickets": 3}}
    judge = KnownJudge(lambda question, x: x == body and "nothing but thanks" not in question)
    assert await rubric.bits(ticket, judge) == (1, 1, 0, 1)
    # The subject decides whether they are blocked, so that is not asked.
    assert ["thanks" in question for question, _ in judge.asked] == [True]
    assert await rubric.bits(ticket, judge, total=True) == (1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0)
    assert (label_of(rubric, (1, 1, 0, 1)), label_of(rubric, (0, 1, 1, 1))) == ("on-call", "queue")
    assert "blocked: names_outage || cannot_work, where names_outage: the subject has " in rubric.described
    assert 'asked about the field "body"' in rubric.described


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        *(('x.subject.contains("el")', True), ('x.subject.lower() == "help"', True), ("x.minutes > 60.5", True)),
        *(('x.body.words().size() == 4 && x.body.count("i") == 2', True), ('x.tags[0].lower() == "fire"', True)),
        *(("x.to == null && !has(x.cc) && type(x.minutes) == int", True), ('x.body.matches(r"\\bfire\\b")', True)),
        *(('x.subject in ["Help", "SOS"] && x.tags.exists(tag, tag.startsWith("F"))', True), ("x.size() == 5", True)),
        *(("x.from == 1", False), ("x.from != 1", False), ("x.minutes.contains('6')", False)),
        *(("x.subject", False), ("x.subject > 60", False), ("x.minutes == '61'", False), ("x.minutes", False)),
    ],
)  # fmt: skip
def test_a_condition_holds_if_its_expression_is_true_and_nothing_is_converted_or_guessed(condition, holds):
    assert encoded(rubric_of(condition), TICKET) == ((holds,), (holds,))


@given(x=json_values)
def test_every_datapoint_has_bits(x: JsonValue):
    assert encoded(rubric_of("x.no.such.field == 1", "x.contains('é')"), x)[0] == (0, isinstance(x, str) and "é" in x)


def test_an_expression_cannot_run_away():
    loops = "x.all(a, x.all(b, x.all(c, x.all(d, a + b + c + d > 0))))"
    assert encoded(rubric_of(loops), [1] * 100)[0] == (0,)
    assert encoded(rubric_of('x.matches("(a*)*b")'), "a" * 20_000)[0] == (0,)


ATOMS = ["has_a", "has_b", "asks_p", "asks_q"]
TRUTHS = st.fixed_dictionaries(dict.fromkeys("pq", st.booleans()))
EXPRESSION = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: (
        inner.map(lambda one: f"!({one})")
        | st.tuples(inner, st.sampled_from(["&&", "||", "!="]), inner).map(
            lambda three: f"({three[0]}) {three[1]} ({three[2]})"
        )
    ),
    max_leaves=6,
)


@given(expression=EXPRESSION, text=st.text("ab", max_size=3), truths=TRUTHS)
async def test_compounds_are_what_they_say_and_ask_no_more_than_they_depend_on(expression, text, truths):
    clauses = {"has_a": 'x.contains("a")', "has_b": 'x.contains("b")', "asks_p": {"ask": "p"}, "asks_q": {"ask": "q"}}
    used = {name: one for name, one in clauses.items() if name in expression}
    rubric = rubric_of(expression, clauses=used)
    judge = KnownJudge(lambda question, _: truths[question])
    values = {"has_a": "a" in text, "has_b": "b" in text, "asks_p": truths["p"], "asks_q": truths["q"]}
    as_python = expression.replace("!=", "^").replace("!", "1^").replace("&&", "&").replace("||", "|")
    expected = int(eval(as_python, {}, values))  # noqa: S307
    assert await rubric.bits(text, judge) == (expected,)
    asked = {question for question, _ in judge.asked}
    assert asked <= {name[-1] for name in used if name.startswith("asks")}
    for question in asked:
        assert judge.asked[question, json.dumps(text)] == 1
    assert await rubric.bits(text, judge, total=True) == (expected, *(int(values[name]) for name in used))


async def test_the_judge_is_asked_whether_a_datapoint_meets_a_criterion_and_about_each_pair_once():
    judge = ScriptedJudge(1.0, 0.0)
    holds = asking(judge)
    assert [await holds("Is it?", x) for x in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "a", "a")] == [1, 1, 0, 0]
    assert [(one.kind, one.reference, one.sentences) for one in judge.claims] == [
        (ClaimKind.CRITERION, '{"a": 1, "b": 2}', ("Is it?",)),
        (ClaimKind.CRITERION, "a", ("Is it?",)),
    ]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_the_label_is_a_vote_or_a_sum(bits: list[int]):
    def label(by: str, **options: object) -> object:
        return label_of(rubric_of(*(f"x == {n}" for n in range(len(bits))), label={"by": by, **options}), bits)

    def weighted(threshold: float) -> object:
        return label("weights", weights={f"c{number}": 1 for number in range(len(bits))}, threshold=threshold)

    assert label("majority") == weighted(len(bits) / 2) == int(2 * sum(bits) >= len(bits))
    assert label("all") == weighted(len(bits)) == min(bits)
    assert label("any", values={"0": "bad", "1": "good"}) == ("good" if weighted(1) else "bad")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("c: x.contians('a')", "criteria.c: not an expression of CEL, column 11: undeclared reference to 'contians'; "),
        ("c: 1 + 1", "criteria.c: the expression is of the type INT; a condition is true or false"),
        ("c: x.matches('(')", "criteria.c: not an expression of RE2, invalid regular expression: missing )"),
        ("c: {asc: a}", "criteria.c.asc: unknown key; did you mean ask? allowed: if, ask, of, says"),
        ("c: {if: x.a, ask: Is it?}", 'criteria.c: should be an expression such as x.contains("word"), or have the'),
        ("c: {ask: Is it?, of: y}", "criteria.c: not an expression of CEL, column 1: undeclared reference to 'y'"),
        ("c: x.a, c: x.b", 'not YAML: while constructing a mapping found duplicate key "c"'),
    ],
)
def test_a_faulty_condition_is_refused_by_its_key_path_with_what_is_allowed(text: str, fault: str):
    assert fault in faults(f"rubric: r\ncriteria: {{{text}}}\nlabel: any\n")


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ("majorty", "label.by: Input should be 'majority', 'any', 'all' or 'weights', got \"majorty\""),
        ("{by: any, threshold: 1}", "label: 'weights' and 'threshold' go with by: weights, and both are needed there"),
        (
            "{by: weights, weights: {c: 1, d: 1}, threshold: 1}",
            "label.weights: one for each criterion, in their order: c",
        ),
        ("{by: any, values: {0: 1, 1: true}}", "label.values: should be {0: LABEL, 1: LABEL}: two different texts, "),
    ],
)
def test_a_faulty_label_is_refused_by_its_key_path(label: str, fault: str):
    assert fault in faults(f"rubric: r\ncriteria: {{c: x.a}}\nlabel: {label}\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "Input should be a valid dictionary, got null"),
        ("a: [b", "not YAML: while parsing a flow sequence expected ',' or ']', but got '<stream end>' (line 1, "),
        ("[" * 50 + "]" * 50, "not YAML: maximum depth of data structure exceeded"),
        ("!!python/object/apply:os.system {a: 1}", "not YAML: could not determine a constructor for the tag"),
    ],
)
def test_a_faulty_file_is_refused(text: str, fault: str):
    assert fault in faults(text)


def test_all_faults_are_named(tmp_path: Path):
    wrong = (
        "rubric: r\ncriteria:\n  a: x.no()\n  b: has_b || 1\nclauses:\n  has_b: y\n  unused: x.a\n  a2: 5\nlabel: any\n"
    )
    assert faults(wrong).startswith("clauses.a2: ")
    found = faults(wrong.replace("  a2: 5\n", "")).split("\n")
    assert [one.split(":")[0] for one in found] == ["criteria.a", "criteria.b", "clauses.has_b", "clauses.unused"]
    with pytest.raises(ValueError, match=r"r\.yaml: cannot be read: .*No such file"):
        load_rubric(tmp_path / "r.yaml")


PIECES = st.sampled_from(
    [*": |:|- |\n|\n  | |{|}|[|]|,|\"|'|? |#|!!str |&a|*a|---\n|%YAML 1.2\n|\t|\\U00110000|0|~|\0|\ud800|<<".split("|")]
)
WHOLE = (EXAMPLES / "support-tickets.yaml").read_text(encoding="utf-8")


@given(st.integers(0, len(WHOLE)), st.integers(0, 30), PIECES | st.text(max_size=5))
def test_a_damaged_rubric_is_a_rubric_or_refused(at: int, cut: int, put: str):
    try:
        rubric = parse_rubric(WHOLE[:at] + put + WHOLE[at + cut :], shown="r.yaml")
    except ValueError:
        return
    assert rubric.described
