"""The model that answers the questions of a check: the subject, or the judge and its model in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from checkers.checker import Undecidable
from checkers.equivalence.aligned import PhrasePair
from checkers.equivalence.phrase_questions import MANNERS, EquivalencePrompts, EquivalenceReply, words_of
from models.claims import ClaimKind, Claims
from models.concurrent import gather_or_cancel
from models.protocol import Judge, Model, ModelFailed, Question, ReplyT
from models.sampling import sample

Role = Literal["subject", "judge"]


class Respondent:
    """Asks on behalf of one check. All methods raise what a model raises.

    Raises:
        Undecidable: the subject gave no usable answer.
    """

    def __init__(
        self, model: Model | None, prompts: EquivalencePrompts, *, judge: Judge | None, application: str | None = None
    ) -> None:
        """`model` writes, and decides unless there is a `judge`, which is asked about phrases in its place.

        `application` is the prompt that the application gave the subject: it is asked under it, a judge is not.
        """
        self.role: Role = "subject" if judge is None else "judge"
        self._under = application if judge is None else None
        self._model = model
        self._judge = judge
        self._prompts = prompts

    async def phrases(self, sentences: tuple[str, str], pairs: Sequence[PhrasePair]) -> list[EquivalenceReply]:
        """Ask if the phrases of each pair could mean the same.

        A judge is shown the `sentences` that they stand in; a subject is not.
        """
        if self._judge is None or not pairs:
            questions = [self._prompts.phrase(pair.first, pair.second, self._under) for pair in pairs]
            return await gather_or_cancel(map(self._ask, questions))
        claims = [Claims(pair.first, (pair.second,), ClaimKind.PHRASE, around=sentences) for pair in pairs]
        grades = (await self._judge.grade("equivalence.phrase", claims)).reply
        return [
            EquivalenceReply(explanation=grade.reason, answer="yes" if grade.supported else "no") for (grade,) in grades
        ]

    async def paraphrases(self, sentence: str) -> list[str]:
        """The sentence in other words, `PARAPHRASES` times at most: what cannot be used or comes again is left out."""
        questions = [self._prompts.paraphrase(sentence, manner, self._under) for manner in MANNERS]
        found = await gather_or_cancel(map(self._ask_once, questions))
        kept: dict[str, str] = {}
        for one in found:
            if one is not None:
                kept.setdefault(words_of(one.paraphrase), one.paraphrase)
        return list(kept.values())

    async def equivalent(self, first: str, second: str) -> EquivalenceReply:
        """Ask if two sentences mean the same."""
        return await self._ask(self._prompts.equivalent(first, second, self._under))

    async def _ask(self, question: Question[ReplyT]) -> ReplyT:
        with self._at_fault() as model:
            return (await model.ask(question)).reply

    async def _ask_once(self, question: Question[ReplyT]) -> ReplyT | None:
        """The reply without a repair turn; None if it cannot be used."""
        with self._at_fault() as model:
            return (await sample(model, question, 1))[0]

    @contextmanager
    def _at_fault(self) -> Iterator[Model]:
        if self._model is None:
            raise ModelFailed("the judge compares and cannot write; configure an endpoint", cause="judge_failed")
        try:
            yield self._model
        except ModelFailed as error:
            if self.role == "judge":
                raise
            raise Undecidable(error.cause_of_subject, f"{self._model.name}: {error.detail}") from error
