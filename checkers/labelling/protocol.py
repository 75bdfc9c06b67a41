"""The evaluator-verifier protocol: r rounds of proposing, committing and being challenged (paper, section 6.1).

The verifier challenges x' in one of two ways, and never looks at a label or at sigma (section 6.1.1). Label sets of any
size: k labels are k - 1 games of one label against the rest (appendix C.2).
"""

import hashlib
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Literal, TypeAlias

from pydantic import JsonValue

from checkers.draws import canonical, generator, uniform
from checkers.labelling.rubric import AskJudge, Bits, Rubric, no_judge
from models.wording import straightened
from models.work import gather_or_cancel
from schemas.evidence import LabellingRound, LabellingRun

Challenge = Literal["permutation", "isomorphism"]
CHALLENGES: tuple[Challenge, Challenge] = ("permutation", "isomorphism")

ROUNDS = 3
"""As in the paper's experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeFinding:
    """The result of a challenge, with the encodings of x and x'."""

    fault: Literal["echo", "unmatched_part", "other_encoding"] | None
    encoding: Bits = ()
    similar_encoding: Bits = ()
    unmatched: JsonValue = None
    """The part of x that no part of x' is like."""


class Verifier:
    """Checks challenges under one rubric."""

    def __init__(self, rubric: Rubric, judge: AskJudge = no_judge) -> None:
        self.rubric = rubric
        self._judge = judge

    async def bits(self, *datapoints: JsonValue, total: bool = False) -> list[Bits]:
        """C(x) of each, or the bits of the total rubric; raises ModelError if a judge gives no answer."""
        return await gather_or_cancel(self.rubric.bits(x, self._judge, total=total) for x in datapoints)

    async def check(self, challenge: Challenge, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        """The result of `challenge` for x' = `similar`; an echo of x passes none. Raises as `bits` does."""
        if is_echo(x, similar):
            return ChallengeFinding(fault="echo")
        if challenge == "isomorphism":
            bits, other = await self.bits(x, similar)
            fault: Literal["other_encoding"] | None = None if bits == other else "other_encoding"
            return ChallengeFinding(fault=fault, encoding=bits, similar_encoding=other)
        parts, others = self.rubric.relevant(x), self.rubric.relevant(similar)
        encoded = await self.bits(*parts, *others, total=True)
        there = encoded[len(parts) :]
        unmatched = [part for part, bits in zip(parts, encoded, strict=False) if bits not in there]
        return ChallengeFinding(
            fault="unmatched_part" if unmatched else None,
            encoding=encoded[0],
            similar_encoding=there[0],
            unmatched=unmatched[0] if unmatched else None,
        )

    async def are_similar(self, x: JsonValue, similar: JsonValue) -> bool:
        """True if `similar` would pass either challenge; raises as `bits` does."""
        found = await gather_or_cancel(self.check(challenge, x, similar) for challenge in CHALLENGES)
        return all(one.fault is None for one in found)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A datapoint and a label, which an evaluator commits to."""

    similar: JsonValue
    """x', like x and not x."""
    bit: int
    """y', its label as 0 or 1."""
    holds: Bits | None = None
    """Its own bit for each criterion of x; None if it gives its label without reasons."""


Evaluator: TypeAlias = Callable[[JsonValue, tuple[JsonValue, ...], Random], Awaitable[Proposal]]
"""A labeller plus a generator: takes x, its x' of the rounds before and a generator for its own draws, which tells
nothing of the challenges. Gives a fresh x' and y', or raises Undecidable or ModelUnavailable."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game as it was played."""

    seed: str
    run: LabellingRun
    bit: int
    """The last y': the label."""

    @property
    def succeeded(self) -> bool:
        return self.run.succeeded

    @property
    def unfounded(self) -> bool:
        """True if the evaluator's own bits are not C(x), or its label does not follow from them."""
        run = self.run
        return run.encoding is not None and (run.holds, run.follows) != (run.encoding, run.rounds[-1].label)


async def play(x: JsonValue, evaluator: Evaluator, verifier: Verifier, *, seed: str, rounds: int = ROUNDS) -> Game:
    """Play for `x` until a challenge is failed. All draws follow from `seed`: the same answers make the same game."""
    rubric, draw = verifier.rubric, generator(seed, "evaluator")
    played: list[LabellingRound] = []
    while len(played) < rounds and all(one.passed for one in played):
        number = len(played) + 1
        proposal = await evaluator(x, tuple(one.similar for one in played), draw)
        commitment = commit(seed, number, proposal.similar, proposal.bit)
        challenge = CHALLENGES[int(2 * uniform(seed, f"challenge {number}"))]
        finding = await verifier.check(challenge, x, proposal.similar)
        played.append(
            LabellingRound(
                number=number,
                similar=proposal.similar,
                label=rubric.labels[proposal.bit],
                commitment=commitment,
                challenge=challenge,
                passed=finding.fault is None,
                **asdict(finding),
            )
        )
    succeeded, holds = played[-1].passed, proposal.holds
    is_compared = succeeded and holds is not None
    run = LabellingRun(
        rubric=rubric.name,
        rubric_version=rubric.version,
        criteria=tuple(rubric.criteria),
        total_criteria=tuple(rubric.total),
        labels=rubric.labels,
        rounds=tuple(played),
        succeeded=succeeded,
        holds=holds,
        encoding=(await verifier.bits(x))[0] if is_compared else None,
        follows=rubric.labels[rubric.aggregator(holds)] if is_compared and holds is not None else None,
    )
    return Game(seed, run, proposal.bit)


def commit(seed: str, number: int, similar: JsonValue, bit: int) -> str:
    """The digest that binds an evaluator to its x' and y' of a round."""
    return hashlib.sha256(canonical([seed, number, similar, bit]).encode()).hexdigest()


async def play_all(
    x: JsonValue, evaluators: Sequence[Evaluator], verifiers: Sequence[Verifier], *, seed: str, rounds: int = ROUNDS
) -> list[Game]:
    """A game for each rubric, all at once. A lie is told in at least one game, so it has the bound of one game."""
    seeds = [seed] if len(verifiers) == 1 else [f"{seed}/{number}" for number in range(1, len(verifiers) + 1)]
    games = zip(evaluators, verifiers, seeds, strict=True)
    return await gather_or_cancel(play(x, who, by, seed=one, rounds=rounds) for who, by, one in games)


def lie_bound(rounds: int) -> float:
    """The chance at most that an evaluator whose x' always fails one of the challenges survives `rounds` rounds.

    A cheat can prepare for either challenge and passes that one every time, so half of the draws catch it: (1/2)^r.
    """
    return 0.5**rounds


def paper_lie_bound(rounds: int) -> float:
    """The same as the paper states it (lemma 1), for lies that get lucky half of the time besides: (1/4)^r."""
    return 0.25**rounds
