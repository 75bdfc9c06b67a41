"""Rubric files: what is refused, with key path and reason, and what is not."""

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
    assert all(line.startswith("r.yaml: ") for line in lines)
    return [line.removeprefix("r.yaml: ") for line in lines]


def with_condition(condition: str) -> str:
    return f"rubric: r\ncriteria:\n  - c: {condition}\nlabel: any\n"


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ("{contians: a}", ': "contians" is no condition; did you mean contains? allowed: contains, starts, '),
        ("{field: x, contians: a}", ': "contians" is no condition; did you mean contains? allowed: contains, '),
        ("{contains: 5}", ".contains: should be a text, not the number 5; put it in quotes"),
        ("{contains: }", ".contains: should be a text, not nothing"),
        ("{contains: ''}", '.contains: should have at least 1 character, not the text ""'),
        ("{contains: [a]}", ".contains: should be a text, not a list of 1"),
        ("contains", ': should be a condition such as {contains: "word"}, not the text "contains"'),
        ("", ': should be a condition such as {contains: "word"}, not nothing'),
        ("{}", ': should be a condition such as {contains: "word"}, not a mapping'),
        ("{contains: a, starts: b}", ": one of these keys is needed, not 2: contains, starts, ends, matches"),
        ("{contains: a, equals: b}", ': "equals" is no key here; allowed: field, case, contains, '),
        ("{at_least: 1, at_most: 2}", ": one of these keys is needed, not 2: is, more_than, at_least, less_than, "),
        ("{length: words, is: 2, case: ignore}", ': "case" is no key here; allowed: field, is, more_than, '),
        ("{contains: a, case: ignroe}", '.case: "ignroe" is no value of this key; did you mean ignore? allowed: exac'),
        ("{contains: a, contains: b}", ".contains: the key stands twice; keep one"),
        ("{count: a}", ": one of these keys is needed, not 0: is, more_than, "),
        ("{length: word, is: 1}", '.length: "word" is no value of this key; did you mean words? allowed: characters, '),
        ("{count: a, is: 1.5}", ": 'is' of a count or length takes whole numbers from 0 on, not 1.5"),
        ("{length: items, more_than: -1}", ": 'more_than' of a count or length takes whole numbers from 0 on, not -1"),
        ("{count: a, more_than: five}", '.more_than: should be a number, not the text "five"'),
        ("{count: a, is: evn}", '.is: should be a number, even or odd, not the text "evn"'),
        ("{count: {text: a}, is: 1}", ".count: should be a text, {word: TEXT} or {matches: EXPRESSION}, not a mapping"),
        ("{between: [5, 2]}", ": 'between' takes the lower number first, not 5 before 2"),
        ("{between: [5]}", ".between: needs 2 elements, not 1"),
        ("{at_least: .inf}", '.at_least: should be a number, not the text ".inf"'),
        ("{at_least: true}", ".at_least: should be a number, not true"),
        ("{at_least: 1e999}", '.at_least: the number "1e999" is too large'),
        (f"{{at_least: {'0' * 5000}}}", f'.at_least: the number "{"0" * 60}…" is too large'),
        ("{matches: '('}", ".matches: should be an expression of RE2, without look-around and references (mi"),
        (r"{matches: '(a)\1'}", ".matches: should be an expression of RE2, without look-around and reference"),
        (r"{matches: '\pL{30}'}", ".matches: should be an expression of RE2, without look-around and references (it"),
        ("{count: {matches: '['}, is: 1}", ".count: should be an expression of RE2, without look-around and "),
        ("{in: []}", ".in: needs 1 or more elements, not 0"),
        ("{equals: {a: 1}}", ".equals: should be a text, a number, true, false or null, not a mapping"),
        ("{type: text}", '.type: "text" is no value of this key; allowed: string, number, integer, boolean, array, '),
        ("{exists: true}", ".field: is missing"),
        ("{field: a, exists: maybe}", '.exists: should be true or false, not the text "maybe"'),
        ("{field: a..b, is: 1}", '.field: should be a path such as a.b, a[0] or a."any name", not the text "a..b"'),
        ("{field: 'a[-1]', is: 1}", ".field: should be a path such as a.b, a[0]"),
        (r"""{field: '"\x"', is: 1}""", ".field: should be a path such as a.b, a[0]"),
        ("{ask: 'ok?', case: ignore}", ': "case" is no key here; allowed: field, ask'),
        ("{and: [{contains: a}]}", ".and: needs 2 or more elements, not 1"),
        ("{or: {contains: a}}", ".or: should be a list, not a mapping"),
        ("{or: [{is: 1}, {not: {xor: [{is: 1}, {ask: 5}]}}]}", ".or[1].not.xor[1].ask: should be a text, not the numb"),
        ("{xor: [{is: 1}, {is: 2}, {is: 3}]}", ".xor: needs 2 elements, not 3"),
        ("{xor: [{is: 1}, {is: 1}]}", ".xor: condition [1] stands twice; different ones are joined"),
        ("{field: a, not: {is: 1}}", ': "field" is no key here; allowed: not'),
        ("{<<: {is: 1}}", ': "<<" is no condition; allowed: contains'),
        ("{? [a] : b, is: 1}", ": a list or mapping as a key; allowed are words"),
        (r'{contains: "\ud800"}', ".contains: half of a surrogate pair"),
    ],
)  # fmt: skip
def test_a_faulty_condition_is_refused_by_its_key_path(condition: str, fault: str) -> None:
    (told,) = faults(with_condition(condition))
    assert told.removeprefix("criteria[0].c").startswith(fault)


@pytest.mark.parametrize(
    ("label", "fault"),
    [
        ("majorty", ': "majorty" is no way to make the label; did you mean majority? allowed: majority, any, all, wei'),
        ("", ": should be majority, any, all, weights, or a mapping with one of these as 'by', not nothing"),
        ("[any]", ": should be majority, any, all, weights, or a mapping with one of these as 'by', not a list of 1"),
        ("{ties: 1}", ": should be majority, any, all, weights, or a mapping with one of these as 'by', not a mapping"),
        ("{by: any, ties: 1}", ': "ties" is no key here; allowed: by, values'),
        ("{by: majority, ties: 2}", ".ties: should be 0 or 1, not the number 2"),
        ("{by: majority, ties: true}", ".ties: should be a number, not true"),
        ("{by: weights, weights: {c: 1}}", ".threshold: is missing"),
        ("{by: weights, weights: [1], threshold: 1}", ".weights: should be a mapping, not a list of 1"),
        ("{by: weights, weights: {}, threshold: 1}", ": with the threshold 1 every aggregated bit would be 0; allowed"),
        ("{by: weights, weights: {c: 1, d: 1}, threshold: 1}", '.weights: "d" is no criterion of this rubric; allowe'),
        ("{by: weights, weights: {d: 1}, threshold: 1}", '.weights: "d" is no criterion of this rubric; allowed: c'),
        ("{by: weights, weights: {c: x}, threshold: 1}", '.weights.c: should be a number, not the text "x"'),
        ("{by: weights, weights: {c: 1}, threshold: 2}", ": with the threshold 2 every aggregated bit would be 0"),
        ("{by: weights, weights: {c: 1}, threshold: 0}", ": with the threshold 0 every aggregated bit would be 1"),
        ("{by: any, values: {1: a}}", ".values: two labels are needed, {0: LABEL, 1: LABEL}"),
        ("{by: any, values: {0: 1, 1: true}}", ".values: both labels are the same; 0 and 1 must stand for different"),
        ("{by: any, values: {0: a, 1: 0.5}}", ".values.1: should be a text, a whole number, true or false, not the"),
        ("{by: any, values: {0: a, 1: b, 2: c}}", '.values.2: "2" is no value of this key; allowed: 0, 1'),
    ],
)  # fmt: skip
def test_a_faulty_label_is_refused_by_its_key_path(label: str, fault: str) -> None:
    (told,) = faults(f"rubric: r\ncriteria:\n  - c: {{is: 1}}\nlabel: {label}\n")
    assert told.removeprefix("label").startswith(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the file is empty; a rubric begins with 'rubric: NAME'"),
        ("# nothing\n", "the file is empty"),
        ("word", 'should be a mapping, not the text "word"'),
        ("rubric: r\nlabel: any", "criteria: is missing"),
        ("rubric: r\ncriteria: []\nlabel: any", "criteria: needs 1 or more elements, not 0"),
        ("rubric: r\ncriteria: {a: {is: 1}}\nlabel: any", "criteria: should be a list, not a mapping"),
        ("rubric: r\ncriteria: [word]\nlabel: any", "criteria[0]: should be one name with a condition, such as - po"),
        ("rubric: r\ncriteria: [{}]\nlabel: any", "criteria[0]: should be one name with a condition"),
        ("rubric: r\ncriteria: [is: 1]\nlabel: any", "criteria[0]: should be one name with a condition"),
        ("rubric: a b\ncriteria: [a: {is: 1}]\nlabel: any", "rubric: should be 1 to 64 letters, digits, hyphens and"),
        ("rubric: r\ncriteria: [a.b: {is: 1}]\nlabel: any", 'criteria[0]."a.b": should be 1 to 64 letters, digits, h'),
        ("rubric: r\nrelevant: all\ncriteria: [a: {is: 1}]\nlabel: any", 'relevant: "all" is no value of this key; '),
        ("a: b\n---\nc: d\n", "not YAML: expected a single document in the stream but found another document (line 2"),
        (
            "a:\n\t- b\n",
            "not YAML: while scanning for the next token found character '\\t' that cannot start an",
        ),
        ("a: [b", "not YAML: while parsing a flow sequence expected ',' or ']', but got '<stream end>' (line 1, colu"),
        ("a: é\nb: \x07", "not YAML: unacceptable character #x0007"),
        ("a: \ud800", "not YAML: unacceptable character #xd800"),
        ("[" * 5000, "nested more than 20 deep"),
        ("a: &x [*x, *x]", "not YAML: anchors, aliases and tags are not allowed; write out what they stand for (line "),
        ("!!python/object/apply:os.system {is: 1}", "not YAML: anchors, aliases and tags are not allowed"),
        (r'a: "\U00110000"', "not YAML: "),
        ("%YAML 1." + "9" * 5000 + "\n---\n", "not YAML: "),
    ],
)
def test_a_faulty_file_is_refused(text: str, fault: str) -> None:
    (told,) = faults(text)
    assert told.startswith(fault)


def test_all_faults_are_told() -> None:
    told = faults(
        dedent("""\
        rubric: tickets
        colour: red
        criteria:
          - polite: {contians: please}
          - long:
            length: words
          - kind: {ends: 1}
          - both:
              and:
                - {starts: a, case: no}
                - {matches: "["}
        label: most
        """)
    )
    assert sorted(fault.split(": ", 1)[0] for fault in told) == sorted(
        [
            *('"colour" is no key here; allowed', "criteria[0].polite", "criteria[1]", "criteria[2].kind.ends"),
            *("criteria[3].both.and[0].case", "criteria[3].both.and[1].matches", "label"),
        ]
    )
    assert "; indent the condition more than the name, and begin each criterion with '- '" in told[1]


def test_criteria_that_are_there_already_are_refused() -> None:
    whole = "rubric: r\ncriteria:\n  - a: {is: 1}\n  - %s\nlabel: any\n"
    assert faults(whole % "a: {is: 2}") == ["criteria[1].a: the name stands above already; give each its own"]
    (same,) = faults(whole % "b: {is: 1}")
    assert same == "criteria[1].b: says the same as a; to make a criterion count for more, use weights"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    with pytest.raises(RubricError, match=r"r\.yaml: cannot be read: No such file or directory"):
        load_rubric(file)
    with pytest.raises(RubricError, match=r": cannot be read: Is a directory"):
        load_rubric(tmp_path)
    file.write_bytes(b"rubric: r\n\xff")
    with pytest.raises(RubricError, match=r"r\.yaml: the byte at offset 10 is not UTF-8"):
        load_rubric(file)


def test_a_byte_order_mark_and_windows_line_ends_make_no_difference(tmp_path: Path) -> None:
    text = with_condition("{contains: é}")
    file = tmp_path / "r.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_rubric(file) == parse_rubric(text, shown="r.yaml")


async def test_words_are_text_as_in_todays_yaml() -> None:
    for word in ("yes", "No", "on", "off", "2024-05-01", "12:30", "1_000", "0x1F", ".nan", "NO"):
        rubric = parse_rubric(with_condition(f"{{contains: {word}}}"), shown="r.yaml")
        assert await rubric.bits(f"a {word} b", None) == (1,)  # type: ignore[arg-type]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20))
async def test_json_is_yaml(text: str) -> None:
    for ascii_only in (True, False):
        written = json.dumps({"contains": text}, ensure_ascii=ascii_only)
        rubric = parse_rubric(with_condition(written), shown="r.yaml")
        assert await rubric.bits(f"<{text}>", None) == (1,)  # type: ignore[arg-type]


def test_labels_as_they_are_written() -> None:
    def label(written: str) -> Rubric:
        text = "rubric: r\ncriteria: [a: {is: 1}, b: {is: 2}]\n" + f"label: {written}\n"
        return parse_rubric(text, shown="r.yaml")

    assert label("majority").version == label("{by: majority, ties: 1}").version
    weighted = label("{by: weights, weights: {b: 0.5, a: -1}, threshold: 0.5}").aggregator
    assert [weighted(bits) for bits in ((0, 1), (1, 1), (1, 0))] == [1, 0, 0]
    assert label("{by: any, values: {0: no, 1: yes}}").labels == ("no", "yes")
    assert label("{by: any, values: {1: true, 0: false}}").labels == (False, True)
    assert label("any").labels == (0, 1)


VERSIONS = {
    "in-phenomenon": "aec2d7dc2b01",
    "out-of-phenomenon": "e76c36bd7fd3",
    "support-tickets": "fa6023223ce7",
    "west-frisian": "758fdf7bd708",
}


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "rubrics").glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_are_named_as_their_files_and_mean_what_they_meant(path: Path) -> None:
    """Verdicts name the version: a change would begin each series of a labeller anew."""
    rubric = load_rubric(path)
    assert (rubric.name, rubric.version) == (path.stem, VERSIONS[path.stem])


def test_what_the_documentation_shows_is_so() -> None:
    """Its rubric is the example of the same name, and its faults are told as it says."""
    page = (ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    rubric = parse_rubric(shown, shown="page")
    assert rubric.criteria == load_rubric(ROOT / "examples" / "rubrics" / "in-phenomenon.yaml").criteria
    (refused,) = re.findall(r"```\n(tickets.*?)```", page, re.DOTALL)
    told = faults(with_condition("{contians: a}")) + faults(with_condition("{starts: 0123}"))
    for line, fault in zip(refused.splitlines(), told, strict=True):
        assert line.split(": ", 2)[2].removesuffix("...") in fault


def read_or_refused(text: str) -> None:
    try:
        rubric = parse_rubric(text, shown="r.yaml")
    except RubricError:
        return
    assert len(rubric.version) == 12
    assert all(one.description for one in rubric.criteria)


PIECES = st.sampled_from(
    [
        *["rubric", "criteria", "label", "about", "contains", "count", "is", "and", "not", "ask", "field", "matches"],
        *[": ", ":", "- ", "\n", "\n  ", "\n    ", " ", "{", "}", "[", "]", ",", '"', "'", "|\n", ">\n", "? ", "#"],
        *["!!str ", "!x", "&a", "*a", "---\n", "...\n", "%YAML 1.2\n", "\t", "\\U00110000", "\\x", "0", "1e9", "-1"],
        *["~", "true", "any", "é", "\0", "\ud800", "\u2028", "\x85", "\ufeff", "@", "`", "<<"],
    ]
)
WHOLE = (ROOT / "examples" / "rubrics" / "support-tickets.yaml").read_text(encoding="utf-8")


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_a_rubric_or_refused(text: str) -> None:
    read_or_refused(text)


@given(st.integers(0, len(WHOLE)), st.integers(0, 30), PIECES | st.text(max_size=5))
def test_a_damaged_rubric_is_a_rubric_or_refused(at: int, cut: int, put: str) -> None:
    read_or_refused(WHOLE[:at] + put + WHOLE[at + cut :])


KEYS = st.sampled_from(
    "contains starts ends equals in matches count length type exists ask and or xor not is more_than between field "
    "case word by ties weights threshold values a b 0 1 c0 <TextTest> <Weights>".split()
)
WORDS = st.sampled_from(
    ["a", "a.b[0]", "(", "even", "words", "ignore", "weights", "any", "", None, True, 0, -1.5, 1e300]
)
THING = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@given(st.lists(THING, max_size=3), THING)
def test_any_data_is_a_rubric_or_refused(conditions: list[object], label: object) -> None:
    criteria = [{f"c{number}": condition} for number, condition in enumerate(conditions)]
    read_or_refused(json.dumps({"rubric": "r", "criteria": criteria, "label": label}))
