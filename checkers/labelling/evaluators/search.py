"""Generators that draw datapoints at random until one suits. One is honest, the others lie as the paper's do.

They know the rubric and need no model, so they are the yardstick for the protocol itself.
"""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Literal, get_args

from pydantic import JsonValue

from checkers.labelling.challenges import Encodings, Verifier
from checkers.labelling.protocol import EvaluatorFailed, Turn

Draw = Callable[[JsonValue, Random], JsonValue]
"""From x to a random datapoint of its kind."""

Suits = Callable[[JsonValue, JsonValue, int], Awaitable[bool]]
"""Whether a drawn datapoint will do, for x and its label."""

Lie = Literal["sigma", "f", "replaced"]
"""What the generator falsely claims to know (paper, section 8.1.1): sigma, f, or f every time."""
LIES: tuple[Lie, ...] = get_args(Lie)

REPLACED = 0.25
"""How often a datapoint of the third lie is replaced by a random one: the authors' notebook, whose paper says 1/10."""

_MOST_DRAWS = 200_000


class SearchGenerator:
    """Draws until a datapoint suits, then with probability `replaced` gives a random one in its place."""

    def __init__(self, suits: Suits, draw: Draw, *, replaced: float = 0.0, most_draws: int = _MOST_DRAWS) -> None:
        self._suits = suits
        self._draw = draw
        self._replaced = replaced
        self._most_draws = most_draws

    async def similar(self, x: JsonValue, bit: int, turn: Turn) -> JsonValue:
        """The first drawn datapoint that suits.

        Raises:
            EvaluatorFailed: none of many did.
        """
        for _ in range(self._most_draws):
            drawn = self._draw(x, turn.draw)
            if await self._suits(x, drawn, bit):
                return self._draw(x, turn.draw) if turn.draw.random() < self._replaced else drawn
        raise EvaluatorFailed("no_candidate", f"none of {self._most_draws} random datapoints is like this one")


def search(encodings: Encodings, draw: Draw, lie: Lie | None = None) -> SearchGenerator:
    """The authors' generators: every clause agrees, or what is left of that where it lies."""
    if lie == "sigma":
        return SearchGenerator(sorted_bits(encodings), draw)
    if lie == "f":
        return SearchGenerator(own_majority, draw)
    return SearchGenerator(every_clause(encodings), draw, replaced=REPLACED if lie == "replaced" else 0.0)


def honest(verifier: Verifier, draw: Draw) -> SearchGenerator:
    """One that knows what the verifier will look at: what it draws passes either challenge."""

    async def suits(x: JsonValue, drawn: JsonValue, _: int) -> bool:
        return await verifier.are_similar(x, drawn)

    return SearchGenerator(suits, draw)


def every_clause(encodings: Encodings) -> Suits:
    """All bits of the total rubric agree."""

    async def suits(x: JsonValue, drawn: JsonValue, _: int) -> bool:
        wanted, found = await encodings.total(x, drawn)
        return wanted == found

    return suits


def sorted_bits(encodings: Encodings) -> Suits:
    """As many criteria hold, whichever they are."""

    async def suits(x: JsonValue, drawn: JsonValue, _: int) -> bool:
        wanted, found = await encodings.bits(x, drawn)
        return sum(wanted) == sum(found)

    return suits


async def own_majority(_: JsonValue, drawn: JsonValue, bit: int) -> bool:
    """The majority of the string's own bits is the label; ties are 1."""
    return isinstance(drawn, str) and int(2 * drawn.count("1") >= len(drawn)) == bit


def string_like(x: JsonValue, draw: Random) -> JsonValue:
    """A random string of bits, as long as `x`.

    Raises:
        EvaluatorFailed: `x` is no string of bits.
    """
    if not isinstance(x, str) or not x or set(x) - {"0", "1"}:
        raise EvaluatorFailed("no_candidate", "only strings of the digits 0 and 1 can be drawn at random")
    return format(draw.getrandbits(len(x)), f"0{len(x)}b")
