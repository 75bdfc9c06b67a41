"""The causes of a failed test: the paper's kinds of causes (appendix A.3), told apart by the answers."""

import pytest

from checkers.extraction.evidence import causes_of
from checkers.extraction.linearity import Extracted, LinearityTest, Pairs, result_of, strays

PAIRS = Pairs(("Ada Okafor", "Lagos"), ("Ines Varga", "Bergen"))
SENTENCES = {
    0b00: "Ada Okafor left Lagos.",
    0b01: "Ines Varga left Lagos.",
    0b10: "Ada Okafor left Bergen.",
    0b11: "Ines Varga left Bergen.",
}
TEST = LinearityTest(0b01, 0b10)
IDEAL = {v: PAIRS.in_places(v) for v in SENTENCES}


def causes(**answers: list[Extracted]) -> dict[str, set[str]]:
    """Kinds of causes with the entities at fault, from answers by vector, `b01` for the first entity replaced."""
    given = {int(name.removeprefix("b"), 2): known for name, known in answers.items()}
    known = {v: given.get(v, [one] * 3) for v, one in IDEAL.items()}
    samples = [[PAIRS.read(one) for one in known[v]] for v in TEST.vectors]
    result = result_of(TEST, samples, "strict", PAIRS.mask)
    assert result.outcome == "failed"
    asked = {v: SENTENCES[v] for v in TEST.vectors}
    found: dict[str, set[str]] = {}
    for one in causes_of(strays([result], PAIRS.mask), PAIRS, asked, known):
        found.setdefault(one.kind, set()).add(one.entity)
    return found


@pytest.mark.parametrize(
    ("kind", "entity", "answers"),
    [
        ("weak", "Ada Okafor", {"b01": [("Lagos",), ("Lagos",), ("Ines Varga", "Lagos")]}),
        ("merged", "Ada Okafor", {"b01": [("Ines Varga left Lagos",)] * 3}),
        ("split", "Ada Okafor", {"b01": [("Ines", "Varga", "Lagos")] * 3}),
        ("partial", "Ada Okafor", {"b01": [("Varga", "Lagos")] * 3}),
        ("partial", "Lagos", {"b10": [("Ada Okafor", "left Bergen")] * 3}),
        # The test that fails does not ask about b00.
        ("partial", "Ada Okafor", {"b01": [("Lagos",)] * 3, "b00": [("Ada", "Lagos")] * 3}),
        ("assumed_knowledge", "Nigeria", {"b01": [("Lagos", "Nigeria")] * 3}),
        ("assumed_knowledge", "Bergen", {"b01": [("Ines Varga", "Bergen")] * 3}),
    ],
)
def test_each_kind_is_told_by_the_answers(kind, entity, answers):
    assert entity in causes(**answers)[kind]


def test_a_replacement_fault_is_an_entity_that_is_named_while_its_replacement_is_not():
    """Named once only in place of "Lagos", "Bergen" is no entity to the subject, which "Lagos" always is."""
    without = [("Ines Varga",)] * 3
    seldom = [("Ada Okafor",), ("Ada Okafor", "Bergen"), ("Ada Okafor", "Bergen")]
    many = {"b11": without * 3, "b10": seldom}
    assert causes(**many) == {"replacement_fault": {"Lagos"}}
    assert "weak" in causes(**many | {"b00": [("Ada Okafor",)] * 3, "b01": without})


def test_causes_can_overlap():
    found = causes(b01=[("Ines", "Lagos"), ("Ines", "Lagos"), ("Ines Varga", "Lagos")])
    assert found.keys() == {"partial", "weak"}


def test_an_entity_whose_replacement_is_named_wherever_it_stands_is_not_weak():
    assert causes(b10=[("Ada", "Ines Varga", "Bergen")] * 3) == {
        "partial": {"Ada Okafor"},
        "assumed_knowledge": {"Ines Varga"},
    }


def test_what_an_entity_is_told_by_stands_in_the_text():
    """An answer beside the entities that the text holds is no assumed knowledge."""
    assert "assumed_knowledge" not in causes(b01=[("Lagos", "left")] * 3)


THREE = Pairs(("Ada Okafor", "Lagos", "Turin"), ("Ines Varga", "Bergen", "Porto"))


def of_turin(is_named) -> list[tuple[str, tuple[str, ...]]]:
    """Kinds and forms of the causes, if "Porto" is named only in the answers about vectors that `is_named` says."""
    answers = {v: [one if is_named(v) else one[:2]] * 3 for v in range(8) for one in [THREE.in_places(v)]}
    answers |= {v: [THREE.in_places(v)] * 3 for v in range(4)}
    return [(one.kind, one.forms) for one in causes_of(0b100, THREE, {}, answers)]


def test_an_entity_that_is_found_only_next_to_another_is_weak():
    assert of_turin(lambda v: not v & 0b010) == [("weak", ())]


def test_an_entity_that_is_known_by_heart_is_named_with_what_takes_its_place():
    assert of_turin(lambda v: False) == [("never_named", ("Porto",))]
