"""Rewritten sentences take the place of the old ones, and nothing else moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.consistency.splicing import fits, spliced
from models.sentences import split_sentences
from schemas import SentenceFinding
from tests.support.record_strategies import texts

responses = st.lists(
    st.sampled_from(["It rained. ", "Dr. Wu left!", "- point", "1. ", "\n", "\r\n", "\t", "  ", "\u2028", "é 🌧 "])
    | texts,
    max_size=12,
).map("".join)


def findings_of(response: str) -> list[SentenceFinding]:
    return [
        SentenceFinding(text=one.text, start=one.start, end=one.end, mark=-1, reason="no", support=0.0)
        for one in split_sentences(response)
    ]


@st.composite
def rewritten(draw: st.DrawFn, words: st.SearchStrategy[str]) -> tuple[str, list[SentenceFinding], dict[int, str]]:
    response = draw(responses)
    findings = findings_of(response)
    chosen = draw(st.sets(st.integers(0, len(findings) - 1))) if findings else set()
    return response, findings, {index: draw(words) for index in sorted(chosen)}


@given(rewritten(texts.map(str.strip).filter(bool)))
def test_everything_outside_the_rewritten_sentences_stays_byte_for_byte(case):
    response, findings, rewrites = case
    pieces, at = [], 0
    for index, text in rewrites.items():
        pieces += [response[at : findings[index].start], text]
        at = findings[index].end
    assert spliced(response, findings, rewrites) == "".join([*pieces, response[at:]])


@given(rewritten(st.just("")))
def test_where_sentences_are_taken_out_the_words_of_the_others_stay_in_their_order(case):
    response, findings, rewrites = case
    left = spliced(response, findings, rewrites)
    at = 0
    for index, found in enumerate(findings):
        if index not in rewrites:
            at = left.index(found.text, at) + len(found.text)
    gone = sum(len(findings[index].text) for index in rewrites)
    assert len(left) <= len(response) - gone
    if len(rewrites) == len(findings) > 0:
        assert left == ""


@pytest.mark.parametrize(
    ("response", "out", "left"),
    [
        ("One stays. Two goes. Three stays.", [1], "One stays. Three stays."),
        ("One goes. Two stays.", [0], "Two stays."),
        ("One stays. Two goes.\n", [1], "One stays.\n"),
        ("One stays.\n\nTwo goes.\n\nThree stays.", [1], "One stays.\n\nThree stays."),
        ("Items:\n\n- One goes.\n- Two stays.", [1], "Items:\n\n- Two stays."),
        ("Items:\n  - One stays.\n  - Two goes.\n  - Three stays.", [2], "Items:\n  - One stays.\n  - Three stays."),
        ("1. One stays.\n2. Two goes.", [1], "1. One stays."),
        ("One stays. Two goes. Three goes. Four stays.", [1, 2], "One stays. Four stays."),
        ("- One goes.\n- Two goes.\n", [0, 1], ""),
    ],
)
def test_a_sentence_that_is_taken_out_leaves_no_gap(response, out, left):
    assert spliced(response, findings_of(response), dict.fromkeys(out, "")) == left


def test_findings_fit_the_response_they_are_about_and_no_other():
    response = "One is here. Two is here."
    findings = findings_of(response)
    assert fits(response, findings)
    assert not fits(response.replace("Two", "Tea"), findings)
    assert not fits(f" {response}", findings)
    assert not fits(response, findings[::-1])
    assert not fits(response, [findings[0].model_copy(update={"start": -25, "end": -13})])


@pytest.mark.parametrize(
    ("response", "left"),
    [
        ("Hello there! It rained.", "Hello there!"),
        ("Hello there!\n- It rained.\n- Bye!", "Hello there!\n- Bye!"),
        ("It rained. Bye!", "Bye!"),
    ],
)
def test_what_has_no_finding_stays_beside_what_is_taken_out(response: str, left: str):
    found = findings_of(response)
    rained = [one for one in found if "rained" in one.text]
    others = [one for one in found if "rained" not in one.text]
    assert spliced(response, rained, {0: ""}, others=others) == left
