"""The extraction checker: what it accepts and rejects, what it names, what it costs, and when it does not decide."""

import itertools
import re
from collections.abc import Callable, Iterator
from random import Random

import pytest

from assay.testing import ScriptedModel, check
from checkers.extraction import PLUGIN
from checkers.extraction.checker import ExtractionChecker
from checkers.extraction.extractors import CallableSubject, Extract
from checkers.extraction.linearity import error_bound
from schemas import Verdict
from tests.checkers.case import cause_of
from tests.checkers.extraction.setting import (
    ENTITIES,
    TEXT,
    checked,
    classed,
    evidence_of,
    in_some_texts,
    places,
    proposing,
)


def in_turn(*extracts: Callable[[str], list[str]]) -> Extract:
    """For each text one after the other answers: some models say now this and now that."""
    asked: dict[str, Iterator[Callable[[str], list[str]]]] = {}
    return lambda text: next(asked.setdefault(text, itertools.cycle(extracts)))(text)


def rejected(extract: Extract) -> Verdict:
    """The verdict by the settings that everybody has."""
    verdict = checked(extract)
    assert verdict.outcome == "reject", verdict.reason
    return verdict


class TestAccepted:
    def test_an_extraction_that_does_not_depend_on_what_stands_there(self):
        verdict = checked()
        evidence = evidence_of(verdict)
        assert verdict.outcome == "accept"
        assert verdict.error_bound == error_bound(0.1, 10, 3)
        assert verdict.judge == "mine"
        assert [one.text for one in evidence.entities] == list(ENTITIES)
        assert not {one.replacement for one in evidence.entities} & set(ENTITIES)
        assert evidence.ideal_share == 1
        assert (evidence.causes, evidence.lost, evidence.extra, evidence.unnamed) == ((), (), (), ())
        assert (evidence.a_test, evidence.a_rate, evidence.con_rs, evidence.con_o) == (None,) * 4

    def test_the_evidence_shows_every_text_and_what_was_extracted(self):
        evidence = evidence_of(checked())
        replacements = [one.replacement for one in evidence.entities]
        assert len(evidence.rounds) == 10
        for text in (text for one in evidence.rounds for text in (one.x, one.y, one.xor)):
            standing = [
                other if bit == "1" else entity
                for bit, entity, other in zip(text.vector, ENTITIES, replacements, strict=True)
            ]
            assert places(text.text) == standing
            assert text.value == "".join("0" if bit == "1" else "1" for bit in text.vector)
            assert [list(group.entities or ()) for group in text.answers] == [standing]
        for one in evidence.rounds:
            assert int(one.xor.vector, 2) == int(one.x.vector, 2) ^ int(one.y.vector, 2)

    def test_with_what_small_models_copy_from_the_prompts_example(self):
        verdict = checked(lambda text: [*places(text), "The Third Man", "otter"] * 9)
        assert verdict.outcome == "accept"
        assert {one.entity for one in evidence_of(verdict).extra} == {"The Third Man", "otter"}
        assert len(evidence_of(verdict).rounds[0].x.answers[0].entities) == len(ENTITIES) + 2
        verdict = rejected(in_some_texts(lambda text: [*places(text)[:2], "The Third Man"]))
        assert "assumed_knowledge" not in {one.kind for one in evidence_of(verdict).causes}


class TestRejected:
    def test_a_weak_entity(self):
        verdict = rejected(in_some_texts(in_turn(lambda text: places(text)[:2], lambda text: places(text)[:2], places)))
        (cause,) = evidence_of(verdict).causes
        assert (verdict.score, verdict.error_bound) == (0, None)
        assert (cause.kind, cause.entity) == ("weak", "Turin")
        assert 0 < cause.named < cause.answers
        assert "“Turin” is found only in some texts" in verdict.reason

    @pytest.mark.parametrize(
        ("kind", "entity", "form"),
        [
            ("merged", "Lagos", lambda one: [one[0], f"{one[1]} to {one[2]}"]),
            ("split", "Ada Okafor", lambda one: [*one[0].split(), *one[1:]]),
            ("partial", "Ada Okafor", lambda one: [one[0].split()[0], *one[1:]]),
            ("partial", "Lagos", lambda one: [one[0], f"from {one[1]}", one[2]]),
        ],
    )
    def test_an_entity_of_several_forms(self, kind, entity, form):
        verdict = rejected(in_some_texts(lambda text: form(places(text))))
        causes = {one.entity: one for one in evidence_of(verdict).causes if one.kind == kind}
        assert causes[entity].forms
        assert causes[entity].forms[0] in verdict.reason
        (replacement,) = (one.replacement for one in evidence_of(verdict).entities if one.text == entity)
        assert f"“{entity}” or its replacement “{replacement}” is extracted" in verdict.reason

    def test_a_replacement_that_is_seldom_taken_for_an_entity(self):
        def known(text: str) -> list[str]:
            return [one for one in places(text) if one == "Turin" or one != places(text)[2]]

        (cause,) = evidence_of(rejected(in_turn(places, known, known, known, known, known))).causes
        assert (cause.kind, cause.entity) == ("replacement_fault", "Turin")

    def test_knowledge_that_is_not_in_the_text(self):
        verdict = rejected(in_some_texts(lambda text: [*places(text)[:2], "Piedmont"]))
        causes = {one.kind: one.entity for one in evidence_of(verdict).causes}
        assert causes["assumed_knowledge"] == "Piedmont"
        assert "“Piedmont” is extracted from texts that lack it" in verdict.reason

    def test_an_entity_of_the_record_that_its_text_has_not_without_asking(self):
        verdict = checked(record={"entities": [*ENTITIES, "Italy"]})
        (cause,) = evidence_of(verdict).causes
        assert (verdict.outcome, verdict.usage.calls) == ("reject", 0)
        assert (cause.kind, cause.entity) == ("assumed_knowledge", "Italy")
        whole = checked(record={"entities": [*ENTITIES, "Italy"]}, schedule="full")
        assert (whole.outcome, evidence_of(whole).a_test) == ("reject", 5)

    def test_however_much_is_extracted_the_evidence_is_bounded(self):
        def extract(text: str) -> list[str]:
            others = ["".join(letters).capitalize() for letters in itertools.product("XZ", repeat=8)]
            return [*places(text)[:2], *(f"{places(text)[2]} {one}" for one in others[:50]), *others[50:]]

        evidence = evidence_of(rejected(in_some_texts(extract)))
        texts = [text for one in evidence.rounds for text in (one.x, one.y, one.xor)]
        assert len(evidence.causes) == 20
        assert max(len(cause.forms) for cause in evidence.causes) == 5
        assert len(evidence.extra) == 20
        assert max(len(group.entities or ()) for text in texts for group in text.answers) == 200


def some_times(share: float, seed: int) -> Extract:
    """Turin or its replacement, only in so many of all answers."""
    draw = Random(seed)
    return lambda text: places(text) if draw.random() < share else places(text)[:2]


class TestNoPartOfAnAccept:
    """Linear, and yet not ideal: the test passes, and the entity is named."""

    @pytest.mark.parametrize("by_heart", [ENTITIES, ("Turin",)])
    def test_an_entity_that_is_known_by_heart(self, by_heart):
        def extract(text: str) -> list[str]:
            known = zip(ENTITIES, places(text), strict=True)
            return [one for entity, one in known if entity not in by_heart or entity == one]

        verdict = rejected(extract)
        evidence = evidence_of(verdict)
        assert {one.outcome for one in evidence.rounds} == {"passed"}
        assert [(one.kind, one.entity) for one in evidence.causes] == [("never_named", one) for one in by_heart]
        assert evidence.unnamed == by_heart
        assert (
            f"“{by_heart[0]}” is found, but its replacement “{evidence.causes[0].forms[0]}” never is" in verdict.reason
        )

    @pytest.mark.parametrize("schedule", ["fast", "full"])
    def test_an_entity_that_the_subject_does_not_give_for_the_text(self, schedule):
        writer = ScriptedModel(*proposing("went"))
        record = {"entities": [*ENTITIES, "moved"]}
        verdict = checked(
            lambda text: places(text.replace("went", "moved")), record=record, schedule=schedule, writer=writer
        )
        cause = evidence_of(verdict).causes[0]
        assert (verdict.outcome, cause.kind, cause.entity, cause.named) == ("reject", "not_given", "moved", 0)
        assert "“moved” is on the list, but found in 0 of" in verdict.reason
        assert (evidence_of(verdict).a_test is None) == (schedule == "fast")

    @pytest.mark.parametrize("schedule", ["fast", "full"])
    def test_an_entity_that_is_given_in_three_of_ten_answers(self, schedule):
        verdicts = [checked(some_times(0.3, n), record={"id": f"r{n}"}, schedule=schedule) for n in range(20)]
        assert [one.outcome for one in verdicts].count("accept") <= 1
        kinds = {cause.entity for one in verdicts for cause in evidence_of(one).causes}
        assert kinds == {"Turin"}

    def test_one_that_adds_entities_is_named(self):
        verdict = checked(lambda text: [*places(text), "Piedmont"])
        (extra,) = evidence_of(verdict).extra
        assert verdict.outcome == "accept"
        assert (extra.entity, extra.times) == ("Piedmont", extra.answers)
        assert any("Piedmont" in line for line in PLUGIN.explain(verdict))


class TestWhatIsTold:
    """An accept says what it rests on, and what can be missed."""

    def test_what_the_tests_can_miss(self):
        assert checked().reason == (
            "All 3 entities and their replacements are found in 8 texts. No other text can be made with them. "
            "Entities that the list lacks are never noticed."
        )
        more = {"text": TEXT.replace("Turin", "Turin and Porto"), "entities": [*ENTITIES, "Porto"]}
        writer = ScriptedModel(*proposing("Ines Roa", "Quito", "Oslo", "Lima"))
        verdict = checked(
            lambda text: [one for two in places(text) for one in two.split(" and ")], record=more, writer=writer
        )
        assert "A fault in one of ten such texts is missed in up to 6.4% of checks" in verdict.reason
        assert "how much that misses is not known" in checked(schedule="full").reason

    def test_with_one_entity_there_is_nothing_to_hang_on(self):
        record = {"entities": ["Turin"]}
        verdict = checked(lambda text: places(text)[2:], record=record)
        assert verdict.outcome == "accept"
        assert "The entity and its replacement are found" in verdict.reason
        assert "Whether an entity depends on another is not tested" in verdict.reason

    def test_what_the_extractor_normalised_is_untested(self):
        text, listed = f"{TEXT} It cost 5,000 francs.", "5000 francs"

        def extract(text: str) -> list[str]:
            return [*places(text.partition(" It")[0]), listed]

        verdict = checked(extract, record={"text": text, "entities": [*ENTITIES, listed]})
        (untested,) = evidence_of(verdict).untested
        assert (verdict.outcome, untested.text, untested.reason) == ("accept", listed, "other_form")
        assert f"1 could not be tested (“{listed}”)" in verdict.reason
        assert "could not be tested" not in checked(record={"entities": [*ENTITIES, "Turin"]}).reason
        assert any("(other form)" in line for line in PLUGIN.explain(verdict))


class TestSchedules:
    def test_the_full_one_takes_all_answers_and_gives_the_papers_quantities(self):
        verdict = checked(schedule="full")
        evidence = evidence_of(verdict)
        assert (verdict.usage.calls, evidence.answers) == (176, 165)
        assert (evidence.a_test, evidence.a_rate, evidence.con_rs, evidence.con_o) == (5, 1.0, 11, 11)

    def test_con_o_is_about_the_text_itself(self):
        lists = itertools.cycle([ENTITIES, ENTITIES[:2], ENTITIES])
        verdict = checked(lambda text: next(lists) if text == TEXT else places(text), schedule="full", repeats=3)
        assert verdict.usage.calls == verdict.usage.subject_calls == 93
        assert evidence_of(verdict).con_o == 2


class TestUndecided:
    @pytest.mark.parametrize(
        ("record", "cause", "said"),
        [
            ({"entities": []}, "no_entity", "the list of entities is empty"),
            ({"entities": ["--"]}, "no_entity", r"can be replaced: “--” \(blank\)"),
            ({"text": "  "}, "empty_text", "empty"),
            ({"text": "x" * 5001}, "too_long", "5001 characters; a text may have 5000"),
            ({"entities": ["Lagos"] * 51}, "too_long", "51 entities; a record may have 50"),
        ],
    )
    def test_what_cannot_be_tested(self, record, cause, said):
        verdict = checked(record=record)
        assert cause_of(verdict) == cause
        assert verdict.usage.calls == 0
        assert re.search(said, verdict.reason)

    @pytest.mark.parametrize("schedule", ["fast", "full"])
    def test_answers_that_cannot_be_read_are_no_rejection(self, schedule):
        verdict = checked(lambda text: [1, 2], schedule=schedule)  # type: ignore[list-item, return-value]
        assert cause_of(verdict) == "subject_unusable"
        assert "could not be read" in verdict.reason

    def test_an_extractor_that_raises_is_named_without_the_text(self):
        def broken(text: str) -> list[str]:
            raise RuntimeError(text)

        verdict = checked(broken)
        assert cause_of(verdict) == "subject_failed"
        assert "mine raised RuntimeError" in verdict.reason
        assert "Lagos" not in verdict.reason


class TestParaphrase:
    @staticmethod
    def check(*paraphrases: str, extract: Extract, **settings) -> Verdict:
        writer = ScriptedModel({"paraphrases": list(paraphrases)})
        record = {"id": "r", "text": TEXT, "entities": ENTITIES, "model": "extractor"}
        subjects = {"extractor": CallableSubject("mine", classed(extract))}
        return check(
            ExtractionChecker, record, writer=writer, subjects=subjects, transformation="paraphrase", **settings
        )

    @staticmethod
    def places(text: str) -> list[str]:
        if text == TEXT:
            return list(ENTITIES)
        before, _, person = text.strip().removesuffix(".").partition(" became the home of ")
        person, _, source = person.partition(", formerly of ")
        return [person, source, before]

    def test_entities_are_replaced_in_the_first_paraphrase_that_keeps_them(self):
        kept = "Turin became the home of Ada Okafor, formerly of Lagos."
        verdict = self.check("Turin became her home.", TEXT, kept, extract=self.places)
        assert verdict.outcome == "accept"
        assert evidence_of(verdict).text == kept
        assert evidence_of(verdict).transformation == "paraphrase"

    def test_an_entity_that_is_lost_in_other_words_is_no_part_of_an_accept(self):
        kept = "Turin became the home of Ada Okafor, formerly of Lagos."
        verdict = self.check(kept, extract=lambda text: ENTITIES if text == TEXT else self.places(text)[:2])
        (cause,) = evidence_of(verdict).causes
        assert (verdict.outcome, cause.kind, cause.entity, cause.named) == ("reject", "wording", "Turin", 0)
        assert "“Turin” is found in 0 of 6 answers once the text is put into other words" in verdict.reason

    def test_without_one_that_keeps_them_the_verdict_abstains(self):
        verdict = self.check("Turin became her home.", extract=self.places)
        assert cause_of(verdict) == "no_paraphrase"


def test_more_tests_are_made_where_they_cost_no_more_than_the_papers():
    settings = PLUGIN.settings()
    assert [settings.tests_of(entities, 11) for entities in (1, 4, 5, 50)] == [10, 10, 5, 5]
    assert settings.tests_of(50, 1) == 10
    assert PLUGIN.settings(schedule="full").tests_of(1, 11) == 5


def test_the_explanation_shows_the_text_that_was_asked_about_and_the_fault_in_80_columns():
    lines = list(PLUGIN.explain(rejected(in_some_texts(lambda text: places(text)[:2]))))
    assert max(map(len, lines)) <= 71
    assert any(line.startswith("asked:    “") for line in lines)
    assert any(line.startswith("fault:    “Turin”") for line in lines)
    assert any(line.startswith("replaced: Ada Okafor → ") for line in lines)
    accepted = list(PLUGIN.explain(checked()))
    assert not any(line.startswith("fault:") for line in accepted)
