"""Replacements: their sources, in order, and those that are never taken."""

import re

import pytest

from assay.testing import ScriptedModel
from checkers.checker import Undecidable
from checkers.extraction import names as module
from checkers.extraction.entity_questions import ExtractionPrompts
from checkers.extraction.fitting import fits, in_form_of
from checkers.extraction.invented_names import invented, kind_of
from checkers.extraction.mentions import find_mentions, words_of
from checkers.extraction.names import Names, SeenNames
from models.protocol import Model, ModelFailed
from schemas import Extraction, TestedEntity
from tests.support.extraction import proposing

TEXT = "Ada Okafor flew a kite over Lagos on 3 May 2019."
CLASSES = {"Ada Okafor": "person", "Lagos": "city", "3 May 2019": "date"}


def record(text: str = TEXT, **fields: str) -> Extraction:
    return Extraction.model_validate(
        {"kind": "extraction", "source": "s", "model": "m", "text": text, "entities": [], **fields}
    )


async def replacements(
    *entities: str,
    seen: SeenNames | None = None,
    judge: Model | None = None,
    classes: dict[str, str] = CLASSES,
    seed: str = "seed",
    **fields: str,
) -> dict[str, TestedEntity]:
    names = Names(judge, ExtractionPrompts(), seen or SeenNames())
    found = await names.replacements(record(**fields), find_mentions(TEXT, entities), classes, seed)
    return {one.text: one for one in found}


def seen(kind: str, *names: str, **fields: str) -> SeenNames:
    made = SeenNames()
    made.add(record(" and ".join(names), **fields), [(name, kind) for name in names])
    return made


async def nothing_for(*entities: str, **given) -> str:
    with pytest.raises(Undecidable) as raised:
        await replacements(*entities, **given)
    assert raised.value.cause == "no_replacement"
    return raised.value.detail


class TestTraffic:
    async def test_a_name_of_the_same_class_takes_the_place_before_anybody_is_asked(self):
        judge = ScriptedModel()
        found = await replacements("Lagos", seen=seen("city", "Porto"), judge=judge)
        assert found["Lagos"] == TestedEntity(text="Lagos", replacement="Porto", named=True)
        assert not judge.questions

    @pytest.mark.parametrize("other", [{"tenant": "another"}, {"source": "another"}, {"model": "another"}])
    async def test_no_name_of_one_tenant_source_or_subject_is_shown_to_another(self, other):
        kind = {"Lagos": "harbour"}
        assert (await replacements("Lagos", seen=seen("harbour", "Porto"), classes=kind))[
            "Lagos"
        ].replacement == "Porto"
        detail = await nothing_for("Lagos", seen=seen("harbour", "Porto", **other), classes=kind)
        assert "no other name of its class, “harbour”, has been seen" in detail

    async def test_nor_is_a_name_of_the_same_record_of_another_tenant(self):
        names, located = Names(None, ExtractionPrompts(), seen("harbour", "Porto")), find_mentions(TEXT, ["Lagos"])
        assert await names.replacements(record(), located, {"Lagos": "harbour"}, "seed")
        with pytest.raises(Undecidable):
            await names.replacements(record(tenant="another"), located, {"Lagos": "harbour"}, "seed")

    async def test_no_two_entities_get_the_same_name(self):
        same = {"Ada Okafor": "name", "Lagos": "name"}
        assert "“Lagos”" in await nothing_for("Ada Okafor", "Lagos", seen=seen("name", "Porto"), classes=same)

    async def test_a_name_of_another_class_is_not_taken(self):
        await nothing_for("Lagos", seen=seen("river", "Niger"), classes={"Lagos": "harbour"})

    async def test_a_record_that_comes_again_gets_the_same_names_whatever_has_been_seen_since(self):
        known = seen("city", "Porto")
        names = Names(None, ExtractionPrompts(), known)
        located = find_mentions(TEXT, ["Lagos"])
        first = await names.replacements(record(), located, CLASSES, "seed")
        for letter in "abcdefghijklmn":
            known.add(record(f"Port{letter}"), [(f"Port{letter}", "city")])
        assert await names.replacements(record(), located, CLASSES, "seed") == first
        others = {(await names.replacements(record(), located, CLASSES, str(n)))[0].replacement for n in range(9)}
        assert len(others) > 3

    def test_only_the_latest_names_of_the_latest_classes_are_kept(self, monkeypatch):
        monkeypatch.setattr(module, "_MOST_CLASSES", 2)
        known = SeenNames()
        for kind in ("a", "b", "c"):
            for number in range(150):
                known.add(record(f"N{number}"), [(f"N{number}", kind)])
        assert known.like(record(), "a") == []
        known.add(record("N50"), [("N50", "c")])
        assert known.like(record(), "C") == [*(f"N{number}" for number in range(51, 150)), "N50"]

    def test_what_the_text_does_not_have_or_has_no_class_is_not_kept(self):
        known = SeenNames()
        known.add(record("Porto"), [("Bergen", "city"), ("Porto", ""), ("Porto" * 30, "city")])
        assert known.like(record(), "city") == known.like(record(), "") == []


class TestJudge:
    async def test_one_question_is_asked_about_all_that_is_left(self):
        reply = proposing(**{"Ada Okafor": "Ines Varga", "kite": "balloon"})
        reply["replacements"][1]["named"] = False
        judge = ScriptedModel(reply)
        found = await replacements("Ada Okafor", "kite", "Lagos", seen=seen("city", "Porto"), judge=judge)
        (question,) = judge.questions
        assert "Lagos" not in question.messages[-1].content.partition(TEXT)[0]
        assert {name: (one.replacement, one.named) for name, one in found.items()} == {
            "Ada Okafor": ("Ines Varga", True),
            "kite": ("balloon", False),
            "Lagos": ("Porto", True),
        }

    async def test_a_candidate_that_does_not_fit_by_the_judge_or_by_rule_is_passed_over(self):
        candidates = [("dragon", False), ("Lagos kite", True), ("two kites, or more", True), ("balloon", True)]
        listed = [{"text": text, "fits": fit} for text, fit in candidates]
        judge = ScriptedModel({"replacements": [{"entity": "kite", "named": False, "candidates": listed}]})
        assert (await replacements("kite", judge=judge))["kite"].replacement == "balloon"

    async def test_where_nothing_fits_the_record_is_not_decided(self):
        detail = await nothing_for("kite", judge=ScriptedModel(proposing(named=False, kite="flying kite")))
        assert "nothing that the judge proposed fits in its place" in detail

    async def test_a_judge_that_does_not_answer_leaves_names_to_be_invented(self):
        found = await replacements("Ada Okafor", "Lagos", "3 May 2019", judge=ScriptedModel())
        assert len({one.replacement for one in found.values()} - CLASSES.keys()) == 3
        with pytest.raises(ModelFailed, match="no more replies"):
            await replacements("Ada Okafor", "kite", judge=ScriptedModel())


class TestInvented:
    @pytest.mark.parametrize(
        ("said", "kind"),
        [
            ("person", "person"), ("PER", "person"), ("Fictional characters", "person"), ("GPE", "place"),
            ("city in Africa", "place"), ("ORGANIZATION", "organisation"), ("Date", "quantity"), ("MONEY", "quantity"),
            ("film", None), ("", None),
        ],
    )  # fmt: skip
    def test_the_kind_is_told_by_the_class(self, said, kind):
        assert kind_of(said) == kind

    async def test_names_keep_kind_and_length_and_are_those_of_the_record_each_time(self):
        first, again, other = [await replacements(*CLASSES, seed=seed) for seed in ("1", "1", "2")]
        assert first == again != other
        for entity, one in first.items():
            assert len(one.replacement.split()) == len(entity.split())
            assert not words_of(one.replacement) & (words_of(TEXT) - words_of("3 May 2019"))

    @pytest.mark.parametrize(
        ("entity", "form"),
        [
            ("April 25, 1844", r"April \d\d?, 1[89]\d\d"),
            ("1992-1995", r"(1[89]|20)\d\d-(1[89]|20)\d\d"),
            ("the 1980s", r"the (19[4-9]|20[0-2])0s"),
            ("21st", "1st|21st"),
            ("19th", r"\d+th"),
            ("US$ 1.8 billion", r"US\$ [2-9]\.[2-9] billion"),
            ("5,000", r"[2-9],000"),
            ("10:45", r"\d\d?:(3[2-9]|[45]\d)"),
            ("45%", r"\d\d%"),
            ("March", "[A-Z][a-z]+"),
            ("Monday", "[A-Z][a-z]+day"),
        ],
    )
    def test_another_date_or_figure_has_the_same_form(self, entity, form):
        made = list(invented(entity, "number", "seed"))
        assert all(re.fullmatch(form, one) for one in made), made
        assert set(made) - {entity}

    def test_a_span_of_years_stays_as_long(self):
        assert all(int(one[5:]) - int(one[:4]) == 3 for one in invented("1992-1995", "date", "seed"))

    @pytest.mark.parametrize("entity", ["1", "one", "seven", "last week"])
    def test_what_has_no_other_of_its_form_is_left(self, entity):
        assert set(invented(entity, "number", "seed")) <= {entity}

    async def test_without_a_class_only_figures_are(self):
        assert set(invented("5,000", "", "seed")) - {"5,000"}
        detail = await nothing_for("Lagos", classes={})
        assert "“Lagos” cannot be replaced: its subject gives it no class" in detail


@pytest.mark.parametrize(
    ("entity", "candidate", "fit"),
    [
        ("Apple Inc.", "Apple Christianity.", False),
        ("Apple Inc.", "Fermata Group", True),
        ("Nelson Mandela", "Nelson Soni", False),
        ("Nelson Mandela", "Kim", True),
        ("Nelson Mandela", "Miller, Khan and Sons", False),
        ("Ada", "Maria Luisa Lopez", False),
        ("UN", "United Nations", False),
        ("World Trade", "WT", False),
        ("Boeing 747", "Boeing 737", True),
        ("Boeing 747", "Airbus", False),
        ("Lagos", "Area 51", False),
        ("Lagos", "harbour", False),
        ("kite", "Balloon", False),
        ("Lagos", "Turin", False),
        ("Lagos", "Ines", False),
        ("Lagos", "Porto (Portugal)", False),
        ("Lagos", "", False),
        ("Lagos", "P" * 101, False),
        ("3 May 2019", "7 May 1999", True),
        ("3 May 2019", "May 1999", False),
        ("3 May 2019", "3 May 2019", False),
        ("東京", "大阪", True),
    ],
)
def test_what_fits_in_the_place_of_an_entity(entity, candidate, fit):
    text = f"Ines Varga saw {entity} in Turin."
    assert fits(candidate, entity, text=text, taken=words_of(text)) is fit


def test_no_name_that_the_text_has_without_blanks_around_it_fits():
    text = "田中は大阪から東京へ移った。"
    assert not fits("東京", "大阪", text=text, taken=words_of(text))


@pytest.mark.parametrize(
    ("candidate", "entity", "named", "made"),
    [
        (" “Porto.” ", "Lagos", True, "Porto"),
        ("Porto", "Lagos's", True, "Porto's"),
        ("James", "Ada’s", True, "James'"),
        ("the Hague", "Lagos", True, "Hague"),
        ("tavern", "an old bakery", False, "a tavern"),
        ("inn", "A bakery", False, "An inn"),
        ("the firm", "The company", False, "The firm"),
        ("Taverns", "bakeries", False, "taverns"),
        ("taverns", "Bakeries", False, "Taverns"),
        ("iPad", "Walkman", True, "iPad"),
        ("U.S.", "U.K.", True, "U.S."),
    ],
)
def test_a_candidate_takes_the_form_of_the_entity(candidate, entity, named, made):
    assert in_form_of(candidate, entity, named=named) == made
