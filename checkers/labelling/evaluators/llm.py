"""A model as evaluator: it labels with reasons, and picks or generates the datapoint that is like x."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from checkers.labelling.evaluators.candidates import Candidates
from checkers.labelling.evaluators.composed import Labelled
from checkers.labelling.protocol import EvaluatorFailed, Proposal, Turn
from checkers.labelling.questions import Example, Questions, datapoint_of
from checkers.labelling.values import same_label
from checkers.oracle.protocol import Answer, OracleFailed, Question, ReplyT

if TYPE_CHECKING:
    from checkers.labelling.challenges import Verifier
    from checkers.labelling.rubric import Asks

Strategy = Literal["generate", "pick"]

_ASKED_AT_MOST = 3
"""Each time with a repair turn: one call and up to five more, as in the paper, before it counts as unable to answer."""

_EXEMPLARS = 5


class LLMEvaluator:
    """A model before one datapoint: asked for the label once, for x' every round; sigma is shown for labelling only."""

    def __init__(
        self,
        model: "Asks",
        verifier: "Verifier",
        questions: Questions,
        *,
        name: str,
        strategy: Strategy = "generate",
        examples: Sequence[Example] = (),
        candidates: Candidates | None = None,
    ) -> None:
        """The rubric is the verifier's. The first five `examples` are shown; `candidates` are what is picked from.

        Raises:
            ValueError: the strategy is `pick`, and there is nothing to pick from.
        """
        if strategy == "pick" and candidates is None:
            raise ValueError("the strategy 'pick' needs datapoints to pick from")
        self.name = name
        self.unparsable = 0
        """Questions that were asked again because the answer could not be read."""
        self._model = model
        self._verifier = verifier
        self._questions = questions
        self._candidates = candidates if strategy == "pick" else None
        self._examples = examples[:_EXEMPLARS]
        self._labelled: Labelled | None = None

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """The label of x, and a datapoint like it.

        Raises:
            EvaluatorFailed: the model's answers could not be used, however often it was asked.
            OracleUnavailable: its endpoint is down.
        """
        if self._labelled is None:
            self._labelled = await self._label(x)
        labelled = self._labelled
        if self._candidates is None:
            similar = await self._generated(x, labelled.bit, turn)
        else:
            similar = await self._picked(x, self._candidates, turn)
        return Proposal(similar=similar, bit=labelled.bit, claimed=labelled.claimed)

    async def _label(self, x: JsonValue) -> Labelled:
        rubric = self._verifier.rubric
        reply = await self._asked(self._questions.label(rubric, x, self._examples))
        claimed = tuple(int(one.holds) for one in reply.reasons)
        return Labelled(int(same_label(reply.label, rubric.labels[1])), claimed)

    async def _picked(self, x: JsonValue, candidates: Candidates, turn: Turn) -> JsonValue:
        drawn = await candidates.drawn(x, self._verifier, turn.draw)
        reply = await self._asked(self._questions.pick(self._verifier.rubric, x, drawn))
        return drawn[reply.choice - 1]

    async def _generated(self, x: JsonValue, bit: int, turn: Turn) -> JsonValue:
        question = self._questions.generate(self._verifier.rubric, x, bit, self._examples, turn.earlier)
        return datapoint_of(await self._asked(question), x)

    async def _asked(self, question: Question[ReplyT]) -> ReplyT:
        asked = 0
        while True:
            asked += 1
            try:
                answer: Answer[ReplyT] = await self._model.ask(question)
            except OracleFailed as error:
                if error.cause != "judge_unusable" or asked == _ASKED_AT_MOST:
                    raise self._failed(error) from error
                self.unparsable += 1
            else:
                return answer.reply

    def _failed(self, error: OracleFailed) -> EvaluatorFailed:
        if error.cause == "judge_unusable":
            return EvaluatorFailed(
                "subject_unusable", f"{self.name} gave no usable answer, asked {_ASKED_AT_MOST} times: {error.detail}"
            )
        cause: Literal["budget", "subject_failed"] = "budget" if error.cause == "budget" else "subject_failed"
        return EvaluatorFailed(cause, f"{self.name}: {error.detail}")
