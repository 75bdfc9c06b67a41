"""The evaluator-verifier protocol: r rounds of proposing, committing and being challenged (paper, section 6.1)."""

import hashlib
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

from pydantic import JsonValue

from checkers.draws import canonical, generator, uniform
from checkers.labelling.challenges import CHALLENGES, Bits, Challenge, ChallengeFinding, Verifier
from schemas.evidence import SubjectCause

ROUNDS = 3
"""As in the paper's experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The round, as far as an evaluator is told of it."""

    number: int
    """From 1."""
    draw: Random
    """For draws of its own; it tells nothing of the challenges."""
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
            EvaluatorFailed: it gave nothing that could be challenged.
            ModelUnavailable: the model behind it is down.
        """


FailureCause = Literal["no_subject", "no_candidate"] | SubjectCause


class EvaluatorFailed(Exception):
    """The evaluator gave nothing that could be challenged: neither a success nor a failure, the verdict abstains."""

    def __init__(self, cause: FailureCause, detail: str) -> None:
        super().__init__(detail)
        self.cause: FailureCause = cause
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """C(x), where every challenge was passed and the evaluator gave bits of its own."""
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

    def is_flipped(self, phi: float) -> bool:
        """True if the label is to be flipped: with probability `phi` if the game was lost (paper, algorithm 1).

        The values that the paper prints are probabilities to keep.
        """
        return not self.succeeded and uniform(self.seed, "flip") < phi


async def play(x: JsonValue, evaluator: LabelEvaluator, verifier: Verifier, *, seed: str, rounds: int = ROUNDS) -> Game:
    """Play for `x`. All draws follow from `seed`: with the same answers of the evaluator the game is the same.

    Raises:
        EvaluatorFailed: the evaluator gave nothing that could be challenged.
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
        played.append(
            PlayedRound(number=number, proposal=proposal, commitment=commitment, challenge=challenge, finding=finding)
        )
        if not finding.passed:
            return Game(seed=seed, rounds=tuple(played))
    if proposal.holds is None:
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
