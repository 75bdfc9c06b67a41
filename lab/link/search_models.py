"""The three models of a search: one names things, one judges statements, one says how likely a sentence is."""

from collections import Counter
from collections.abc import Mapping, Sequence

from assay.progress import Progress
from checkers.model_patience import ModelPatience
from lab.kept_answers import KeptAnswers, KeptModel
from lab.link.likelihood import CausalModel, EndpointScorer
from lab.link.link_questions import LinkPrompts, ValuesReply
from models.concurrent import gather_or_cancel
from models.protocol import Answer, Model, ModelFailed, Question, ReplyT
from schemas import Usage, digest

Scorer = CausalModel | EndpointScorer
"""Says how likely sentences are."""

CRITIC_BATCH = 25
"""Statements in one question; a repair turn or a failure costs all of them."""
_SCORER_BATCH = 64
"""Sentences in one request."""


class SearchModels:
    """Knowledge model, critic and scorer, asked through the file of answers; belongs to one event loop.

    Questions are put together from what was answered before, and never from the order in which answers came: a build
    that was broken off asks the same ones again, and finds them answered.
    """

    def __init__(
        self, knowledge: Model, critic: Model, scorers: Mapping[str, Scorer], kept: KeptAnswers, shown: Progress
    ) -> None:
        """`scorers` are the one that ranks, `scorer`, and perhaps the one that measures, `measurer`."""
        self.prompts = LinkPrompts()
        self.failures: Counter[str] = Counter()
        """Questions without a usable answer, by cause; they are asked again by the next build."""
        self._knowledge = KeptModel(knowledge, kept, "knowledge")
        self._critic = KeptModel(critic, kept, "critic")
        self._scorers = scorers
        self._scored = dict.fromkeys(scorers, Usage())
        self._kept = kept
        self._patience = ModelPatience(shown.say)
        self._judged: dict[str, float] = {}
        self._shown = shown
        self._step, self._note, self._answers = 0, "", 0

    @property
    def costs(self) -> dict[str, Usage]:
        """Cost of the answers by role, those of earlier processes included."""
        return {"knowledge": self._knowledge.usage, "critic": self._critic.usage, **self._scored}

    def begin(self, note: str) -> None:
        """Begin the next step of the progress bar."""
        self._step, self._note = self._step + 1, note
        self._tell()

    async def close(self) -> None:
        for model in (self._knowledge, self._critic, *self._scorers.values()):
            await model.close()

    async def values(self, questions: Sequence[Question[ValuesReply]]) -> list[list[str]]:
        """Ask for the values of each reply, as they came; none if there is no usable one."""

        async def named(question: Question[ValuesReply]) -> list[str]:
            answer = await self._asked(self._knowledge, question)
            return [] if answer is None else [one.value for one in answer.reply.values]

        return await gather_or_cancel([named(one) for one in questions])

    async def probabilities(self, statements: Sequence[str]) -> list[float | None]:
        """Ask for the critic's probability that each statement is true; None if it gave no usable answer."""

        async def judge(some: Sequence[str]) -> None:
            answer = await self._asked(self._critic, self.prompts.critic(some))
            if answer is not None:
                told = answer.probabilities or [float(entry.holds) for entry in answer.reply.entries]
                self._judged.update(zip(some, told, strict=True))

        new = [one for one in dict.fromkeys(statements) if one not in self._judged]
        await gather_or_cancel([judge(some) for some in _batches(new, CRITIC_BATCH)])
        return [self._judged.get(one) for one in statements]

    async def log_likelihoods(self, sentences: Sequence[str], by: str = "scorer") -> Mapping[str, float]:
        """Tell for each sentence the mean log-probability of its tokens; nothing if there is no such scorer.

        Raises:
            ModelFailed: the scorer gives none: without it there is nothing to rank.
        """
        found: dict[str, float] = {}
        scorer = self._scorers.get(by)
        if scorer is None:
            return found

        async def score(some: Sequence[str]) -> None:
            key = digest(["scorer", scorer.name, some])
            told = self._kept.find(key)
            if told is None:
                means, usage = await self._patience.until_answered(lambda: scorer.log_likelihoods(some))
                told = [means, usage.model_dump()]
                self._kept.add(key, told)
            self._scored[by] += Usage(**told[1])
            found.update(zip(some, told[0], strict=True))

        await gather_or_cancel([score(some) for some in _batches(list(dict.fromkeys(sentences)), _SCORER_BATCH)])
        return found

    async def vetted(self, question: Question[ReplyT]) -> ReplyT:
        """The critic's answer to any question; raises ModelFailed if there is none."""
        return (await self._patience.until_answered(lambda: self._critic.ask(question))).reply

    async def _asked(self, model: KeptModel, question: Question[ReplyT]) -> Answer[ReplyT] | None:
        try:
            answer = await self._patience.until_answered(lambda: model.ask(question))
        except ModelFailed as error:
            self.failures[error.cause] += 1
            return None
        self._answers += 1
        self._tell()
        return answer

    def _tell(self) -> None:
        self._shown.at(self._step - 1, f"{self._note}, {self._answers:,} answers")


def _batches(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    return [texts[first : first + size] for first in range(0, len(texts), size)]
