"""The verifier: it challenges x' in one of two ways, and never looks at a label or at sigma (paper, section 6.1.1)."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from checkers.canonical import canonical
from checkers.concurrent import gather_or_cancel
from checkers.labelling.distance import Bits, Distance
from checkers.labelling.rubric import CriterionJudge, Rubric
from checkers.labelling.values import is_echo

Challenge = Literal["permutation", "isomorphism"]
CHALLENGES: tuple[Challenge, Challenge] = ("permutation", "isomorphism")

Fault = Literal["echo", "unmatched_part", "other_encoding", "too_far", "claims_differ"]

Mode = Literal["protocol", "strings", "claims"]
"""What is compared. `protocol`: x with an x' that is not x, parts and all. The others repeat the authors' notebooks.
`strings`: x' may be x, and S_x holds x alone. `claims`: the verifier's bits of x with those that the labeller claims
for x; x' is not judged."""

_KEPT = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of a challenge."""

    fault: Fault | None
    encoding: Bits = ()
    """Of x."""
    similar_encoding: Bits = ()
    """Of x'."""
    unmatched: JsonValue = None
    """The part of x that no part of x' is like."""
    distance: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the evaluator passed."""
        return self.fault is None


class Encodings:
    """What a rubric says of datapoints; each is encoded once, the least recently used are forgotten."""

    def __init__(self, rubric: Rubric, judge: CriterionJudge, *, kept: int = _KEPT) -> None:
        self.rubric = rubric
        self._judge = judge
        self._kept = kept
        self._known: OrderedDict[tuple[str, bool, str], Bits] = OrderedDict()

    async def bits(self, *datapoints: JsonValue) -> list[Bits]:
        """C(x) of each; those that are not known are encoded at once."""
        return await self._encoded("criteria", datapoints)

    async def total(self, *datapoints: JsonValue) -> list[Bits]:
        """The bits of the total rubric likewise."""
        return await self._encoded("total", datapoints)

    async def _encoded(self, over: Literal["criteria", "total"], datapoints: Sequence[JsonValue]) -> list[Bits]:
        keys = [(over, True, x) if isinstance(x, str) else (over, False, canonical(x)) for x in datapoints]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: x for key, x in zip(keys, datapoints, strict=True) if key not in found}
        if missing:
            encode = self.rubric.bits if over == "criteria" else self.rubric.total_bits
            made = await gather_or_cancel(encode(x, self._judge) for x in missing.values())
            found.update(zip(missing, map(tuple, made), strict=True))
        for key, bits in found.items():
            self._known[key] = bits
            self._known.move_to_end(key)
        while len(self._known) > self._kept:
            self._known.popitem(last=False)
        return [found[key] for key in keys]


class Verifier:
    """Checks challenges under one rubric."""

    def __init__(
        self,
        encodings: Encodings,
        *,
        mode: Mode = "protocol",
        distance: Distance | None = None,
        epsilon: float | None = None,
    ) -> None:
        """With `distance` and `epsilon`, challenge 2 fails from a distance of epsilon on, and not at any difference.

        Raises:
            ValueError: only one of the two is given, or epsilon is not above 0 and at most 1/2.
        """
        if (distance is None) != (epsilon is None):
            raise ValueError("distance and epsilon go together: give both or neither")
        if epsilon is not None and not 0 < epsilon <= 0.5:
            raise ValueError(f"epsilon = {epsilon}: must be above 0 and at most 0.5")
        self.encodings = encodings
        self.mode = mode
        self._distance = distance
        self._epsilon = epsilon

    @property
    def rubric(self) -> Rubric:
        """The rubric that challenges are checked under."""
        return self.encodings.rubric

    @property
    def is_relaxed(self) -> bool:
        """Whether challenge 2 allows a distance, so that no bound on lies holds."""
        return self._epsilon is not None

    async def check(
        self, challenge: Challenge, x: JsonValue, similar: JsonValue, claimed: Bits | None = None
    ) -> Finding:
        """Whether x' = `similar` stands up to `challenge`; an echo of x stands up to none.

        `claimed` are the bits that the evaluator claims for C(x), which the mode `claims` compares.

        Raises:
            OracleError: a plain-language criterion could not be judged.
            ValueError: the mode is `claims` and nothing is claimed.
        """
        if self.mode == "claims":
            return await self._claims(x, claimed)
        if self.mode == "protocol" and is_echo(x, similar):
            return Finding(fault="echo")
        if challenge == "permutation":
            return await self._permutation(x, similar)
        return await self._isomorphism(x, similar)

    async def are_similar(self, x: JsonValue, similar: JsonValue) -> bool:
        """Whether `similar` would pass either challenge; raises OracleError."""
        if self.mode != "strings" and is_echo(x, similar):
            return False
        findings = await gather_or_cancel([self._permutation(x, similar), self._isomorphism(x, similar)])
        return all(finding.passed for finding in findings)

    async def _permutation(self, x: JsonValue, similar: JsonValue) -> Finding:
        parts, other_parts = self._parts(x), self._parts(similar)
        encoded = await self.encodings.total(x, similar, *parts, *other_parts)
        whole, other = encoded[:2]
        there = {other, *encoded[2 + len(parts) :]}
        for part, bits in zip(parts, encoded[2 : 2 + len(parts)], strict=True):
            if bits not in there:
                return Finding(fault="unmatched_part", encoding=whole, similar_encoding=other, unmatched=part)
        return Finding(fault=None, encoding=whole, similar_encoding=other)

    def _parts(self, x: JsonValue) -> tuple[JsonValue, ...]:
        return (x,) if self.mode == "strings" else tuple(self.rubric.relevant(x))

    async def _isomorphism(self, x: JsonValue, similar: JsonValue) -> Finding:
        bits, other = await self.encodings.bits(x, similar)
        if self._distance is None or self._epsilon is None:
            return Finding(fault=None if bits == other else "other_encoding", encoding=bits, similar_encoding=other)
        distance = self._distance(bits, other)
        fault: Fault | None = "too_far" if distance >= self._epsilon else None
        return Finding(fault=fault, encoding=bits, similar_encoding=other, distance=distance)

    async def _claims(self, x: JsonValue, claimed: Bits | None) -> Finding:
        if claimed is None:
            raise ValueError("the mode 'claims' compares what the evaluator claims for C(x); this one claims nothing")
        (bits,) = await self.encodings.bits(x)
        return Finding(fault=None if bits == claimed else "claims_differ", encoding=bits, similar_encoding=claimed)
