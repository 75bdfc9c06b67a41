"""Asking the writer for new sentences: a few in a call, and once more for those that its answer lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.consistency.covering import cover, parts_of, per_call
from checkers.consistency.improver.questions import ImproverQuestions
from checkers.consistency.improver.rewrites import Rewrite, usable_rewrites
from checkers.consistency.questions import CheckedResponse
from models.concurrent import gather_or_cancel
from models.protocol import Oracle, OracleFailed
from schemas import SentenceFinding

_AT_ONCE = 5
_TOKENS_A_REWRITE = 120
"""A long sentence and a reason; with five usual ones a model of 20 tokens a second answers within its time limit."""


@dataclass(frozen=True, slots=True)
class WriterReply:
    """What the writer made of the inconsistent sentences."""

    rewrites: dict[int, Rewrite]
    """By the finding's index; sentences without a usable entry are missing."""
    fault: str | None
    """What went wrong with those that are missing."""


class Rewriter:
    """Asks for a new version of each inconsistent sentence, or of the response as a whole."""

    def __init__(self, writer: Oracle, questions: ImproverQuestions) -> None:
        self._writer = writer
        self._questions = questions
        self._at_once = per_call(writer, _AT_ONCE, tokens_each=_TOKENS_A_REWRITE)

    async def rewrite(
        self, material: CheckedResponse, findings: Sequence[SentenceFinding], *, whole: bool
    ) -> WriterReply:
        """Rewrites of those of `findings` (at least one) whose mark is -1; the first alone where it is the `whole`.

        Raises:
            OracleUnavailable: the writer's endpoint is down.
        """
        faulty = [index for index, found in enumerate(findings) if found.mark < 0]
        if whole:
            return await self._whole(material, faulty[0], findings[faulty[0]].reason)
        return await self._sentences(material, findings, faulty)

    async def _sentences(
        self, material: CheckedResponse, findings: Sequence[SentenceFinding], faulty: Sequence[int]
    ) -> WriterReply:
        faults = [findings[index] for index in faulty]
        found: dict[int, Rewrite] = {}

        async def ask(numbers: Sequence[int]) -> list[int]:
            answer = await self._writer.ask(self._questions.about_sentences(material, faults, numbers))
            wanted = {number: faults[number - 1].text for number in numbers}
            found.update(usable_rewrites(answer.reply, wanted))
            return [number for number in numbers if number not in found]

        async def covered(numbers: Sequence[int]) -> str | None:
            try:
                await cover(numbers, ask)
            except OracleFailed as error:
                return error.detail
            return None

        parts = parts_of(range(1, len(faults) + 1), self._at_once)
        told = await gather_or_cancel(covered(part) for part in parts)
        return WriterReply(
            {faulty[number - 1]: rewrite for number, rewrite in found.items()},
            next((fault for fault in told if fault is not None), None),
        )

    async def _whole(self, material: CheckedResponse, index: int, reason: str) -> WriterReply:
        try:
            answer = await self._writer.ask(self._questions.about_whole(material, reason))
        except OracleFailed as error:
            return WriterReply({}, error.detail)
        return WriterReply({index: Rewrite(answer.reply.improved.strip(), answer.reply.reason)}, None)
