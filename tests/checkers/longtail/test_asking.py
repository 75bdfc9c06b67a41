"""Subjects are asked in a seeded order, head and tail alike, and their answers become records."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing import ScriptedModel
from checkers.checker import Models
from checkers.longtail import PLUGIN
from checkers.longtail.checker import LongtailSettings
from checkers.longtail.corpus import write_corpus
from checkers.longtail.source import ProbeSource, paired, probe
from checkers.longtail.templates import TEMPLATES
from schemas import read_record, to_json
from tests.checkers.case import cause_of
from tests.checkers.longtail.probes import corpus_in, statements

RULES = paired(statements(4, 5))


def source(corpus: Path, *replies: dict[str, str]) -> ProbeSource:
    configured = LongtailSettings.model_validate({"probes": {"corpus": corpus}})
    return ProbeSource(configured, Models(subjects={"acme": ScriptedModel(*replies)}))


class TestTheOrder:
    def test_a_number_decides_what_is_asked_in_every_process(self):
        asked = [probe(RULES, number) for number in (*range(20), 28_345_678, 1_700_000_000_00)]
        told = repr([(statement.premise, template.number) for statement, template in asked])
        # A process with another seed of hashes, or of another version, draws no others.
        assert hashlib.sha256(told.encode()).hexdigest()[:16] == "1f1108a9e13881d8"

    @given(st.integers(min_value=0))
    def test_the_two_of_a_pair_differ_in_their_distribution_alone(self, pair: int):
        first, second = (probe(RULES, 2 * pair + side) for side in (0, 1))
        assert {first[0].distribution, second[0].distribution} == {"head", "tail"}
        assert (first[0].rule, first[1]) == (second[0].rule, second[1])

    def test_rules_templates_and_statements_come_equally_often(self):
        drawn = [probe(RULES, number) for number in range(2 * 4 * 5 * 13)]
        assert set(Counter(statement.rule for statement, _ in drawn).values()) == {2 * 5 * 13}
        assert Counter(template.number for _, template in drawn) == dict.fromkeys(TEMPLATES, 2 * 4 * 5)
        assert set(Counter(statement.id for statement, _ in drawn).values()) == {13}

    def test_rules_with_one_side_and_incorrect_statements_are_left_out(self):
        known = list(statements(2, 3))
        one_sided = [one.model_copy(update={"rule": "other"}) for one in known if one.distribution == "head"]
        incorrect = [one.model_copy(update={"correct": False, "premise": "Wrong"}) for one in known]
        rules = paired([*known, *one_sided, *incorrect])
        asked = [probe(rules, number)[0] for number in range(200)]
        assert {one.id for one in asked} == {one.id for one in known}


class TestTheSource:
    async def test_a_record_holds_statement_question_and_both_answers(self, tmp_path: Path):
        made = await source(corpus_in(tmp_path), {"answer": "Yes."}).record("acme", 3, "id-3")
        assert read_record(to_json(made), max_bytes=10_000) == made
        assert (made.id, made.source, made.model) == ("id-3", "probe-scheduler", "acme")
        assert made.statement.distribution in ("head", "tail")
        assert made.question.startswith(("Person X", "First sentence"))
        assert (made.answer, made.reasoning) == ("Yes.", None)
        assert made.expected in {"yes", "no", "true", "false", "right", "wrong"}

    async def test_a_failure_is_a_record_without_an_answer_that_abstains_with_its_cause(self, tmp_path: Path):
        made = await source(corpus_in(tmp_path)).record("acme", 0, "x")
        verdict = await PLUGIN.build(PLUGIN.settings(), Models()).check(made)
        assert cause_of(verdict) == "subject_failed"

    def test_a_corpus_that_cannot_be_used_is_named(self, tmp_path: Path):
        with pytest.raises(ValueError, match=r"missing\.jsonl"):
            source(tmp_path / "missing.jsonl")
        one_sided = tmp_path / "tail.jsonl"
        write_corpus(one_sided, [one for one in statements() if one.distribution == "tail"])
        with pytest.raises(ValueError, match=r"longtail\.probes\.corpus = .*tail\.jsonl: .*both head and tail"):
            source(one_sided)
