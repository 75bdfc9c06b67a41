"""Triplets through a judge: positives, the two sentence-level relations, and the gate that bad ones do not pass."""

from dataclasses import dataclass

from checkers.oracle.protocol import Oracle
from checkers.retrieval.making.questions import Questions
from checkers.retrieval.triplets import Triplet


@dataclass(frozen=True, slots=True)
class Pair:
    """What goes with a base."""

    positive: str
    negative: str


class Writer:
    """Writes what no rule can; every method raises what the judge raises (OracleFailed, OracleUnavailable)."""

    def __init__(self, judge: Oracle) -> None:
        self._judge = judge
        self._questions = Questions()

    async def positive(self, text: str) -> str:
        """The same as `text`, in other words and another structure."""
        return (await self._judge.ask(self._questions.positive(text))).reply.rewording.strip()

    async def back_translation(self, text: str) -> str:
        """Almost the words of `text`, with another meaning."""
        return (await self._judge.ask(self._questions.back_translation(text))).reply.rewording.strip()

    async def inference(self, claim: str) -> Pair:
        """A passage that entails `claim`, and the same passage without its evidence."""
        reply = (await self._judge.ask(self._questions.inference(claim))).reply
        return Pair(reply.context.strip(), reply.without_evidence.strip())

    async def fault(self, triplet: Triplet) -> str | None:
        """What is wrong with the triplet by the judge's word; None where nothing is (paper, section 3.3)."""
        reply = (await self._judge.ask(self._questions.quality(triplet))).reply
        if reply.positive_holds and reply.negative_differs and reply.well_formed:
            return None
        return reply.reason
