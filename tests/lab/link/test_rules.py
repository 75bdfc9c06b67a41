"""Rules are read from YAML files, held against the criteria, and refused by the key that is wrong."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.longtail.corpus import DOMAINS
from lab.link.rules import BadRules, Rule, bundled_rules, read_rules, rule_of, written
from lab.link.statements import premise_of

# As the paper prints them (LINK, tables 4, 11 and 13).
RULE_0 = (
    "lived_in(Person P, Geographic Location A) & lived_during(Person P, Historical Time Period D) & "
    "existed_during(Geographic Location A, Historical Time Period D) & "
    "was_invented_in(Product or Technology C, Year Y) & "
    "is_more_than_a_century_earlier_than(Historical Time Period D, Year Y) → "
    "is_not_able_to_use(Person P, Product or Technology C)"
)
RULE_58 = "can_treat(Drug B, Name of Disease X) & has(Person A, Name of Disease X) → should_take(Person A, Drug B)"
RULE_112 = (
    "has_trouble_containing(Room B, Furniture C) & is_larger_than(Furniture A, Furniture C) → "
    "cannot_fit_in(Furniture A, Room B)"
)
RULE_116 = (
    "has_trouble_containing(Drawer B, Tool C) & is_larger_than(Tool A, Tool C) → cannot_be_placed_in(Tool A, Drawer B)"
)
RULE_122 = (
    "has_trouble_containing(Trunk B, Furniture C) & is_larger_than(Furniture A, Furniture C) → "
    "cannot_fit_in(Furniture A, Trunk B)"
)
META_RULE = (
    "is_of_age(Person A, Age X) & requires_a_minimal_age_of(Object B, Age Y) & is_smaller_than(Age X, Age Y) → "
    "cannot_operate(Person A, Object B)"
)
ALLERGY = (
    "allergic_to(Person X, Allergen A) & one_type_of(Ingredient Z, Allergen A) & ingredient_in(Ingredient Z, Dish B) "
    "-> cannot_eat(Person X, Dish B)"
)


def entry(text: str, **keys: object) -> dict[str, object]:
    """The rule as it stands in a file, with the words of each verb as its sentence."""
    said = []
    for verb, arguments in re.findall(r"([\w']+)\(([^)]*)\)", text):
        first, *_, second = (argument.split()[-1] for argument in arguments.split(","))
        said.append(f"{{{first}}} {verb.replace('_', ' ')} {{{second}}}")
    turned = said[-1].replace("cannot", "can")
    forms = {"premise": said[:-1], "conclusion": said[-1], "negation": turned, "question": turned, "answer": "no"}
    return {"domain": "natural properties", "rule": text, **forms, **keys}


def rule(text: str, **keys: object) -> Rule:
    return rule_of("r", entry(text, **keys))


@pytest.mark.parametrize(
    ("text", "keys", "chain", "searched", "general"),
    [
        (ALLERGY, {}, "XAZB", "AZB", "Person X"),
        (RULE_0, {"order": "backward"}, "PADYC", "CYDA", "Person X"),
        (RULE_58, {"subject": "A"}, "AXB", "XB", "Person X"),
        (RULE_112, {}, "BCA", "CA", "Room X"),
        (RULE_112, {"subject": "A", "order": "backward"}, "ACB", "BC", "Furniture X"),
        (RULE_116, {}, "BCA", "CA", "Drawer X"),
        (RULE_122, {}, "BCA", "CA", "Trunk X"),
        (META_RULE, {"order": "backward", "expand": "B"}, "AXYB", "BYX", "Person X"),
    ],
)
def test_the_papers_rules_are_searched_along_their_chain_numeric_ones_from_the_conclusion_back(
    text: str, keys: dict[str, object], chain: str, searched: str, general: str
):
    found = rule(text, **keys)
    told = ("".join(found.rule.chain(found.generic)), "".join(found.searched), found.general_value)
    assert told == (chain, searched, general)
    assert str(found.rule) == text.replace("→", "->")


def test_rules_read_as_they_were_written(tmp_path: Path):
    rules = [
        *bundled_rules(),
        rule(RULE_112, subject="A", order="backward", expand="C", question='says "yes: {A} {B}"'),
    ]
    (tmp_path / "t.yaml").write_text(written(rules), "utf-8")
    assert read_rules(tmp_path / "t.yaml") == rules


@pytest.mark.parametrize(
    ("text", "keys", "complaint"),
    [
        (
            "is_part_of(Person X, Tool A) & is_in(Tool A, Room B) -> fits(Key C, Lock D)",
            {},
            "r: .*share no variable.*criterion 1",
        ),
        (RULE_112, {"subject": "C"}, "r: .*subject must be in premise and conclusion.* B and A.*criterion 1"),
        (
            "has(Person X, Tool A) & is_in(Room B, Town C) -> lives_in(Person X, Town C)",
            {},
            "r: no single chain.*from the subject X to C.*criterion 2",
        ),
        (
            "has(Person X, Tool A) & has(Person X, Key B) & opens(Person X, Door C) -> uses(Person X, Door C)",
            {},
            "r: no single chain.*from the subject X to C through A, B.*criterion 2",
        ),
        (
            "uses(Person X, Room B) & has(Person X, Key A) & opens(Key A, Room B) -> uses(Person X, Room B)",
            {},
            "r.rule: .*twice.*criterion 3",
        ),
        (
            "is_of(Person X, Town A) -> lives_in(Person X, Town A)",
            {},
            "r.rule: .*1 predicate.*2 variables.*criterion 4",
        ),
        (
            "has(Person X, Tool A) & is_in(Drawer A, Room B) -> uses(Person X, Room B)",
            {},
            "r.rule: .*type Drawer, and was",
        ),
        (
            "has(Person X, Tool A) & is_in(Tool A, B) -> uses(Person X, Room B)",
            {},
            r"r.rule: 'is_in\(Tool A, B\)' is no",
        ),
        (
            "has(Person, Tool A) & is_in(Tool A, Room B) -> uses(Person X, Room B)",
            {},
            r"r.rule: 'has\(Person, Tool A\)' is",
        ),
        (
            "is(Person X, Person X) & has(Person X, Tool A) -> is_in(Tool A, Room B)",
            {},
            "r.rule: .*same variable twice",
        ),
        ("has(Person X, Tool A) & is_in(Tool A, Room B)", {}, "r.rule: expected predicates joined by &, then ->"),
        (RULE_112, {"negation": "{A} fits"}, r"r.negation: '\{A\} fits' .*must name \{A\} and \{B\}"),
        (
            RULE_112,
            {"premise": ["{B} holds no {C}", "{A} is big"]},
            "r.premise: '{A} is big' stands for is_larger_than",
        ),
        (RULE_112, {"premise": ["{B} holds no {C}"]}, "r.premise: 1 sentences for the premise's 2 predicates"),
        (RULE_112, {"expand": "Z"}, "r: there is no variable Z to expand; there are B, C, A"),
        (RULE_112, {"answer": "perhaps"}, "r.answer: .*'yes' or 'no'"),
        (RULE_112, {"negatoin": "x"}, "r.negatoin: there is no such key; did you mean negation"),
        (RULE_112, {"sentence": "x"}, "r.sentence: there is no such key; allowed are domain, rule, premise"),
    ],
)
def test_a_rule_that_breaks_a_criterion_is_refused_by_its_key(text: str, keys: dict[str, object], complaint: str):
    with pytest.raises(BadRules, match=f"^{complaint}"):
        rule(text, **keys)


def test_every_wrong_rule_of_a_file_is_named(tmp_path: Path):
    file = tmp_path / "t.yaml"
    file.write_text("one: 3\ntwo: {domain: temporal}\n", "utf-8")
    with pytest.raises(BadRules) as told:
        read_rules(file)
    keys = [line.removeprefix(f"{file}: ").split(": ")[0] for line in str(told.value).split("\n")]
    missing = "rule premise conclusion negation question answer".split()
    assert keys == ["one", *(f"two.{key}" for key in missing)]


def test_a_file_that_is_none_is_named(tmp_path: Path):
    with pytest.raises(BadRules, match="cannot be read: No such file"):
        read_rules(tmp_path / "none.yaml")
    for data, complaint in (
        (b"\xff", "not YAML: .*invalid start byte"),
        (b"# nothing\n", "holds no rule; expected names of rules, each with domain, rule"),
        (b"[" * 10_000, "not YAML: .*recursion"),
        (b"a: !!python/object:os.system {}", "not YAML: could not determine a constructor"),
        (b"a: {}\na: {}", 'not YAML: .*duplicate key "a"'),
    ):
        (tmp_path / "t.yaml").write_bytes(data)
        with pytest.raises(BadRules, match=complaint):
            read_rules(tmp_path / "t.yaml")


@given(text=st.text(st.sampled_from("ab1_:[]{}&*!|>-\"'\\%?,.@ \n#\t\0U"), max_size=60))
@settings(deadline=None)
def test_whatever_the_text_it_is_rules_or_a_fault_with_its_file(text: str, tmp_path_factory: pytest.TempPathFactory):
    file = tmp_path_factory.mktemp("rules") / "any.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(BadRules, match=r"any\.yaml: "):
        read_rules(file)


def test_rules_that_come_with_assay_span_the_domains_and_are_vetted():
    rules = bundled_rules()
    assert len(rules) >= 12
    assert {one.domain for one in rules} == set(DOMAINS)
    assert all(one.vetted for one in rules)


def test_a_premise_tells_only_what_is_about_the_subject():
    # The rest is knowledge that is to be had.
    values = {"X": "Person X", "A": "dairy", "Z": "{B}", "B": "risotto"}
    assert premise_of(rule(ALLERGY), values) == "Person X allergic to dairy"
