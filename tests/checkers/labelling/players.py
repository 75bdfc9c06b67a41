"""Rubrics, judges whose answers are known, players and a stub that labels, for tests of the labelling checker."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import orjson
from pydantic import JsonValue

from checkers.labelling.protocol import Proposal, Turn, Verifier
from checkers.labelling.rubric import Rubric, no_judge, parse_rubric
from tests.support.stub_request import StubRequest

IN_PHENOMENON = parse_rubric(
    """
rubric: in-phenomenon
about: Strings of twelve bits.
criteria:
  even-ones: x.count("1") % 2 == 0
  starts-or-contains: starts_zero != has_pattern
  many-ones: x.count("1") > 5
clauses:
  starts_zero: x.startsWith("0")
  has_pattern: x.contains("10101")
label: majority
""",
    shown="in-phenomenon",
)

OUT_OF_PHENOMENON = parse_rubric(
    """
rubric: out-of-phenomenon
criteria:
  has-111: x.contains("111")
  ends-one: x.endsWith("1")
  has-110001: x.contains("110001")
label: majority
""",
    shown="out-of-phenomenon",
)

PLAIN = parse_rubric(
    """
rubric: polite
criteria:
  thanks: {ask: "Does it thank somebody?"}
  short: x.size() <= 400
  calm: {ask: "Is it free of threats?"}
label: all
""",
    shown="polite",
)


def verifier(rubric: Rubric = IN_PHENOMENON) -> Verifier:
    """One that needs no judge."""
    return Verifier(rubric, no_judge)


class Scripted:
    """Proposes what a function of x and the round says."""

    def __init__(self, similar: Callable[[JsonValue, Turn], JsonValue | Awaitable[JsonValue]], bit: int = 1) -> None:
        self._similar = similar
        self._bit = bit
        self.turns: list[Turn] = []

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        self.turns.append(turn)
        similar = self._similar(x, turn)
        return Proposal(similar=await similar if isinstance(similar, Awaitable) else similar, bit=self._bit)


def honest(judge: Verifier) -> Scripted:
    """Draws strings until one passes either challenge."""

    async def similar(x: JsonValue, turn: Turn) -> JsonValue:
        while True:
            drawn = string_like(x, turn.draw)
            if await judge.are_similar(x, drawn):
                return drawn

    return Scripted(similar)


def string_like(x: JsonValue, draw: Random) -> str:
    """A random string of bits, as long as `x`."""
    length = len(str(x))
    return format(draw.getrandbits(length), f"0{length}b")


def encoded(rubric: Rubric, x: JsonValue) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """C(x) and the bits of the total rubric, of a rubric without plain language."""

    async def both() -> tuple[tuple[int, ...], tuple[int, ...]]:
        return await rubric.bits(x, no_judge), await rubric.total_bits(x, no_judge)

    coroutine = both()
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a rubric of rules waits for nothing")


def bit_strings(length: int = 12) -> Iterator[str]:
    """All strings of so many bits, in an order that is mixed and always the same."""
    return iter(_mixed(length))


@cache
def _mixed(length: int) -> list[str]:
    strings = [format(number, f"0{length}b") for number in range(2**length)]
    Random(length).shuffle(strings)
    return strings


_TOTAL_BITS: dict[tuple[str, str], tuple[tuple[int, ...], frozenset[tuple[int, ...]]]] = {}
"""By rubric and string: stubs look at the same strings again and again."""


class StubLabeller:
    """An honest model under a rubric of rules; it tells questions apart by their texts.

    `generates` and `labels` replace what it answers: the former is given x and how often it was asked before.
    """

    def __init__(self, rubric: Rubric = IN_PHENOMENON) -> None:
        self.rubric = rubric
        self.generates: Callable[[str, int], str] = self.similar
        self.labels: Callable[[str], object] = self.label
        self.judges: Callable[[str, str], bool] = lambda criterion, x: "thank" in x.lower()

    def __call__(self, request: StubRequest) -> str:
        if request.kind == "criterion":
            return "yes" if self.judges(request.quotes["Criterion"], request.quotes["Text"]) else "no"
        texts = request.texts
        x = texts["datapoint"]
        if x[1:2] == "-":
            # A shelf mark of the built-in cases, of which it knows nothing.
            return "{}"
        if "candidates" in texts:
            return self._picked(x, orjson.loads(texts["candidates"]))
        if "earlier" in texts:
            asked = len(orjson.loads(texts["earlier"]))
            return _json({"reason": "They agree.", "datapoint": self.generates(x, asked)})
        bits = encoded(self.rubric, x)[0] if not self.rubric.plain else [1] * len(self.rubric.criteria)
        reasons = [
            {"criterion": number, "reason": "Counted.", "holds": bool(bit)} for number, bit in enumerate(bits, 1)
        ]
        return _json({"reasons": reasons, "label": str(self.labels(x))})

    def label(self, x: str) -> object:
        return self.rubric.label(encoded(self.rubric, x)[0])

    def similar(self, x: str, asked: int) -> str:
        """Another string with the same bits in whole and parts: the next one each time."""
        same = (one for one in bit_strings(len(x)) if one != x and self._is_like(x, one))
        return next(itertools.islice(same, asked, None))

    def _is_like(self, x: str, other: str) -> bool:
        (whole, parts), (other_whole, other_parts) = self._total_bits(x), self._total_bits(other)
        return whole == other_whole and parts <= other_parts

    def _total_bits(self, x: str) -> tuple[tuple[int, ...], frozenset[tuple[int, ...]]]:
        """The bits of the whole, and of its parts."""
        key = (self.rubric.version, x)
        if key not in _TOTAL_BITS:
            parts = frozenset(encoded(self.rubric, str(part))[1] for part in self.rubric.relevant(x))
            _TOTAL_BITS[key] = encoded(self.rubric, x)[1], parts
        return _TOTAL_BITS[key]

    def _picked(self, x: str, candidates: list[str]) -> str:
        matching = [number for number, one in enumerate(candidates, start=1) if self._is_like(x, one)]
        return _json({"reason": "Compared.", "choice": matching[0]})


def agreeable(request: StubRequest) -> str:
    """The reply of a model that finds every criterion met, and makes each datapoint anew: for measuring."""
    texts = request.texts
    if "earlier" in texts:
        made = {"prompt": texts["datapoint"], "output": f"{request.at}"}
        return _json({"reason": "They agree.", "datapoint": _json(made)})
    if "examples" in texts:
        count = int(re.findall(r"each of the (\d+) criteria", request.body["messages"][0]["content"])[0])
        reasons = [{"criterion": number, "reason": "It is.", "holds": True} for number in range(1, count + 1)]
        return _json({"reasons": reasons, "label": "1"})
    return "yes"


def _json(reply: object) -> str:
    return orjson.dumps(reply).decode()


def rubric_of(*conditions: Any, **others: Any) -> Rubric:
    """A rubric whose criteria c0, c1, ... have these conditions, read from its JSON."""
    criteria = {f"c{number}": condition for number, condition in enumerate(conditions)}
    return parse_rubric(json.dumps({"rubric": "r", "criteria": criteria, "label": "majority", **others}), shown="r")


class KnownJudge:
    """Answers by a function, and counts what it was asked."""

    def __init__(self, answer: Callable[[str, JsonValue], bool] = lambda question, x: True) -> None:
        self._answer = answer
        self.asked: Counter[tuple[str, str]] = Counter()

    async def __call__(self, criterion: str, x: JsonValue) -> bool:
        self.asked[criterion, json.dumps(x)] += 1
        return self._answer(criterion, x)
