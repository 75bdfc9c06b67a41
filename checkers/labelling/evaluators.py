"""Evaluators: a model that labels and makes x', or any callable."""

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from pydantic import JsonValue

from checkers.labelling.challenges import Verifier
from checkers.labelling.examples import Exemplar
from checkers.labelling.protocol import EvaluatorFailed, Proposal, Turn
from checkers.labelling.questions import LabellingPrompts, datapoint_of
from checkers.labelling.values import from_json, is_echo, same_label
from models.concurrent import both
from models.protocol import Oracle, OracleFailed, OracleUnavailable, Question, ReplyT

Strategy = Literal["generate", "pick"]

_ASKED_AT_MOST = 3
"""Each time with a repair turn: one call and up to five more, as in the paper, before it counts as unable to answer."""

EXEMPLARS = 5
CANDIDATES = 5
_MOST_TRIED = 1000
MOST_TRIED_BY_JUDGE = 50
"""With plain-language criteria each that is tried costs a question a criterion, once."""


class LLMEvaluator:
    """A model before one datapoint: asked for the label once, for x' every round; sigma is shown for labelling only."""

    def __init__(
        self,
        model: Oracle,
        verifier: Verifier,
        prompts: LabellingPrompts,
        *,
        strategy: Strategy = "generate",
        examples: Sequence[Exemplar] = (),
        pool: Sequence[JsonValue] = (),
        under: str | None = None,
    ) -> None:
        """The rubric is the verifier's. The first five `examples` are shown; `pool` is what may be picked from.

        `under` is the prompt of the application that the model works for.

        Raises:
            ValueError: the strategy is `pick`, and there is nothing to pick from.
        """
        if strategy == "pick" and not pool:
            raise ValueError("the strategy 'pick' needs datapoints to pick from")
        self.name = model.name
        self.unparsable = 0
        """Questions that were asked again because the answer could not be read."""
        self._model = model
        self._verifier = verifier
        self._prompts = prompts
        self._strategy = strategy
        self._pool = pool
        self._examples = examples[:EXEMPLARS]
        self._under = under
        self._bit: int | None = None

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """The label of x, and a datapoint like it.

        Raises:
            EvaluatorFailed: the model's answers could not be used, however often it was asked.
            OracleUnavailable: its endpoint is down.
        """
        if self._strategy == "pick":
            # What is picked does not depend on the label: both are asked at the same time.
            bit, similar = await both(self._labelled(x), self._picked(x, turn))
        else:
            bit = await self._labelled(x)
            similar = await self._generated(x, bit, turn)
        return Proposal(similar=similar, bit=bit)

    async def _labelled(self, x: JsonValue) -> int:
        if self._bit is None:
            rubric = self._verifier.rubric
            reply = await self._asked(self._prompts.label(rubric, x, self._examples, under=self._under))
            self._bit = int(same_label(reply.label, rubric.labels[1]))
        return self._bit

    async def _picked(self, x: JsonValue, turn: Turn) -> JsonValue:
        candidates = await drawn_candidates(self._pool, x, self._verifier, turn.draw)
        question = self._prompts.pick(self._verifier.rubric, x, candidates, under=self._under)
        return candidates[(await self._asked(question)).choice - 1]

    async def _generated(self, x: JsonValue, bit: int, turn: Turn) -> JsonValue:
        rubric = self._verifier.rubric
        question = self._prompts.generate(rubric, x, bit, self._examples, turn.earlier, under=self._under)
        return datapoint_of(await self._asked(question), x)

    async def _asked(self, question: Question[ReplyT]) -> ReplyT:
        asked = 0
        while True:
            asked += 1
            try:
                answer = await self._model.ask(question)
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
        return EvaluatorFailed(error.cause_of_subject, f"{self.name}: {error.detail}")


async def drawn_candidates(
    pool: Sequence[JsonValue], x: JsonValue, verifier: Verifier, draw: Random
) -> list[JsonValue]:
    """Five datapoints to pick from in random order, at least one of them like `x`, none x itself.

    That one matches is the verifier's promise (the paper's generation by picking).

    Raises:
        EvaluatorFailed: none of the pool, or of as many as are tried, is like `x`.
    """
    order = list(range(len(pool)))
    draw.shuffle(order)
    most = MOST_TRIED_BY_JUDGE if verifier.rubric.plain else _MOST_TRIED
    others: list[JsonValue] = []
    matching: JsonValue = None
    found = False
    for tried, index in enumerate(order):
        candidate = pool[index]
        if is_echo(x, candidate):
            continue
        if not found and tried < most and await verifier.are_similar(x, candidate):
            matching, found = candidate, True
        elif len(others) < CANDIDATES - 1:
            others.append(candidate)
        if found and len(others) == CANDIDATES - 1:
            break
    if not found:
        tried = min(len(order), most)
        raise EvaluatorFailed("no_candidate", f"none of {tried} datapoints to pick from is like this one")
    shown = [matching, *others]
    draw.shuffle(shown)
    return shown


Answered = tuple[JsonValue, int | bool]
"""x' and y'."""


@dataclass(frozen=True, slots=True)
class FunctionEvaluator:
    """Any callable, plain or async, from x to x' and y' (0 or 1, or a truth value)."""

    name: str
    function: Callable[[JsonValue], Answered | Awaitable[Answered]]

    async def propose(self, x: JsonValue, turn: Turn) -> Proposal:
        """What the function gives.

        Raises:
            EvaluatorFailed: it raised, or that is no pair of a datapoint and 0 or 1.
        """
        try:
            answered = self.function(x)
            if inspect.isawaitable(answered):
                answered = await answered
        except OracleUnavailable:
            raise
        except Exception as error:
            # A stranger's code may raise anything: one datapoint must not cost the others their labels.
            raise EvaluatorFailed("subject_failed", f"{self.name} raised {type(error).__name__}") from error
        match answered:
            case (similar, (0 | 1) as label):
                try:
                    return Proposal(similar=from_json(json.dumps(similar)), bit=int(label))
                except (TypeError, ValueError, RecursionError) as error:
                    detail = f"the x' of {self.name} is no JSON value: {error}"
                    raise EvaluatorFailed("subject_unusable", detail) from error
        raise EvaluatorFailed(
            "subject_unusable", f"{self.name} gave {type(answered).__name__}; expected a pair of x' and 0 or 1"
        )
