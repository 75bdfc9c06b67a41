"""Rules are read from files, held against the criteria, and refused with a position."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkers.longtail.corpus import DOMAINS
from lab.link.rules.reading import BadRules, bundled_rules, parsed, read_rules
from lab.link.rules.sentences import forms_of, premise_of, sentence_of
from lab.link.rules.writing import written

# As the paper prints them (LINK, tables 11 and 13).
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
ALLERGY = (
    "allergic_to(Person X, Allergen A) & one_type_of(Ingredient Z, Allergen A) & ingredient_in(Ingredient Z, Dish B) "
    "-> cannot_eat(Person X, Dish B)"
)


def _rule(text: str):
    (rule,) = parsed(f"[natural properties]\n{text}", "t.rules")
    return rule


@pytest.mark.parametrize(
    ("text", "chain", "searched", "general"),
    [
        (ALLERGY, "XAZB", "AZB", "Person X"),
        (RULE_0, "PADYC", "CYDA", "Person X"),
        (RULE_58, "AXB", "XB", "Person X"),
        (RULE_112, "BCA", "CA", "Room X"),
        (RULE_116, "BCA", "CA", "Drawer X"),
        (RULE_122, "BCA", "CA", "Trunk X"),
    ],
)
def test_the_papers_rules_are_searched_along_their_chain_numeric_ones_from_the_conclusion_back(
    text: str, chain: str, searched: str, general: str
):
    rule = _rule(text)
    assert ("".join(rule.chain), "".join(rule.searched), rule.general_value) == (chain, searched, general)


def test_subject_and_order_can_be_told():
    rule = _rule(f"{RULE_112} subject A order backward")
    assert ("".join(rule.chain), "".join(rule.searched)) == ("ACB", "BC")


def test_rules_read_as_they_were_written():
    rule = _rule(RULE_112)
    assert rule.text == RULE_112.replace("→", "->")
    assert _rule(rule.text) == rule
    rules = (*bundled_rules(), _rule(f"other: {RULE_112} subject A order backward expand C"))
    assert parsed(written(rules), "t.rules") == rules


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        (
            "is_part_of(Person X, Tool A) & is_in(Tool A, Room B) -> fits(Key C, Lock D)",
            "2:57",
            r"share no variable.*criterion 1",
        ),
        (f"{RULE_112} subject C", "2:1", r"subject C: it must be in premise and conclusion; B and A are.*criterion 1"),
        (
            "has(Person X, Tool A) & is_in(Room B, Town C) -> lives_in(Person X, Town C)",
            "2:31",
            r"leads from the subject X to B.*criterion 2",
        ),
        (
            "has(Person X, Tool A) & has(Person X, Key B) & opens(Person X, Door C) -> uses(Person X, Door C)",
            "2:75",
            r"no single chain.*from the subject X to C through A, B.*criterion 2",
        ),
        (
            "can_eat(Person X, Dish B) & has(Person X, Plan A) & lists(Plan A, Dish B) -> cannot_eat(Person X, Dish B)",
            "2:1",
            r"can_eat says or denies.*criterion 3",
        ),
        ("is_of(Person X, Town A) -> lives_in(Person X, Town A)", "2:1", r"1 predicate.*2 variables.*criterion 4"),
        (
            "has(Person X, Tool A) & is_in(Drawer A, Room B) -> uses(Person X, Room B)",
            "2:31",
            "type Drawer, and was of",
        ),
        ("has(Person X, Tool A) & is_in(Tool A, B) -> uses(Person X, Room B)", "2:39", "variable B has no data type"),
        ("has(Person, Tool A) & is_in(Tool A, Room B) -> uses(Person X, Room B)", "2:5", "'Person' is no variable"),
        ("is(Person X, Person X) & has(Person X, Tool A) -> is_in(Tool A, Room B)", "2:1", "same variable twice"),
        (f'{RULE_112} negation "{{A}} fits"', "2:90", r"the negation must name \{A\} and \{B\}"),
        (RULE_112.replace("A, Furniture C)", 'A, Furniture C) "{A} is big"'), "2:47", "sentence of is_larger"),
        (f"{RULE_112} expand Z", "2:1", "expand Z: there is no such variable; there are B, C, A"),
        ("has(Person X, Tool A) & is_in(Tool A Room B)", "2:44", r"expected a comma, got '\)'"),
        ("has(Person X, Tool A) & uses(", "2:30", "the file ends within a rule; expected a data type"),
        ("has[Person X]", "2:1", r"a predicate such as is_part_of.*, got 'has\[Person X\]'"),
    ],
)
def test_a_rule_that_breaks_a_criterion_is_refused_with_its_position(text: str, place: str, complaint: str):
    with pytest.raises(BadRules, match=complaint) as told:
        _rule(text)
    assert str(told.value).startswith(f"t.rules:{place}: ")
    assert "\n" not in str(told.value)


def test_every_wrong_rule_of_a_file_is_named():
    wrong = "one: is_of(Person X, Town A) -> lives_in(Person X, Town A)"
    with pytest.raises(BadRules) as told:
        parsed(f"{wrong}\n[temporal] two: {RULE_112} two: {RULE_116} three{wrong[3:]}", "t.rules")
    assert [line.split(": ")[1] for line in str(told.value).split("\n")] == ["rule one", "rule two", "rule three"]
    assert "has no domain" in str(told.value)


def test_a_file_that_is_none_is_named(tmp_path: Path):
    with pytest.raises(BadRules, match="cannot be read: No such file"):
        read_rules(tmp_path / "none.rules")
    (tmp_path / "bytes.rules").write_bytes(b"\xff")
    with pytest.raises(BadRules, match="byte 0 is not UTF-8"):
        read_rules(tmp_path / "bytes.rules")
    (tmp_path / "empty.rules").write_text("# nothing\n[temporal]\n", "utf-8")
    with pytest.raises(BadRules, match="holds no rule"):
        read_rules(tmp_path / "empty.rules")


@given(st.text(st.sampled_from('ab_XYZ(),&->→[]:"{} \n#'), max_size=80))
@settings(deadline=None)
def test_whatever_the_text_it_is_rules_or_a_fault_with_its_place(text: str):
    try:
        rules = parsed(text, "t.rules")
    except BadRules as error:
        told = str(error)
    else:
        told = f"t.rules: {len(rules)} rules" if rules else ""
    assert told.startswith("t.rules:")


def test_rules_that_come_with_assay_span_the_domains_and_are_vetted():
    rules = bundled_rules()
    assert len(rules) >= 12
    assert {rule.domain for rule in rules} == set(DOMAINS)
    assert all(rule.vetted for rule in rules)


@pytest.mark.parametrize(
    ("verb", "negation", "question", "answer"),
    [
        ("cannot_eat", "{X} can eat {B}", "can {X} eat {B}", "no"),
        ("can_eat", "{X} cannot eat {B}", "can {X} eat {B}", "yes"),
        ("is_not_able_to_use", "{X} is able to use {B}", "is {X} able to use {B}", "no"),
        ("is_allowed_to_use", "{X} is not allowed to use {B}", "is {X} allowed to use {B}", "yes"),
        ("does_not_need", "{X} does need {B}", "does {X} need {B}", "no"),
        ("requires", "{X} does not require {B}", "does {X} require {B}", "yes"),
        ("lived_in", "{X} did not live in {B}", "did {X} live in {B}", "yes"),
        ("has", "{X} does not have {B}", "does {X} have {B}", "yes"),
        ("has_visited", "{X} has not visited {B}", "has {X} visited {B}", "yes"),
        ("should_take", "{X} should not take {B}", "should {X} take {B}", "yes"),
        ("larger_than", "{X} is not larger than {B}", "is {X} larger than {B}", "yes"),
    ],
)
def test_english_grammar_says_the_opposite_of_a_conclusion_and_the_question_behind_it(
    verb: str, negation: str, question: str, answer: str
):
    forms = forms_of(_rule(f"has(Person X, Tool A) & is_in(Tool A, Room B) -> {verb}(Person X, Room B)"))
    assert (forms.negation, forms.question, forms.answer) == (negation, question, answer)


def test_predicates_are_verbalised_by_their_words_or_by_the_sentence_of_the_file():
    rule = _rule(ALLERGY.replace("Dish B)", 'Dish B) "{B} has {Z} in it"', 1))
    sentences = [sentence_of(predicate) for predicate in rule.premise]
    assert sentences == ["{X} is allergic to {A}", "{Z} is one type of {A}", "{B} has {Z} in it"]
    # Only what is about the subject: the rest is knowledge that is to be had.
    values = {"X": "Person X", "A": "dairy", "Z": "{B}", "B": "risotto"}
    assert premise_of(rule, values) == "Person X is allergic to dairy"


@pytest.mark.parametrize(("verb", "said"), [("heir_to", "is an heir to"), ("user_of", "is a user of")])
def test_a_noun_gets_the_article_that_it_is_spoken_with(verb: str, said: str):
    rule = _rule(f"{verb}(Person X, Tool A) & is_in(Tool A, Room B) -> works_in(Person X, Room B)")
    assert sentence_of(rule.premise[0]) == f"{{X}} {said} {{A}}"
