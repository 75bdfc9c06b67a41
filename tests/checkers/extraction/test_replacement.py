"""Replacements: their sources, in order, those that are never taken, and the sentences with them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.testing import ScriptedModel
from checkers.extraction import replacement as module
from checkers.extraction.mentions import Located, find_mentions, words_of
from checkers.extraction.questions import ExtractionPrompts
from checkers.extraction.replacement import Names, fits, other_figures
from models.protocol import Model, ModelFailed
from schemas import Extraction
from schemas.extraction import TestedEntity
from tests.checkers.extraction.setting import proposing

TEXT = "Ada Okafor flew a kite over Lagos on 3 May 2019."
CLASSES = {"Ada Okafor": "person", "Lagos": "city", "3 May 2019": "date"}


def replaced(located: Located, names: Sequence[str], vector: int) -> str:
    return replace(located, replacements=tuple(names)).sentence(vector)


def record(text: str = TEXT, **fields: str) -> Extraction:
    return Extraction.model_validate(
        {"kind": "extraction", "source": "s", "model": "m", "text": text, "entities": [], **fields}
    )


async def replacements(
    *entities: str, names: Names | None = None, classes: dict[str, str] = CLASSES, seed: str = "seed", **fields: str
) -> dict[str, TestedEntity]:
    found = await (names or seen("none")).replacements(record(**fields), find_mentions(TEXT, entities), classes, seed)
    return {one.text: one for one in found}


def seen(kind: str, *names: str, writer: Model | None = None, **fields: str) -> Names:
    """What has seen these names."""
    made = Names(writer, ExtractionPrompts())
    made.keep(record(" and ".join(names), **fields), [(name, kind) for name in names])
    return made


def asking(writer: Model) -> Names:
    return seen("none", writer=writer)


class TestTraffic:
    async def test_a_name_of_the_same_class_takes_the_place_before_anybody_is_asked(self):
        writer = ScriptedModel()
        found = await replacements("Lagos", names=seen("city", "Porto", writer=writer))
        assert found["Lagos"] == TestedEntity(text="Lagos", replacement="Porto", named=True)
        assert not writer.questions

    @pytest.mark.parametrize("other", [{"tenant": "another"}, {"source": "another"}, {"model": "another"}])
    async def test_no_name_of_one_tenant_source_or_subject_is_shown_to_another(self, other):
        kind = {"Lagos": "harbour"}
        assert await replacements("Lagos", names=seen("harbour", "Porto"), classes=kind)
        assert not await replacements("Lagos", names=seen("harbour", "Porto", **other), classes=kind)
        names, located = seen("harbour", "Porto"), find_mentions(TEXT, ["Lagos"])
        assert await names.replacements(record(), located, kind, "seed")
        if "source" not in other:
            assert not await names.replacements(record(**other), located, kind, "seed")

    async def test_no_two_entities_get_the_same_name_or_one_of_another_class(self):
        same = {"Ada Okafor": "name", "Lagos": "name"}
        assert (await replacements("Ada Okafor", "Lagos", names=seen("name", "Porto"), classes=same)).keys() == {
            "Ada Okafor"
        }
        assert not await replacements("Lagos", names=seen("river", "Niger"), classes={"Lagos": "harbour"})
        assert not await replacements("Lagos", names=seen("harbour", "She"), classes={"Lagos": "harbour"})

    async def test_a_record_that_comes_again_gets_the_same_names_whatever_has_been_seen_since(self):
        names, located = seen("city", "Porto"), find_mentions(TEXT, ["Lagos"])
        first = await names.replacements(record(), located, CLASSES, "seed")
        for letter in "abcdefghijklmn":
            names.keep(record(f"Port{letter}"), [(f"Port{letter}", "city")])
        assert await names.replacements(record(), located, CLASSES, "seed") == first
        others = {(await names.replacements(record(), located, CLASSES, str(n)))[0].replacement for n in range(9)}
        assert len(others) > 3

    def test_only_the_latest_names_of_the_latest_classes_are_kept(self, monkeypatch):
        monkeypatch.setattr(module, "_MOST_CLASSES", 2)
        known = seen("none")
        for kind in ("a", "b", "c"):
            for number in range(150):
                known.keep(record(f"N{number}"), [(f"N{number}", kind)])
        known.keep(record("Porto"), [("Bergen", "c"), ("Porto", "")])
        assert [len(names) for names in known._seen.values()] == [100, 100]
        assert {kind for *_, kind in known._seen} == {"b", "c"}


class TestWriter:
    async def test_a_question_is_asked_about_each_that_is_left_and_names_are_told_from_others(self):
        writer = ScriptedModel(*proposing("Ines Varga", "balloon"))
        found = await replacements("Ada Okafor", "kite", "Lagos", names=seen("city", "Porto", writer=writer))
        assert [question.task for question in writer.questions] == ["extraction.names", "extraction.synonyms"]
        assert {name: (one.replacement, one.named) for name, one in found.items()} == {
            "Ada Okafor": ("Ines Varga", True),
            "kite": ("balloon", False),
            "Lagos": ("Porto", True),
        }

    async def test_one_that_does_not_answer_leaves_names_to_faker(self):
        assert (await replacements(*CLASSES, "kite", names=asking(ScriptedModel()))).keys() == CLASSES.keys()
        with pytest.raises(ModelFailed, match="no more replies"):
            await replacements("kite", names=asking(ScriptedModel()))


class TestFaker:
    async def test_names_keep_kind_and_length_and_are_those_of_the_record_each_time(self):
        first, again, other = [await replacements(*CLASSES, seed=seed) for seed in ("1", "1", "2")]
        assert first == again != other
        for entity, one in first.items():
            assert len(one.replacement.split()) == len(entity.split())
            assert not words_of(one.replacement) & (words_of(TEXT) - words_of("3 May 2019"))

    @pytest.mark.parametrize(
        ("entity", "form"),
        [
            ("April 25, 1844", r"April \d\d?, 18\d\d"),
            ("1992-1995", r"19\d\d-19\d\d"),
            ("US$ 1.8 billion", r"US\$ 1\.\d\d? billion"),
            ("5,000", r"\d\d?,000"),
            ("45%", r"[2-9]{2}%"),
            ("1", "1"),
        ],
    )
    def test_another_date_or_figure_has_the_same_form(self, entity, form):
        assert all(re.fullmatch(form, one) for one in other_figures(entity, Random(0)))


@pytest.mark.parametrize(
    ("entity", "candidate", "fit"),
    [
        ("Apple Inc.", "Apple Christianity.", False),
        ("Nelson Mandela", "Nelson Soni", False),
        ("Nelson Mandela", "Kim", True),
        ("Ada", "Maria Luisa Lopez", False),
        ("World Trade", "WT", False),
        ("Boeing 747", "Boeing 737", True),
        ("Lagos", "harbour", False),
        ("Lagos", "Porto (Portugal)", False),
        ("Lagos", "", False),
        ("Lagos", "P" * 101, False),
        ("3 May 2019", "7 May 1999", True),
        ("東京", "大阪", True),
    ],
)
def test_what_fits_in_the_place_of_an_entity(entity, candidate, fit):
    text = f"Ines Varga saw {entity} in Turin."
    assert fits(candidate, entity, text=text, taken=words_of(text)) is fit


@pytest.mark.parametrize(
    ("text", "entity", "replacement", "expected"),
    [
        ("They live in the U.S.", "the U.S.", "Peru", "They live in Peru."),
        ("The company sold it.", "the company", "the firm", "The firm sold it."),
        ("Bakeries closed.", "bakeries", "taverns", "Taverns closed."),
        ("Ada has it.", "Ada", "iPhone", "iPhone has it."),
    ],
)
def test_the_sentence_keeps_its_capital_and_its_full_stop(text, entity, replacement, expected):
    assert replaced(find_mentions(text, [entity]), [replacement], 1) == expected


ENTITIES = {"Ada Okafor": "Maria Lopez", "Igor": "James", "New York": "Lagos", "New York Times": "Daily Mail"}
FILLERS = ["met", "the", "in", "“", "”", ",", ";", "and", "quietly", "(", ")"]
sentences = st.lists(st.sampled_from([*ENTITIES, *FILLERS]), max_size=12).map(" ".join)


@given(text=sentences, data=st.data())
def test_nothing_but_mentions_changes_and_replacing_back_is_the_text(text, data):
    located = find_mentions(text, data.draw(st.permutations([*ENTITIES])))
    vector = data.draw(st.integers(0, (1 << len(located.entities)) - 1))
    there = replaced(located, [ENTITIES[one] for one in located.entities], vector)
    chosen = [one for j, one in enumerate(located.entities) if vector >> j & 1]
    again = find_mentions(there, [ENTITIES[one] for one in chosen])
    assert replaced(again, chosen, (1 << len(chosen)) - 1) == text
    assert replaced(located, ["x"] * len(located.entities), 0) == text
