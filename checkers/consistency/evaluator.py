"""DCE, the divide-conquer evaluator: a reason for every sentence (paper, section 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from checkers.concurrent import gather_or_cancel
from checkers.consistency.questions import CheckedResponse, ConsistencyQuestions, again
from checkers.consistency.replies import Reasons
from checkers.consistency.sorted_reasons import SortedReasons, sort_reasons
from checkers.oracle.claims import Judgement
from checkers.oracle.protocol import Grader, Oracle, OracleFailed, grader_of


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """What the judge says about one sentence."""

    reasons: tuple[str, ...]
    """At least one; several where the judge took the sentence apart."""
    flag: bool
    """The judge's flag in the answer that this entry is from."""
    grade: Judgement | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the judge says about all sentences, in their order."""

    entries: tuple[JudgedSentence, ...]
    whole: tuple[str, ...] = ()
    """Reasons about the response as a whole, which must not count as sentences (paper, appendix A.4)."""
    asked_again: int = 0
    """How many sentences were asked about more than once."""
    invented: int = 0
    """Entries that, asked again too, were no sentence of the response; they count for nothing."""

    @property
    def is_consistent(self) -> bool:
        """The flag for the candidate; with several answers, the conjunction of theirs."""
        return all(entry.flag for entry in self.entries)


class DivideConquerEvaluator:
    """Asks about all sentences in one call, or about each in a call of its own, all at once."""

    def __init__(
        self, judge: Oracle, questions: ConsistencyQuestions, *, calls: Literal["one", "per_sentence"]
    ) -> None:
        self._judge = judge
        self._grader = grader_of(judge)
        self._questions = questions
        self._calls = calls

    async def sentences(self, material: CheckedResponse, sentences: Sequence[str]) -> Evaluation:
        """A reason for each of `sentences` (at least one).

        Raises:
            OracleFailed: the judge gave no usable answer, or none for some sentence, however often asked.
            OracleUnavailable: its endpoint is down.
        """
        if self._calls == "per_sentence":
            return _joined(await gather_or_cancel(self._about(material, (sentence,)) for sentence in sentences))
        return await self._about(material, sentences)

    async def whole(self, material: CheckedResponse) -> Evaluation:
        """One reason for the response as one piece; raises as `sentences` does."""
        if self._grader is not None:
            return await self._graded(self._grader, f"{material.task}.paragraph", material, (material.response,))
        answer = await self._judge.ask(self._questions.about_whole(material))
        reasons = tuple(entry.reason for entry in answer.reply.reason)
        if not reasons:
            raise OracleFailed("the judge gave no reason for its answer", cause="judge_unusable")
        return Evaluation((JudgedSentence(reasons, answer.reply.is_consistent, None),))

    async def _about(self, material: CheckedResponse, sentences: Sequence[str]) -> Evaluation:
        if self._grader is not None:
            return await self._graded(self._grader, material.task, material, sentences)
        question = self._questions.about_sentences(material, sentences)
        answer = await self._judge.ask(question)
        first = sort_reasons(sentences, material.response, answer.reply)
        if first.complaint is None:
            return _evaluation(first, answer.reply)

        second_answer = await self._judge.ask(again(question, answer.reply, first.complaint))
        second = sort_reasons(sentences, material.response, second_answer.reply)
        evaluation = await self._completed(material, sentences, second, second_answer.reply)
        return Evaluation(
            evaluation.entries, evaluation.whole, max(1, len(first.missing), len(first.invented)), len(second.invented)
        )

    async def _graded(
        self, grader: Grader, task: str, material: CheckedResponse, sentences: Sequence[str]
    ) -> Evaluation:
        ((*grades,),) = (await grader.grade(f"consistency.{task}", [material.claims(sentences)])).reply
        return Evaluation(tuple(JudgedSentence((_reason(grade),), grade.supported, grade) for grade in grades))

    async def _completed(
        self, material: CheckedResponse, sentences: Sequence[str], found: SortedReasons, reply: Reasons
    ) -> Evaluation:
        if not found.missing:
            return _evaluation(found, reply)
        if len(sentences) == 1:
            raise OracleFailed(
                "the judge gave no reason for a sentence, asked about it alone and again", cause="judge_unusable"
            )
        alone = await gather_or_cancel(self._about(material, (sentences[index],)) for index in found.missing)
        by_index = {index: one.entries[0] for index, one in zip(found.missing, alone, strict=True)}
        return Evaluation(
            tuple(
                by_index[index]
                if index in by_index
                else JudgedSentence(found.reasons[index], reply.is_consistent, None)
                for index in range(len(sentences))
            ),
            found.whole,
        )


def _reason(grade: Judgement) -> str:
    return f"This sentence is {'' if grade.supported else 'not '}consistent with the reference: {grade.reason}"


def _evaluation(found: SortedReasons, reply: Reasons) -> Evaluation:
    entries = tuple(JudgedSentence(found.reasons[index], reply.is_consistent, None) for index in sorted(found.reasons))
    return Evaluation(entries, found.whole)


def _joined(evaluations: Sequence[Evaluation]) -> Evaluation:
    return Evaluation(
        tuple(entry for one in evaluations for entry in one.entries),
        tuple(reason for one in evaluations for reason in one.whole),
        sum(one.asked_again for one in evaluations),
        sum(one.invented for one in evaluations),
    )
