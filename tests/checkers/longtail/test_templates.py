"""Corpora of statements, the 13 questions about each, and how answers are read."""

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.testing import check
from checkers.longtail.checker import LongtailChecker
from checkers.longtail.corpus import BUNDLED, DISTRIBUTIONS, STATEMENTS, Statement, read_corpus, write_corpus
from checkers.longtail.templates import TEMPLATES, polarity, templates_of
from checkers.longtail.yes_or_no import AFFIRMING, DENYING, meaning
from schemas import ProbeEvidence
from tests.checkers.case import abstention_of, evidence_of
from tests.checkers.longtail.probes import DOMAINS

STATEMENT = Statement(
    rule="r",
    domain="locational",
    distribution="tail",
    premise="Person X lives in Bhutan",
    conclusion="Person X cannot walk to the sea",
    negation="Person X can walk to the sea",
    question="can Person X walk to the sea",
    answer="no",
)
POSITIVE = STATEMENT.model_copy(
    update={"conclusion": STATEMENT.negation, "negation": STATEMENT.conclusion, "answer": "yes"}
)
INCORRECT = STATEMENT.model_copy(update={"correct": False})


def test_there_are_thirteen_with_the_labels_of_the_paper():
    labels = [template.answer(STATEMENT) for template in TEMPLATES.values()]
    assert list(TEMPLATES) == list(range(1, 14))
    assert labels == [*"yes yes true right yes yes".split(), "no", *"no no false wrong no no".split()]


def test_six_are_positive_and_seven_negative():
    for statement in (STATEMENT, POSITIVE):
        signs = [polarity(number, one.answer(statement)) for number, one in TEMPLATES.items()]
        assert signs == ["positive"] * 6 + ["negative"] * 7


def test_of_an_incorrect_statement_only_what_is_known_is_asked_and_denied():
    asked = list(templates_of(INCORRECT))
    assert [template.number for template in asked] == [1, 2, 3, 4, 5, 6]
    assert [template.answer(INCORRECT) for template in asked] == "no no false wrong no no".split()
    assert {meaning(template.answer(INCORRECT)) for template in asked} == {False}
    assert {polarity(template.number, template.answer(INCORRECT)) for template in asked} == {"negative"}


WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip)
TEXTS = dict.fromkeys(("rule", "domain", "premise", "conclusion", "negation", "question"), WORDS)
CORPORA = st.lists(st.builds(Statement, **TEXTS), min_size=1)
LINE = (
    b'{"rule": "r", "domain": "temporal", "distribution": "tail", "premise": "p", "conclusion": "c", '
    b'"negation": "n", "question": "q", "answer": "no"}\n'
)


@given(corpus=CORPORA)
@settings(deadline=None, max_examples=50)
def test_a_corpus_is_read_as_it_was_written(corpus: list[Statement], tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / STATEMENTS, corpus)
    assert list(read_corpus(folder / STATEMENTS)) == corpus
    assert list(read_corpus(folder)) == corpus


def test_a_statement_has_its_id_from_what_it_says_and_not_from_its_likelihood():
    statement = Statement.model_validate_json(LINE)
    assert statement.id == statement.model_copy(update={"log_likelihood": -2.5}).id
    assert statement.id != statement.model_copy(update={"premise": "another"}).id
    assert statement.id != statement.model_copy(update={"correct": False}).id


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "holds no statement"),
        (LINE + b"{", ":2: .*Invalid JSON"),
        (b"\n" + LINE.replace(b'"tail"', b'"middle"'), r":2: distribution: .*'head' or 'tail'"),
        (b'"' + b"x" * (1 << 20) + b'"', ":1: longer than 1048576 bytes"),
    ],
)
def test_what_is_no_statement_is_named_with_its_line(data: bytes, complaint: str, tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=complaint):
        list(read_corpus(path))


def test_the_bundled_corpus_has_head_and_tail_of_every_domain_and_no_statement_twice():
    found = list(read_corpus(Path(BUNDLED)))
    right = [one for one in found if one.correct]
    assert {(one.domain, one.distribution) for one in right} == set(product(DOMAINS, DISTRIBUTIONS))
    for rule in {one.rule for one in found}:
        sides = Counter(one.distribution for one in right if one.rule == rule)
        assert min(sides[one] for one in DISTRIBUTIONS) >= 7
    assert len({(one.premise, one.conclusion) for one in found}) == len(found)
    assert {one.answer for one in right} == {"yes", "no"}


PROBE: dict[str, Any] = {
    "statement": {
        "premise": "Person X has no freezer",
        "conclusion": "Person X cannot keep sorbet for a week",
        "domain": "food",
        "distribution": "tail",
    },
    "template": 7,
    "question": "Person X has no freezer. Can Person X keep sorbet for a week? Answer yes or no.",
    "expected": "no",
    "answer": "No.",
}


READ = {
    "Yes.": True,
    "**No**, it melts.": False,
    "No, because it is true that keels are needed.": False,
    "Well, yes.": True,
    "The answer is no.": False,
    '{"answer": "no"}': False,
    "THAT is correct.": True,
    "It isn’t true.": False,
    **dict.fromkeys(["", "It depends.", "Yes and no.", "True or false?", "Yesterday", "I cannot say yes."]),
    "No boat sails without a keel.": None,
}


def test_an_answer_is_read_where_it_stands_and_anything_else_is_none():
    assert {answer: meaning(answer) for answer in READ} == READ
    assert all(meaning(word) is (word in AFFIRMING) for word in AFFIRMING | DENYING)


@pytest.mark.parametrize("answer", ["I don't know.", "I cannot help with this."])
def test_an_answer_that_claims_nothing_is_not_right(answer: str):
    for expected in ("yes", "no"):
        verdict = check(LongtailChecker, PROBE | {"expected": expected, "answer": answer})
        assert (verdict.outcome, verdict.score) == ("reject", 0.0)


def test_the_right_answer_is_accepted_with_the_statement_as_evidence_and_the_wrong_one_rejected():
    verdict = check(LongtailChecker, PROBE)
    assert (verdict.outcome, verdict.score) == ("accept", 1.0)
    said = evidence_of(ProbeEvidence, verdict).model_dump()
    assert said.items() >= {"polarity": "negative", **PROBE["statement"], "expected": "no", "answer": "No."}.items()
    verdict = check(LongtailChecker, PROBE | {"answer": "Yes, in the cellar."})
    assert (verdict.outcome, verdict.score) == ("reject", 0.0)
    assert "expected no: “Yes, in the cellar.”" in verdict.reason


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"answer": "It depends."}, "subject_unusable"),
        ({"answer": ""}, "subject_unusable"),
        ({"expected": "perhaps"}, "unparsable"),
        ({"answer": "", "metadata": {"unanswered": "subject_refused"}}, "subject_refused"),
        ({"answer": "", "metadata": {"unanswered": "made up"}}, "subject_unusable"),
    ],
)
def test_what_cannot_be_read_abstains_with_the_cause(fields: dict, cause: str):
    abstention = abstention_of(check(LongtailChecker, PROBE | fields))
    assert abstention.cause == cause
    # Where the right answer is known, it can be counted beside the others of its side.
    assert (None if cause == "unparsable" else "tail") == (abstention.probe and abstention.probe.distribution)
