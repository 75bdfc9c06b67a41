"""Rubrics, a judge whose answers are known, players and a stub that labels, for tests of the labelling checker."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import orjson
from pydantic import JsonValue

from checkers.labelling.protocol import Evaluator, Proposal, Verifier
from checkers.labelling.rubric import Bits, Rubric, load_rubric, parse_rubric
from tests.support.stub_request import StubRequest

EXAMPLES = Path(__file__).parents[3] / "examples" / "rubrics"
IN_PHENOMENON, OUT_OF_PHENOMENON = (load_rubric(EXAMPLES / f"{name}-phenomenon.yaml") for name in ("in", "out-of"))


def proposing(similar: Callable[[JsonValue, Random], JsonValue]) -> Evaluator:
    """Proposes what a function of x and a generator of draws says."""

    async def propose(x: JsonValue, _: Sequence[JsonValue], draw: Random) -> Proposal:
        return Proposal(similar=similar(x, draw), bit=1)

    return propose


def honest(judge: Verifier) -> Evaluator:
    """Draws strings until one passes either challenge."""

    async def propose(x: JsonValue, _: Sequence[JsonValue], draw: Random) -> Proposal:
        while not await judge.are_similar(x, drawn := string_like(x, draw)):
            pass
        return Proposal(similar=drawn, bit=1)

    return propose


def string_like(x: JsonValue, draw: Random) -> str:
    """A random string of bits, as long as `x`."""
    length = len(str(x))
    return format(draw.getrandbits(length), f"0{length}b")


def encoded(rubric: Rubric, x: JsonValue) -> tuple[Bits, Bits]:
    """C(x) and the bits of the total rubric, of a rubric without plain language: that waits for nothing."""
    found = []
    for total in (False, True):
        try:
            rubric.bits(x, total=total).send(None)
        except StopIteration as done:
            found.append(done.value)
    bits, every = found
    return bits, every


def label_of(rubric: Rubric, bits: Sequence[int]) -> Any:
    """sigma: the label that the bits of a datapoint give."""
    return rubric.labels[rubric.aggregator(bits)]


@cache
def bit_strings(length: int = 12) -> list[str]:
    """All strings of so many bits, in an order that is mixed and always the same."""
    strings = [format(number, f"0{length}b") for number in range(2**length)]
    Random(length).shuffle(strings)
    return strings


_TOTAL_BITS: dict[tuple[str, str], tuple[Bits, frozenset[Bits]]] = {}
"""By rubric and string: stubs look at the same strings again and again."""


class StubLabeller:
    """An honest model under a rubric of rules; it tells questions apart by their texts.

    `generates` and `labels` replace what it answers: the former is given x and how often it was asked before.
    """

    def __init__(self, rubric: Rubric = IN_PHENOMENON) -> None:
        self.rubric = rubric
        self.generates: Callable[[str, int], str] = self.similar
        self.labels: Callable[[str], object] = self.label

    def __call__(self, request: StubRequest) -> str:
        if request.kind == "criterion":
            return "yes" if "thank" in request.quotes["Text"].lower() else "no"
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

    def label(self, x: str) -> Any:
        return label_of(self.rubric, encoded(self.rubric, x)[0])

    def similar(self, x: str, asked: int) -> str:
        """Another string with the same bits in whole and parts: the next one each time."""
        same = (one for one in bit_strings(len(x)) if one != x and self._is_like(x, one))
        return next(itertools.islice(same, asked, None))

    def _is_like(self, x: str, other: str) -> bool:
        (whole, parts), (other_whole, other_parts) = self._total_bits(x), self._total_bits(other)
        return whole == other_whole and parts <= other_parts

    def _total_bits(self, x: str) -> tuple[Bits, frozenset[Bits]]:
        """The bits of the whole, and of its parts."""
        key = (self.rubric.version, x)
        if key not in _TOTAL_BITS:
            parts = frozenset(encoded(self.rubric, str(part))[1] for part in self.rubric.relevant(x))
            _TOTAL_BITS[key] = encoded(self.rubric, x)[1], parts
        return _TOTAL_BITS[key]

    def _picked(self, x: str, candidates: list[str]) -> str:
        matching = [number for number, one in enumerate(candidates, start=1) if self._is_like(x, one)]
        return _json({"reason": "Compared.", "choice": matching[0]})


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
