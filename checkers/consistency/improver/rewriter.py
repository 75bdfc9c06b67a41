"""Asking the writer for new sentences: several in one question, and once more about what its answer lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.concurrent import gather_or_cancel
from checkers.consistency.improver.questions import ImproverQuestions
from checkers.consistency.improver.rewrites import Rewrite, usable_rewrites
from checkers.consistency.questions import CheckedResponse, again
from checkers.oracle.protocol import Oracle, OracleFailed
from schemas import SentenceFinding

_AT_ONCE = 20
"""Sentences in one question: so many, old and new and with reasons, keep below the 4,096 tokens of a reply."""


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
        parts = [faulty[start : start + _AT_ONCE] for start in range(0, len(faulty), _AT_ONCE)]
        answered = await gather_or_cancel(self._sentences(material, findings, part) for part in parts)
        return WriterReply(
            {index: rewrite for one in answered for index, rewrite in one.rewrites.items()},
            next((one.fault for one in answered if one.fault is not None), None),
        )

    async def _sentences(
        self, material: CheckedResponse, findings: Sequence[SentenceFinding], part: Sequence[int]
    ) -> WriterReply:
        faults = [findings[index] for index in part]
        texts = [fault.text for fault in faults]
        question = self._questions.about_sentences(material, faults)
        found: dict[int, Rewrite] = {}
        fault = None
        try:
            answer = await self._writer.ask(question)
            first = usable_rewrites(texts, answer.reply)
            found = first.rewrites
            if first.complaint is not None:
                answer = await self._writer.ask(again(question, answer.reply, first.complaint))
                second = usable_rewrites(texts, answer.reply, wanted=first.missing)
                found |= second.rewrites
                if second.missing:
                    lacking = len(second.missing)
                    fault = f"asked twice, {lacking} of {len(part)} sentences have no entry that can be used"
        except OracleFailed as error:
            fault = error.detail
        return WriterReply({part[index]: rewrite for index, rewrite in found.items()}, fault)

    async def _whole(self, material: CheckedResponse, index: int, reason: str) -> WriterReply:
        try:
            answer = await self._writer.ask(self._questions.about_whole(material, reason))
        except OracleFailed as error:
            return WriterReply({}, error.detail)
        return WriterReply({index: Rewrite(answer.reply.improved.strip(), answer.reply.reason)}, None)
