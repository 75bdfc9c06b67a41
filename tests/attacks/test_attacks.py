"""The attacks themselves: readable, described, and various."""

from tests.support.attacks import ATTACKS, name_of


def test_there_are_enough_of_them_each_with_an_id_of_its_own():
    assert len(ATTACKS) >= 64
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)


def test_they_come_in_many_languages_and_disguises():
    assert len({attack.metadata["language"] for attack in ATTACKS}) >= 10
    assert len({attack.metadata["attack"] for attack in ATTACKS}) >= 40


def test_each_says_what_is_wrong_and_has_something_to_be_wrong_against():
    for attack in ATTACKS:
        assert attack.metadata["wrong"], name_of(attack)
        assert attack.reference or attack.contexts, name_of(attack)
        assert attack.response not in (attack.reference, *attack.contexts), name_of(attack)
