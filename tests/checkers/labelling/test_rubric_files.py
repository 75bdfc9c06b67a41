"""Rubric files: what is refused, with line, column and reason, and what is not."""

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.labelling.aggregators import AllHold, Majority, Weighted
from checkers.labelling.rubric import Rubric, RubricError, load_rubric, parse_rubric

ROOT = Path(__file__).parents[3]


def faults(text: str) -> list[str]:
    with pytest.raises(RubricError) as refusal:
        parse_rubric(text, shown="r.yaml")
    lines = str(refusal.value).split("\n")
    assert all(re.fullmatch(r"r\.yaml:[1-9][0-9]*:[1-9][0-9]*: .+", line) for line in lines)
    assert lines[0].startswith(f"r.yaml:{refusal.value.line}:{refusal.value.column}: ")
    return [line.removeprefix("r.yaml:") for line in lines]


def condition_faults(condition: str) -> list[str]:
    """Of a rubric whose criterion has the condition, which begins at column 8 of line 3."""
    return faults(f"rubric: r\ncriteria:\n  - c: {condition}\nlabel: any\n")


def accepted(condition: str) -> Rubric:
    return parse_rubric(f"rubric: r\ncriteria:\n  - c: {condition}\nlabel: any\n", shown="r.yaml")


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ("{contians: a}", '3:9: "contians" is no key here; did you mean contains? allowed: contains, starts, '),
        ("{contains: 5}", "3:19: 'contains' takes a text, not the number 5; put it in quotes"),
        ("{contains: 0101}", "3:19: 'contains' takes a text, not the number 0101; put it in quotes"),
        ("{contains: true}", "3:19: 'contains' takes a text, not true; put it in quotes"),
        ("{contains: }", "3:18: 'contains' takes a text, not nothing"),
        ("{contains: null}", "3:19: 'contains' takes a text, not null"),
        ("{contains: ''}", "3:19: 'contains' takes 1 to 1000 characters, not 0"),
        ("{contains: [a]}", "3:19: 'contains' takes a text, not a list"),
        ("{starts: {a: b}}", "3:17: 'starts' takes a text, not a mapping"),
        (f"{{ends: {'a' * 1001}}}", "3:15: 'ends' takes 1 to 1000 characters, not 1001"),
        ("contains", '3:8: a condition is a mapping such as {contains: "word"}, not the text "contains"'),
        ("[]", '3:8: a condition is a mapping such as {contains: "word"}, not a list'),
        ("", '3:7: a condition is a mapping such as {contains: "word"}, not nothing'),
        ("{}", "3:8: nothing is tested here; allowed: contains, starts, "),
        ("{field: a}", "3:8: nothing is tested here; allowed: contains, starts, "),
        ("{contains: a, starts: b}", "3:22: 'starts' stands beside 'contains'; join two conditions with and, or or x"),
        ("{at_least: 1, at_most: 2}", "3:22: 'at_most' stands beside 'at_least'; for two bounds write between: [LOW"),
        ("{contains: a, is: 2}", "3:22: 'is' stands beside 'contains'; allowed: field, case"),
        ("{length: words, is: 2, case: ignore}", "3:31: 'case' stands beside 'length'; allowed: field, is, more_than"),
        ("{is: 2, case: ignore}", "3:16: 'case' stands beside 'is' of a number; allowed: field"),
        ("{contains: a, case: ignroe}", '3:28: "ignroe" is no value of \'case\'; did you mean ignore? allowed: exact'),
        ("{contains: a, contains: b}", '3:22: the key "contains" stands on line 3 already'),
        ("{count: a}", "3:9: 'count' needs a comparison beside it; allowed: is, more_than, at_least, less_than, "),
        ("{length: words}", "3:9: 'length' needs a comparison beside it; allowed: is, more_than, "),
        ("{length: word, is: 1}", '3:17: "word" is no value of \'length\'; did you mean words? allowed: characters, '),
        ("{count: a, is: 1.5}", "3:23: 'is' of a count or length takes a whole number from 0 on, not the number 1.5"),
        ("{count: a, more_than: -1}", "3:30: 'more_than' of a count or length takes a whole number from 0 on, not th"),
        ("{count: a, more_than: five}", "3:30: 'more_than' takes a number, not the text \"five\""),
        ("{count: a, is: evn}", '3:23: "evn" is no value of \'is\'; did you mean even? allowed: even, odd'),
        ("{count: {wrod: a}, is: 1}", '3:17: "wrod" is no key here; did you mean word? allowed: word, matches'),
        ("{count: {}, is: 1}", "3:16: 'count' takes a text, {word: TEXT} or {matches: EXPRESSION}, not a mapping"),
        ("{count: [a], is: 1}", "3:16: 'count' takes a text, {word: TEXT} or {matches: EXPRESSION}, not a list"),
        ("{between: [5, 2]}", "3:18: 'between' takes the lower number first, not 5 before 2"),
        ("{between: [5]}", "3:18: 'between' takes exactly 2 numbers, not 1"),
        ("{between: 5}", "3:18: 'between' takes a list of numbers, not the number 5"),
        ("{at_least: .inf}", "3:19: 'at_least' takes a number, not the text \".inf\""),
        ("{at_least: 1e999}", '3:19: the number "1e999" is too large'),
        (f"{{at_least: {'9' * 301}}}", f'3:19: the number "{"9" * 60}…" has more than 300 digits'),
        ("{matches: '('}", "3:18: not a regular expression that RE2 takes: missing ): ("),
        (r"{matches: '(a)\1'}", "3:18: not a regular expression that RE2 takes: invalid escape sequence: \\1 (it has"),
        ("{matches: '(?=a)'}", "3:18: not a regular expression that RE2 takes: invalid perl operator: (?="),
        ("{matches: 'a{1001}'}", "3:18: not a regular expression that RE2 takes: invalid repetition size: {1001}"),
        (r"{matches: '\pL{30}'}", "3:18: not a regular expression that RE2 takes: it has 35"),
        ("{count: {matches: '['}, is: 1}", "3:26: not a regular expression that RE2 takes: missing ]: ["),
        ("{in: []}", "3:13: 'in' takes 1 to 1000 values, not 0"),
        ("{in: a}", "3:13: 'in' takes a list of values, not the text \"a\""),
        ("{in: [[a]]}", "3:14: 'in' takes texts, numbers, true, false and null, not a list"),
        ("{equals: {a: 1}}", "3:17: 'equals' takes texts, numbers, true, false and null, not a mapping"),
        ("{type: text}", "3:15: \"text\" is no value of 'type'; allowed: string, number, integer, boolean, array, "),
        ("{type: 1}", "3:15: 'type' takes one of string, number, integer, boolean, array, object, null, not the numb"),
        ("{exists: true}", "3:9: 'exists' needs a field, such as {field: customer.name, exists: true}"),
        ("{field: a, exists: maybe}", "3:27: 'exists' takes true or false, not the text \"maybe\""),
        ("{field: a..b, is: 1}", "3:16: 'field' takes a path, not this: from character 2 on; allowed are a.b, a[0]"),
        ("{field: '[0].', is: 1}", "3:16: 'field' takes a path, not this: from character 4 on; allowed are a.b, a[0]"),
        ("{field: 'a[-1]', is: 1}", "3:16: 'field' takes a path, not this: from character 2 on; allowed are a.b, "),
        (f"{{field: {'.'.join('a' * 21)}, is: 1}}", "3:16: 'field' takes a path, not this: with 21 steps; allowed ar"),
        ("{ask: ''}", "3:14: 'ask' takes 1 to 4000 characters, not 0"),
        ("{ask: 'ok?', case: ignore}", "3:21: 'case' stands beside 'ask'; allowed: field"),
        ("{and: [{contains: a}]}", "3:14: 'and' takes 2 to 50 conditions, not 1"),
        ("{or: []}", "3:13: 'or' takes 2 to 50 conditions, not 0"),
        ("{or: {contains: a}}", "3:13: 'or' takes a list of conditions, not a mapping"),
        ("{xor: [{is: 1}, {is: 2}, {is: 3}]}", "3:14: 'xor' takes exactly 2 conditions, not 3"),
        ("{xor: [{is: 1}, {is: 1}]}", "3:24: this condition stands twice; 'xor' joins different ones"),
        ("{not: [{is: 1}]}", '3:14: a condition is a mapping such as {contains: "word"}, not a list'),
        ("{field: a, not: {is: 1}}", "3:9: 'field' stands beside 'not'; allowed is nothing"),
        (f"{'{not: ' * 9}{{is: 1}}{'}' * 9}", "3:62: conditions are nested more than 8 deep"),
        ("&a {is: 1}", "3:8: an anchor, &a; anchors and aliases are not allowed"),
        ("*a", "3:8: an alias, *a; write out what it stands for"),
        ("!!python/object/apply:os.system {is: 1}", '3:8: a tag, "tag:yaml.org,2002:python/object/apply:os.system"'),
        ("{contains: !!binary YQ==}", '3:19: a tag, "tag:yaml.org,2002:binary"; tags are not allowed, leave it out'),
        ("{<<: {is: 1}}", '3:9: "<<" is no key here; allowed: contains'),
        ("{? [a] : b, is: 1}", "3:11: a list or mapping as a key; allowed are words"),
        (r'{contains: "\ud800"}', "3:19: half of a surrogate pair"),
        (r'{contains: "\U00110000"}', "3:20: \\U00110000 is no character"),
    ],
)  # fmt: skip
def test_a_faulty_condition_is_refused_where_it_stands(condition: str, fault: str) -> None:
    (told,) = condition_faults(condition)
    assert told.startswith(fault)


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ("majorty", '4:8: "majorty" is no value of \'label\'; did you mean majority? allowed: majority, any, all'),
        ("", "4:7: 'label' takes one of majority, any, all, not nothing"),
        ("[any]", "4:8: 'label' takes one of majority, any, all, or a mapping with by, ties, weights, threshold, val"),
        ("{ties: 1}", "4:8: 'by' is missing; it takes one of majority, any, all, weights"),
        ("{by: any, ties: 1}", "4:18: 'ties' does not go with 'by: any'"),
        ("{by: majority, ties: 2}", "4:29: 'ties' takes 0 or 1, not the number 2"),
        ("{by: weights}", "4:8: 'by: weights' needs 'weights', a number for each criterion, and 'threshold'"),
        ("{by: weights, weights: [1], threshold: 1}", "4:31: 'weights' takes a mapping from the names of the criteria"),
        ("{by: weights, weights: {}, threshold: 1}", "4:31: the criterion c has no weight; every criterion needs one"),
        ("{by: weights, weights: {c: 1, d: 1}, threshold: 1}", '4:38: "d" is no criterion of this rubric; allowed: c'),
        ("{by: weights, weights: {c: 0}, threshold: 1}", "4:35: a weight is a number other than 0, up to 1e+09, not "),
        ("{by: weights, weights: {c: 1}, threshold: 2}", "4:50: with the threshold 2 every aggregated bit would be 0"),
        ("{by: weights, weights: {c: 1}, threshold: 0}", "4:50: with the threshold 0 every aggregated bit would be 1"),
        ("{by: any, values: {1: a}}", "4:26: 'values' takes the two labels that 0 and 1 stand for, such as {0: "),
        ("{by: any, values: {0: a, 1: a}}", "4:36: both labels are the same; 0 and 1 must stand for different ones"),
        ("{by: any, values: {0: 1, 1: true}}", "4:36: both labels are the same; 0 and 1 must stand for different ones"),
        ("{by: any, values: {0: a, 1: 0.5}}", "4:36: a label is a text of 1 to 200 characters, a whole number, true "),
        ("{by: any, values: {0: a, 2: b}}", '4:33: "2" is no key here; allowed: 0, 1'),
    ],
)  # fmt: skip
def test_a_faulty_label_is_refused_where_it_stands(label: str, fault: str) -> None:
    (told,) = faults(f"rubric: r\ncriteria:\n  - c: {{is: 1}}\nlabel: {label}\n")
    assert told.startswith(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "1:1: the file is empty; a rubric begins with 'rubric: NAME'"),
        ("# nothing\n", "1:1: the file is empty"),
        ("word", '1:1: a rubric is a mapping with rubric, criteria, label, about, relevant, not the text "word"'),
        ("label: any", "1:1: rubric and criteria missing; a rubric needs rubric, criteria, label"),
        ("rubric: r\ncriteria: []\nlabel: any", "2:11: 'criteria' takes 1 to 100 criteria, not 0"),
        ("rubric: r\ncriteria: {a: {is: 1}}\nlabel: any", "2:11: 'criteria' takes a list of criteria, not a mapping"),
        ("rubric: r\ncriteria: [word]\nlabel: any", "2:12: a criterion is a name with a condition, such as - polite"),
        ("rubric: r\ncriteria: [{}]\nlabel: any", "2:12: a criterion is a name with a condition, such as - polite"),
        (
            "rubric: a b\ncriteria: [a: {is: 1}]\nlabel: any",
            '1:9: "a b" is no name; allowed are 1 to 64 letters, digits',
        ),
        (
            "rubric: r\ncriteria: [a.b: {is: 1}]\nlabel: any",
            '2:12: "a.b" is no name; allowed are 1 to 64 letters, digits',
        ),
        ("rubric: r\nrelevant: all\ncriteria: [a: {is: 1}]\nlabel: any", "2:11: \"all\" is no value of 'relevant'; "),
        ("rubric: r\nabout: 5\ncriteria: [a: {is: 1}]\nlabel: any", "2:8: 'about' takes a text, not the number 5; put"),
        (
            "rubric: r\ncriteria: [is: 1]\nlabel: any",
            "2:12: 'is' stands where the criterion's name belongs; a criterion",
        ),
        ("a: b\n---\nc: d\n", "2:1: a second document begins here; a file holds one rubric"),
        ("a:\n\t- b\n", "2:1: a tab; indent with spaces"),
        ("a: [b", "1:6: not YAML: while parsing a flow sequence expected ',' or ']', but got '<stream end>'"),
        ("a: 'b", "1:6: not YAML: while scanning a quoted scalar found unexpected end of stream"),
        ("a: b: c", "1:5: not YAML: mapping values are not allowed here"),
        ("a: é\nb: \x07", "2:4: the character U+0007 is not allowed"),
        ("a: \ud800", "1:4: the character U+D800 is not allowed"),
        ("[" * 5000, "1:41: nested more than 40 deep"),
        ("a: &x [*x, *x]", "1:8: an alias, *x; write out what it stands for"),
        ("%YAML 1." + "9" * 5000 + "\n---\n", "1:1: not YAML: a number too long to be read"),
        ("x" * 131_073, "1:1: the file is too large; allowed are 131072 bytes"),
    ],
)
def test_a_faulty_file_is_refused(text: str, fault: str) -> None:
    assert faults(text)[-1].startswith(fault)


def test_all_faults_are_told_in_order() -> None:
    told = faults(
        dedent("""\
        rubric: tickets
        colour: red
        criteria:
          - polite: {contians: please}
          - contains: thanks
          - long:
            length: words
            more_than: 5
          - polite: {ends: 1}
          - both:
              and:
                - {starts: a, case: no}
                - {matches: "["}
          - short: {length: words, at_most: 5}
          - brief: {length: words, at_most: 5}
        label: most
        label: any
        """)
    )
    assert [fault.split(": ", 1)[0] for fault in told] == [
        "2:1", "4:14", "5:5", "7:5", "9:5", "9:20", "12:29", "13:21", "15:5", "16:8", "17:1",
    ]  # fmt: skip
    assert told[3] == "7:5: 'length' stands beside the criterion \"long\"; indent it more, or begin it with '- '"
    assert told[4] == "9:5: the name polite stands on line 4 already; every criterion has its own"
    assert told[8] == "15:5: says the same as short; to make a criterion count for more, use weights"
    assert told[10] == '17:1: the key "label" stands on line 16 already'


def test_many_faults_are_told_shortly() -> None:
    criteria = "\n".join(f"  - c{number}: {{contians: a}}" for number in range(90))
    with pytest.raises(RubricError, match=r"\nr\.yaml: 70 more faults$") as refusal:
        parse_rubric(f"rubric: r\ncriteria:\n{criteria}\nlabel: any\n", shown="r.yaml")
    assert len(refusal.value.faults) == 90


def test_too_many_clauses_are_refused() -> None:
    clauses = [{"or": [{"contains": f"{number}.{clause}"} for clause in range(50)]} for number in range(10)]
    text = json.dumps({"rubric": "r", "criteria": [{f"c{n}": one} for n, one in enumerate(clauses)], "label": "any"})
    assert faults(text) == ["1:1: with all their clauses these are 510 criteria; allowed are 500"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    with pytest.raises(RubricError, match=r"r\.yaml:1:1: cannot be read: No such file or directory"):
        load_rubric(file)
    with pytest.raises(RubricError, match=r":1:1: cannot be read: Is a directory"):
        load_rubric(tmp_path)
    file.write_bytes("rubric: r\nabout: é".encode() + b" \xff\n")
    with pytest.raises(RubricError, match=r"r\.yaml:2:10: the byte 0xFF is not UTF-8"):
        load_rubric(file)
    file.write_bytes(b"#" * 200_000)
    with pytest.raises(RubricError, match=r"r\.yaml:1:1: the file is too large; allowed are 131072 bytes"):
        load_rubric(file)


def test_a_byte_order_mark_and_windows_line_ends_make_no_difference(tmp_path: Path) -> None:
    text = "rubric: r\ncriteria:\n  - c: {contains: é}\nlabel: any\n"
    file = tmp_path / "r.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_rubric(file) == parse_rubric(text, shown="r.yaml")


async def test_words_are_text_as_in_todays_yaml() -> None:
    for word in ("yes", "No", "on", "off", "2024-05-01", "12:30", "1_000", "0x1F", ".nan", "NO"):
        rubric = accepted(f"{{contains: {word}}}")
        assert await rubric.bits(f"a {word} b", None) == (1,)  # type: ignore[arg-type]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
async def test_json_is_yaml(text: str) -> None:
    for ascii_only in (True, False):
        written = json.dumps({"contains": text}, ensure_ascii=ascii_only)
        assert await accepted(written).bits(f"<{text}>", None) == (1,)  # type: ignore[arg-type]


def test_labels_as_they_are_written() -> None:
    def label(written: str) -> Rubric:
        text = "rubric: r\ncriteria: [a: {is: 1}, b: {is: 2}]\n" + f"label: {written}\n"
        return parse_rubric(text, shown="r.yaml")

    assert label("majority").aggregator == Majority(ties=1)
    assert label("{by: majority, ties: 0}").aggregator == Majority(ties=0)
    assert label("all").aggregator == AllHold()
    assert label("{by: weights, weights: {b: 0.5, a: -1}, threshold: 0.5}").aggregator == Weighted((-1, 0.5), 0.5)
    assert label("{by: any, values: {0: no, 1: yes}}").labels == ("no", "yes")
    assert label("{by: any, values: {0: false, 1: true}}").labels == (False, True)
    assert label("any").labels == (0, 1)


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "rubrics").glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_are_named_as_their_files(path: Path) -> None:
    assert load_rubric(path).name == path.stem


def test_what_the_documentation_shows_is_so() -> None:
    """Its rubric is the example of the same name, and its faults are told as it says."""
    page = (ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    rubric = parse_rubric(shown, shown="page")
    assert rubric.criteria == load_rubric(ROOT / "examples" / "rubrics" / "in-phenomenon.yaml").criteria
    told = "\n".join(condition_faults("{contians: a}") + condition_faults("{starts: 0123}"))
    (refused,) = re.findall(r"```\n(tickets.*?)```", page, re.DOTALL)
    for line in refused.splitlines():
        assert line.split(": ", 1)[1].removesuffix("...") in told


def read_or_refused(text: str) -> Rubric | RubricError:
    try:
        return parse_rubric(text, shown="r.yaml")
    except RubricError as refusal:
        return refusal


PIECES = st.sampled_from(
    [
        *["rubric", "criteria", "label", "about", "contains", "count", "is", "and", "not", "ask", "field", "matches"],
        *[": ", ":", "- ", "\n", "\n  ", "\n    ", " ", "{", "}", "[", "]", ",", '"', "'", "|\n", ">\n", "? ", "#"],
        *["!!str ", "!x", "&a", "*a", "---\n", "...\n", "%YAML 1.2\n", "\t", "\\U00110000", "\\x", "0", "1e9", "-1"],
        *["~", "true", "any", "é", "\0", "\ud800", "\u2028", "\x85", "\ufeff", "@", "`", "<<"],
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_a_rubric_or_refused(text: str) -> None:
    rubric = read_or_refused(text)
    if isinstance(rubric, RubricError):
        assert 1 <= rubric.line <= len(text) + 1
        assert rubric.column >= 1
    else:
        assert rubric.criteria


WHOLE = (ROOT / "examples" / "rubrics" / "support-tickets.yaml").read_text(encoding="utf-8")


@given(st.integers(0, len(WHOLE)), st.integers(0, 30), PIECES | st.text(max_size=5))
def test_a_damaged_rubric_is_a_rubric_or_refused(at: int, cut: int, put: str) -> None:
    rubric = read_or_refused(WHOLE[:at] + put + WHOLE[at + cut :])
    if isinstance(rubric, RubricError):
        assert rubric.line <= WHOLE.count("\n") + 3
    else:
        assert len(rubric.version) == 12


KEYS = st.sampled_from(
    "contains starts ends equals in matches count length type exists ask and or xor not is more_than between field "
    "case word by ties weights threshold values a b 0 1".split()
)
WORDS = st.sampled_from(
    ["a", "a.b[0]", "(", "even", "words", "ignore", "weights", "any", "", None, True, 0, -1.5, 1e300]
)
THING = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@given(st.lists(THING, max_size=3), THING)
async def test_any_data_is_a_rubric_or_refused(conditions: list[object], label: object) -> None:
    criteria = [{f"c{number}": condition} for number, condition in enumerate(conditions)]
    rubric = read_or_refused(json.dumps({"rubric": "r", "criteria": criteria, "label": label}))
    if isinstance(rubric, RubricError):
        assert all(fault.place.line == 1 for fault in rubric.faults)
    else:
        assert [one.description for one in rubric.criteria]
