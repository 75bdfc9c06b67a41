"""The evaluator-verifier protocol: r rounds of proposing, committing and being challenged (paper, section 6.1).

The verifier challenges x' in one of two ways, and never looks at a label or at sigma (section 6.1.1). Label sets of any
size: k labels are k - 1 games of one label against the rest (appendix C.2).
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal, Protocol

from cachetools import LRUCache
from pydantic import JsonValue

from checkers.draws import canonical, generator, uniform
from checkers.labelling.questions import Exemplar
from checkers.labelling.rubric import AskJudge, Rubric, no_judge, same_label
from models.wording import straightened
from models.work import gather_or_cancel
from schemas.evidence import Label

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
        if is_echo(x, similar):
            return ChallengeFinding(fault="echo")
        if challenge == "permutation":
            return await self._permutation(x, similar)
        return await self._isomorphism(x, similar)

    async def are_similar(self, x: JsonValue, similar: JsonValue) -> bool:
        """True if `similar` would pass either challenge; raises ModelError."""
        if is_echo(x, similar):
            return False
        findings = await gather_or_cancel([self._permutation(x, similar), self._isomorphism(x, similar)])
        return all(finding.passed for finding in findings)

    async def _permutation(self, x: JsonValue, similar: JsonValue) -> ChallengeFinding:
        parts, other_parts = self.rubric.relevant(x), self.rubric.relevant(similar)
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
        keys = [(over, hashlib.sha256(canonical(x).encode()).digest()) for x in datapoints]
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


ROUNDS = 3
"""As in the paper's experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The round, as far as an evaluator is told of it."""

    number: int
    """From 1."""
    draw: Random
    """For its own draws; it tells nothing of the challenges."""
    earlier: tuple[JsonValue, ...] = ()
    """Its x' of the rounds before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A datapoint and a label, which an evaluator commits to."""

    similar: JsonValue
    """x', like x and not x."""
    bit: int
    """y', its label as 0 or 1."""
    holds: Bits | None = None
    """Its own bit for each criterion of x; None if it gives its label without reasons."""


class LabelEvaluator(Protocol):
    """A labeller plus a generator: the model or program that claims to know the labels."""

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """A fresh x' and y' for this round.

        Raises:
            Undecidable: it gave nothing that could be challenged.
            ModelUnavailable: the model behind it is down.
        """


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """One round as it was played."""

    number: int
    proposal: Proposal
    commitment: str
    """SHA-256 over seed, round, x' and y', made before the challenge was drawn."""
    challenge: Challenge
    finding: ChallengeFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """The rounds that were played; the first failure is the last."""

    seed: str
    rounds: tuple[PlayedRound, ...]
    encoding: Bits | None = None
    """C(x), where every challenge was passed and the evaluator gave its own bits."""
    follows: int | None = None
    """The label that its own bits come to, as 0 or 1; None where `encoding` is."""

    @property
    def succeeded(self) -> bool:
        """True if every challenge was passed."""
        return self.rounds[-1].finding.passed

    @property
    def bit(self) -> int:
        """The last y': the label."""
        return self.rounds[-1].proposal.bit

    @property
    def unfounded(self) -> bool:
        """True if the evaluator's own bits are not C(x), or its label does not follow from them."""
        last = self.rounds[-1].proposal
        return self.encoding is not None and (last.holds, self.follows) != (self.encoding, last.bit)


async def play(x: JsonValue, evaluator: LabelEvaluator, verifier: Verifier, *, seed: str, rounds: int = ROUNDS) -> Game:
    """Play for `x`. All draws follow from `seed`: with the same answers of the evaluator the game is the same.

    Raises:
        Undecidable: the evaluator gave nothing that could be challenged.
        ModelError: a model behind evaluator or verifier gave no answer.
        ValueError: there are no rounds to play.
    """
    if rounds < 1:
        raise ValueError(f"rounds = {rounds}: must be 1 or more")
    draw = generator(seed, "evaluator")
    played: list[PlayedRound] = []
    for number in range(1, rounds + 1):
        earlier = tuple(one.proposal.similar for one in played)
        proposal = await evaluator.propose(x, Turn(number=number, draw=draw, earlier=earlier))
        commitment = commit(seed, number, proposal)
        challenge = CHALLENGES[int(2 * uniform(seed, f"challenge {number}"))]
        finding = await verifier.check(challenge, x, proposal.similar)
        played.append(PlayedRound(number, proposal, commitment, challenge, finding))
        if not finding.passed:
            break
    if proposal.holds is None or not finding.passed:
        return Game(seed=seed, rounds=tuple(played))
    # Whatever was passed has encoded x: what a judge was asked about it is known.
    (encoding,) = await verifier.bits(x)
    follows = verifier.rubric.aggregator(proposal.holds)
    return Game(seed=seed, rounds=tuple(played), encoding=encoding, follows=follows)


def commit(seed: str, number: int, proposal: Proposal) -> str:
    """The digest that binds an evaluator to its proposal."""
    return hashlib.sha256(canonical([seed, number, proposal.similar, proposal.bit]).encode()).hexdigest()


def lie_bound(rounds: int) -> float:
    """The chance at most that an evaluator whose x' always fails one of the challenges survives `rounds` rounds.

    A cheat can prepare for either challenge and passes that one every time, so half of the draws catch it: (1/2)^r.
    """
    return 0.5**rounds


def paper_lie_bound(rounds: int) -> float:
    """The same as the paper states it (lemma 1), for lies that get lucky half of the time besides: (1/4)^r."""
    return 0.25**rounds


@dataclass(frozen=True)
class LabellingProblem:
    """The rules that datapoints are labelled by: a rubric for two labels, or k - 1 rubrics for k.

    The first label is what the bit 1 of the first rubric stands for, and so on; the last one is what the bit 0 of the
    last rubric stands for.
    """

    name: str
    rubrics: tuple[Rubric, ...]
    examples: tuple[Exemplar, ...] = ()
    """The datapoints that a subject is shown, and may pick from."""

    def __post_init__(self) -> None:
        """Raises ValueError if two labels are the same."""
        for index, label in enumerate(self.labels):
            if any(same_label(label, other) for other in self.labels[:index]):
                allowed = "each rubric's label for 1, and the last one's label for 0, must differ"
                raise ValueError(f"{self.name}: the label {label!r} has two meanings; {allowed}")

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        return (*(rubric.labels[1] for rubric in self.rubrics), self.rubrics[-1].labels[0])

    @cached_property
    def plain(self) -> bool:
        """True if a judge is needed."""
        return any(rubric.plain for rubric in self.rubrics)

    def label(self, bits: Sequence[int]) -> Label:
        """The label that the games' bits come to: the first that was chosen against the rest, else the last."""
        chosen = next((index for index, bit in enumerate(bits) if bit), len(self.rubrics))
        return self.labels[chosen]

    def knows(self, label: Label) -> bool:
        """True if `label` is one of the labels."""
        return any(same_label(label, known) for known in self.labels)

    def verifiers(self, judge: AskJudge) -> tuple[Verifier, ...]:
        """One a rubric, for one datapoint; those of rules need no judge and serve all datapoints."""
        return tuple(Verifier(one, judge) for one in self.rubrics) if self.plain else self._of_rules

    @cached_property
    def _of_rules(self) -> tuple[Verifier, ...]:
        return tuple(Verifier(one, no_judge) for one in self.rubrics)


async def play_all(
    x: JsonValue, players: Iterable[LabelEvaluator], verifiers: Sequence[Verifier], *, seed: str, rounds: int = ROUNDS
) -> tuple[Game, ...]:
    """A game for each rubric, all at once; raises what `play` raises.

    An evaluator that lies does so in at least one game, so the bound on lies is that of one game.
    """
    seeds = [seed] if len(verifiers) == 1 else [f"{seed}/{number}" for number in range(1, len(verifiers) + 1)]
    games = zip(players, verifiers, seeds, strict=True)
    return tuple(await gather_or_cancel(play(x, who, by, seed=one, rounds=rounds) for who, by, one in games))
