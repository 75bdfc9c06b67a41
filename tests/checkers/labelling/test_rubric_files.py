"""Rubric files: what is refused, with line, column and reason, and what is not."""

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("{contains: 5}", "3:19: 'contains' should be a text, not the number 5; put it in quotes"),
        ("{contains: }", "3:9: 'contains' should be a text, not nothing"),
        ("{contains: ''}", '3:19: \'contains\' should have at least 1 character, not the text ""'),
        ("{contains: [a]}", "3:19: 'contains' should be a text, not a list"),
        (f"{{ends: {'a' * 1001}}}", '3:15: \'ends\' should have at most 1000 characters, not the text "aaaaaaaaaaaaa'),
        ("contains", '3:8: \'c\' should be a condition such as {contains: "word"}, not the text "contains"'),
        ("", '3:5: \'c\' should be a condition such as {contains: "word"}, not nothing'),
        ("{}", "3:8: nothing is tested here; allowed: contains, starts, "),
        ("{contains: a, starts: b}", '3:22: "starts" is no key beside \'contains\'; allowed: field, case'),
        ("{at_least: 1, at_most: 2}", "3:22: one comparison is needed, not 2; allowed: is, more_than, at_least, le"),
        ("{length: words, is: 2, case: ignore}", '3:31: "case" is no key beside \'length\'; allowed: field, is, more'),
        ("{contains: a, case: ignroe}", '3:28: "ignroe" is no value of \'case\'; did you mean ignore? allowed: exact'),
        ("{contains: a, contains: b}", '3:22: the key "contains" stands on line 3 already'),
        ("{count: a}", "3:8: one comparison is needed, not 0; allowed: is, more_than, at_least, less_than, at_most"),
        ("{length: word, is: 1}", '3:17: "word" is no value of \'length\'; did you mean words? allowed: characters, '),
        ("{count: a, is: 1.5}", "3:23: 'is' of a count or length takes whole numbers from 0 on, not 1.5"),
        ("{count: a, more_than: -1}", "3:30: 'more_than' of a count or length takes whole numbers from 0 on, not -"),
        ("{count: a, more_than: five}", '3:30: \'more_than\' should be a number, not the text "five"'),
        ("{count: a, is: evn}", '3:23: \'is\' should be a number, even or odd, not the text "evn"'),
        ("{count: {text: a}, is: 1}", "3:16: 'count' should be a text of 1 to 1000 characters, {word: TEXT} or {ma"),
        ("{count: {wrod: a}, is: 1}", "3:16: 'count' should be a text of 1 to 1000 characters, {word: TEXT} or {ma"),
        ("{between: [5, 2]}", "3:18: 'between' takes the lower number first, not 5 before 2"),
        ("{between: [5]}", "3:18: a list of 1; allowed are 2 to 2 elements"),
        ("{between: 5}", "3:18: 'between' should be a list, not the number 5"),
        ("{at_least: .inf}", '3:19: \'at_least\' should be a number, not the text ".inf"'),
        ("{at_least: 1e999}", '3:19: the number "1e999" is too large'),
        (f"{{at_least: {'9' * 301}}}", f'3:19: the number "{"9" * 60}…" has more than 300 digits'),
        ("{matches: '('}", "3:18: 'matches' should be an expression of RE2, without look-around and references (mi"),
        (r"{matches: '(a)\1'}", "3:18: 'matches' should be an expression of RE2, without look-around and reference"),
        (r"{matches: '\pL{30}'}", "3:18: 'matches' should be an expression of RE2, without look-around and referen"),
        ("{count: {matches: '['}, is: 1}", "3:16: 'count' should be an expression of RE2, without look-around and "),
        ("{in: []}", "3:13: a list of 0; allowed are 1 to 1000 elements"),
        ("{equals: {a: 1}}", "3:17: 'equals' should be a text, a number, true, false or null, not a mapping"),
        ("{type: text}", "3:15: \"text\" is no value of 'type'; allowed: string, number, integer, boolean, array, "),
        ("{type: 1}", "3:15: 'type' should be 'string', 'number', 'integer', 'boolean', 'array', 'object' or 'null"),
        ("{exists: true}", "3:8: 'field' is missing"),
        ("{field: a, exists: maybe}", '3:27: \'exists\' should be true or false, not the text "maybe"'),
        ("{field: a..b, is: 1}", '3:16: \'field\' should be a path such as a.b, a[0] or a."any name" (wrong from cha'),
        ("{field: 'a[-1]', is: 1}", '3:16: \'field\' should be a path such as a.b, a[0] or a."any name" (wrong from '),
        (f"{{field: {'.'.join('a' * 21)}, is: 1}}", '3:16: \'field\' should be a path such as a.b, a[0] or a."any na'),
        ("{ask: ''}", '3:14: \'ask\' should have at least 1 character, not the text ""'),
        ("{ask: 'ok?', case: ignore}", '3:21: "case" is no key beside \'ask\'; allowed: field'),
        ("{and: [{contains: a}]}", "3:14: a list of 1; allowed are 2 to 50 elements"),
        ("{or: {contains: a}}", "3:13: 'or' should be a list, not a mapping"),
        ("{xor: [{is: 1}, {is: 2}, {is: 3}]}", "3:14: a list of 3; allowed are 2 to 2 elements"),
        ("{xor: [{is: 1}, {is: 1}]}", "3:24: this condition stands twice; 'xor' joins different ones"),
        ("{field: a, not: {is: 1}}", '3:9: "field" is no key beside \'not\'; allowed: none'),
        ("&a {is: 1}", "3:8: an anchor, &a; anchors and aliases are not allowed"),
        ("*a", "3:8: an alias, *a; write out what it stands for"),
        ("!!python/object/apply:os.system {is: 1}", '3:8: a tag, "tag:yaml.org,2002:python/object/apply:os.system"'),
        ("{<<: {is: 1}}", '3:9: "<<" is no key here; allowed: contains'),
        ("{? [a] : b, is: 1}", "3:11: a list or mapping as a key; allowed are words"),
        (r'{contains: "\ud800"}', "3:19: half of a surrogate pair"),
        (r'{contains: "\U00110000"}', "3:9: not YAML: behind this, a number or an escape is too large"),
    ],
)  # fmt: skip
def test_a_faulty_condition_is_refused_where_it_stands(condition: str, fault: str) -> None:
    (told,) = condition_faults(condition)
    assert told.startswith(fault)


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ("majorty", '4:8: "majorty" is no value of \'by\'; did you mean majority? allowed: majority, any, all, weigh'),
        ("", "4:1: 'label' should be majority, any, all, or a mapping with by, ties, weights, threshold, values, n"),
        ("[any]", "4:8: 'label' should be majority, any, all, or a mapping with by, ties, weights, threshold, valu"),
        ("{ties: 1}", "4:8: 'by' is missing"),
        ("{by: any, ties: 1}", "4:18: 'ties' does not go with 'by: any'"),
        ("{by: majority, ties: 2}", "4:29: 'ties' should be 0 or 1, not the number 2"),
        ("{by: weights}", "4:8: 'by: weights' needs 'weights', a number for each criterion, and 'threshold'"),
        ("{by: weights, weights: [1], threshold: 1}", "4:31: 'weights' should be a mapping, not a list"),
        ("{by: weights, weights: {}, threshold: 1}", "4:31: the criterion c has no weight; every criterion needs one"),
        ("{by: weights, weights: {c: 1, d: 1}, threshold: 1}", '4:38: "d" is no criterion of this rubric; allowed: c'),
        ("{by: weights, weights: {c: 0}, threshold: 1}", "4:35: 'c' should be a number other than 0, up to 1e+09, n"),
        ("{by: weights, weights: {c: 1}, threshold: 2}", "4:50: with the threshold 2 every aggregated bit would be 0"),
        ("{by: weights, weights: {c: 1}, threshold: 0}", "4:50: with the threshold 0 every aggregated bit would be 1"),
        ("{by: any, values: {1: a}}", "4:26: '0' is missing"),
        ("{by: any, values: {0: a, 1: a}}", "4:36: both labels are the same; 0 and 1 must stand for different ones"),
        ("{by: any, values: {0: 1, 1: true}}", "4:36: both labels are the same; 0 and 1 must stand for different ones"),
        ("{by: any, values: {0: a, 1: 0.5}}", "4:36: '1' should be a text of 1 to 200 characters, a whole number, "),
        ("{by: any, values: {0: a, 1: b, 2: c}}", '4:39: "2" is no key here; allowed: 0, 1'),
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
        ("word", '1:1: a rubric should be a mapping, not the text "word"'),
        ("label: any", "1:1: 'rubric' is missing"),
        ("rubric: r\ncriteria: []\nlabel: any", "2:11: a list of 0; allowed are 1 to 100 elements"),
        ("rubric: r\ncriteria: {a: {is: 1}}\nlabel: any", "2:11: 'criteria' should be a list, not a mapping"),
        ("rubric: r\ncriteria: [word]\nlabel: any", "2:12: 'criteria' should be a criterion, a name with a conditi"),
        ("rubric: r\ncriteria: [{}]\nlabel: any", "2:12: 'criteria' should be a criterion, a name with a condition"),
        (
            "rubric: a b\ncriteria: [a: {is: 1}]\nlabel: any",
            "1:9: 'rubric' should be 1 to 64 letters, digits, hyphens and",
        ),
        (
            "rubric: r\ncriteria: [a.b: {is: 1}]\nlabel: any",
            "2:12: the name 'a.b' should be 1 to 64 letters, digits, hyph",
        ),
        ("rubric: r\nrelevant: all\ncriteria: [a: {is: 1}]\nlabel: any", "2:11: \"all\" is no value of 'relevant'; "),
        (
            "rubric: r\nabout: 5\ncriteria: [a: {is: 1}]\nlabel: any",
            "2:8: 'about' should be a text, not the number 5; put it in q",
        ),
        ("rubric: r\ncriteria: [is: 1]\nlabel: any", "2:12: 'is' stands where the criterion's name belongs; it sho"),
        ("a: b\n---\nc: d\n", "2:1: not YAML: expected a single document in the stream but found another document"),
        ("a:\n\t- b\n", "2:1: a tab; indent with spaces"),
        ("a: [b", "1:6: not YAML: while parsing a flow sequence expected ',' or ']', but got '<stream end>'"),
        ("a: 'b", "1:6: not YAML: while scanning a quoted scalar found unexpected end of stream"),
        ("a: b: c", "1:5: not YAML: mapping values are not allowed here"),
        ("a: é\nb: \x07", "2:4: the character U+0007 is not allowed"),
        ("a: \ud800", "1:4: the character U+D800 is not allowed"),
        ("[" * 5000, "1:21: nested more than 20 deep"),
        ("a: &x [*x, *x]", "1:4: an anchor, &x; anchors and aliases are not allowed"),
        ("%YAML 1." + "9" * 5000 + "\n---\n", "1:1: not YAML: behind this, a number or an escape is too large"),
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
          - kind: {ends: 1}
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
        "2:1", "4:14", "5:5", "7:5", "9:18", "12:29", "13:21", "16:8", "17:1",
    ]  # fmt: skip
    assert told[3] == "7:5: 'length' stands beside the criterion \"long\"; indent it more, or begin it with '- '"
    assert told[8] == '17:1: the key "label" stands on line 16 already'


def test_criteria_that_are_there_already_are_refused() -> None:
    whole = "rubric: r\ncriteria:\n  - a: {is: 1}\n  - %s\nlabel: any\n"
    assert faults(whole % "a: {is: 2}") == ["4:5: the name a stands above already; every criterion has its own"]
    (same,) = faults(whole % "b: {is: 1}")
    assert same == "4:5: says the same as a; to make a criterion count for more, use weights"


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

    assert label("majority").aggregator == label("{by: majority, ties: 1}").aggregator
    assert label("{by: weights, weights: {b: 0.5, a: -1}, threshold: 0.5}").aggregator.weights == {"a": -1, "b": 0.5}
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
