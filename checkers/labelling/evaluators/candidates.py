"""Five datapoints to pick from, of which at least one matches (the paper's generation by picking)."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from checkers.labelling.challenges import Verifier
from checkers.labelling.protocol import EvaluatorFailed
from checkers.labelling.values import is_echo

SHOWN = 5

_MOST_TRIED = 1000
_MOST_TRIED_BY_JUDGE = 50
"""With plain-language criteria each that is tried costs a question a criterion, once."""


class Candidates:
    """Draws from a pool of datapoints with the verifier's help: that one matches is the harness's promise."""

    def __init__(self, pool: Sequence[JsonValue]) -> None:
        self._pool = pool

    async def drawn(self, x: JsonValue, verifier: Verifier, draw: Random) -> list[JsonValue]:
        """Candidates in random order, at least one of them like `x`, none x itself.

        Raises:
            EvaluatorFailed: none of the pool, or of as many as are tried, is like `x`.
        """
        order = list(range(len(self._pool)))
        draw.shuffle(order)
        plain = any(criterion.plain for criterion in verifier.rubric.total)
        most = _MOST_TRIED_BY_JUDGE if plain else _MOST_TRIED
        others: list[JsonValue] = []
        matching: JsonValue = None
        found = False
        for tried, index in enumerate(order):
            candidate = self._pool[index]
            if is_echo(x, candidate):
                continue
            if not found and tried < most and await verifier.are_similar(x, candidate):
                matching, found = candidate, True
            elif len(others) < SHOWN - 1:
                others.append(candidate)
            if found and len(others) == SHOWN - 1:
                break
        if not found:
            tried = min(len(order), most)
            raise EvaluatorFailed("no_candidate", f"none of {tried} datapoints to pick from is like this one")
        shown = [matching, *others]
        draw.shuffle(shown)
        return shown
