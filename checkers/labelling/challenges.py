"""The verifier: it challenges x' in one of two ways, and never looks at a label or at sigma (paper, section 6.1.1)."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from cachetools import LRUCache
from pydantic import JsonValue

from checkers.draws import canonical
from checkers.labelling.rubric import AskJudge, Rubric
from models.concurrent import gather_or_cancel
from models.wording import straightened

Bits = tuple[int, ...]
"""An encoding: a bit a criterion, in the rubric's order."""

Challenge = Literal["permutation", "isomorphism"]
CHALLENGES: tuple[Challenge, Challenge] = ("permutation", "isomorphism")

ChallengeFault = Literal["echo", "unmatched_part", "other_encoding"]

_KEPT = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeFinding:
    """The result of a challenge."""

    fault: ChallengeFault | None
    encoding: Bits = ()
    """The encoding of x."""
    similar_encoding: Bits = ()
    """The encoding of x'."""
    unmatched: JsonValue = None
    """The part of x that no part of x' is like."""

    @property
    def passed(self) -> bool:
        return self.fault is None


class Verifier:
    """Checks challenges under one rubric. It encodes a datapoint once, and forgets the least recently used ones."""

    def __init__(self, rubric: Rubric, judge: AskJudge) -> None:
        self.rubric = rubric
        self._judge = judge
        self._known: LRUCache[tuple[str, bytes], Bits] = LRUCache(_KEPT)

    async def bits(self, *datapoints: JsonValue) -> list[Bits]:
        """C(x) of each; those that are not known are encoded at once. Raises ModelError."""
        return await self._encoded("criteria", datapoints)

    async def total(self, *datapoints: JsonValue) -> list[Bits]:
        """The bits of the total rubric likewise."""
        return await self._encoded("total", datapoints)

    async def check(self, challenge: Challenge, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        """The result of `challenge` for x' = `similar`; an echo of x passes none.

        Raises:
            ModelError: a plain-language criterion could not be judged.
        """
        if self.is_echo(x, similar):
            return ChallengeFinding(fault="echo")
        if challenge == "permutation":
            return await self._permutation(x, similar)
        return await self._isomorphism(x, similar)

    async def are_similar(self, x: JsonValue, similar: JsonValue) -> bool:
        """True if `similar` would pass either challenge; raises ModelError."""
        if self.is_echo(x, similar):
            return False
        findings = await gather_or_cancel([self._permutation(x, similar), self._isomorphism(x, similar)])
        return all(finding.passed for finding in findings)

    def is_echo(self, x: JsonValue, similar: JsonValue) -> bool:
        """True if x' is x again, and so no datapoint of the evaluator's own."""
        return is_echo(x, similar)

    def parts(self, x: JsonValue) -> tuple[JsonValue, ...]:
        """S_x."""
        return self.rubric.relevant(x)

    async def _permutation(self, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        parts, other_parts = self.parts(x), self.parts(similar)
        whole, other, *encoded = await self.total(x, similar, *parts, *other_parts)
        there = {other, *encoded[len(parts) :]}
        unmatched = [part for part, bits in zip(parts, encoded, strict=False) if bits not in there]
        return ChallengeFinding(
            fault="unmatched_part" if unmatched else None,
            encoding=whole,
            similar_encoding=other,
            unmatched=unmatched[0] if unmatched else None,
        )

    async def _isomorphism(self, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        bits, other = await self.bits(x, similar)
        fault: ChallengeFault | None = None if bits == other else "other_encoding"
        return ChallengeFinding(fault=fault, encoding=bits, similar_encoding=other)

    async def _encoded(self, over: Literal["criteria", "total"], datapoints: Sequence[JsonValue]) -> list[Bits]:
        keys = [(over, sha256(canonical(x).encode()).digest()) for x in datapoints]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: x for key, x in zip(keys, datapoints, strict=True) if key not in found}
        if missing:
            encode = self.rubric.bits if over == "criteria" else self.rubric.total_bits
            made = await gather_or_cancel(encode(x, self._judge) for x in missing.values())
            for key, bits in zip(missing, made, strict=True):
                found[key] = self._known[key] = bits
        return [found[key] for key in keys]


def is_echo(x: JsonValue, similar: JsonValue) -> bool:
    """True if `similar` is x again.

    Letter case, white space, the kinds of quotation marks and dashes, and the Unicode form make no difference.
    """
    return canonical(_folded(x)) == canonical(_folded(similar))


def _folded(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return straightened(unicodedata.normalize("NFC", value).casefold())
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_folded(one) for one in value]
    if isinstance(value, dict):
        return {key: _folded(one) for key, one in value.items()}
    return value
