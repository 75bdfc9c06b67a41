"""Claims whose support, and responses whose error, stands at the end of a long text."""

import random
from typing import Protocol

from models.protocol import Claims

_NOUNS = "miller baker sailor teacher farmer painter doctor tailor".split()
_VERBS = "sold bought painted hid found lost counted repaired".split()
_THINGS = "lanterns ropes chairs kettles saddles ladders violins sails".split()
_PLACES = "harbour market chapel orchard valley village tower mill".split()
_COUNTS = [str(number) for number in range(2, 100)]
VOCABULARY = (*_NOUNS, *_VERBS, *_THINGS, *_PLACES, *_COUNTS, "the", "of", "in")
"""Every word of every sentence."""

_LONG = 50_000
_SENTENCES = 30


class MakeEnd(Protocol):
    def __call__(self, chance: random.Random, *, is_good: bool) -> tuple[Claims, Claims]:
        """The same claim in a short text and at the end of a long one; supported if it `is_good`."""


def support_at_the_end(chance: random.Random, *, is_good: bool) -> tuple[Claims, Claims]:
    """A claim that a short reference supports, or the last of 50 KB."""
    claim, other = _sentence(chance), _sentence(chance)
    before: list[str] = []
    while sum(map(len, before)) < _LONG:
        before += [one for one in (_sentence(chance) for _ in range(100)) if one != claim]
    closing = claim if is_good else other
    return Claims(closing, (claim,), "summary"), Claims(" ".join([*before, closing]), (claim,), "summary")


def error_at_the_end(chance: random.Random, *, is_good: bool) -> tuple[Claims, Claims]:
    """A sentence alone, and as the last of a long response; all others are supported."""
    told = [_sentence(chance) for _ in range(_SENTENCES)]
    last = chance.choice(told) if is_good else _sentence(chance)
    reference = " ".join(told)
    return Claims(reference, (last,), "summary"), Claims(reference, (*told, last), "summary")


def _sentence(chance: random.Random) -> str:
    noun, place, verb, things = (chance.choice(words) for words in (_NOUNS, _PLACES, _VERBS, _THINGS))
    return f"The {noun} of the {place} {verb} {chance.choice(_COUNTS)} {things}."
