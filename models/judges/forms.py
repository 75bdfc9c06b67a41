"""The forms in which a judge is asked whether passages support sentences: a word each, a list, or the paper's list."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from models.claims import Claims
from models.concurrent import gather_or_cancel
from models.judges.questions import JudgeQuestions, ReasonedVerdict, ReasonedVerdicts, Verdict, Verdicts
from models.protocol import Answer, Model, ModelFailed, Question, YesNo

Asked = Mapping[int, str]
"""Sentences by number: from 1 those of the answer; 0 is another sentence, after the same prefix."""

AskAbout = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Asks one question about the numbers, keeps what can be used of its answer, and returns the numbers that it lacks."""

FormName = Literal["short", "list", "paper"]

SHORT_ANSWER = 3
"""Sentences of an answer that is asked about as a whole."""
_AT_ONCE = 7
"""Sentences of a call: a model of 20 tokens a second answers within the time limit of a request."""
_SHOWN = 4000
"""Characters of an answer that are shown with each of its sentences; of a longer one those around the sentence."""
_SHOWN_BEFORE = 5
"""Sentences: so far back a pronoun reaches."""
_TOO_MUCH_AT_ONCE = frozenset({"judge_slow", "judge_cut_off"})
_CERTAIN = 20.0
"""Log-odds of a word that comes without its probability, or with a certain one."""


@dataclass(frozen=True, slots=True)
class Support:
    """Support of a sentence by passages."""

    odds: float
    """Log-odds of a yes, above the form's threshold: 0 or more if it is supported."""
    reason: str | None = None

    @property
    def degree(self) -> float:
        """0 to 1, from one half on supported."""
        return 1 / (1 + math.exp(-max(min(self.odds, _CERTAIN), -_CERTAIN)))


async def odds_of(model: Model, question: Question[YesNo]) -> float:
    """Log P(yes) - log P(no); plus or minus 20 where the endpoint gives no probabilities."""
    answer = await model.ask(question)
    if answer.probabilities is None:
        return _CERTAIN if answer.reply.yes else -_CERTAIN
    return _logit(answer.probabilities[0])


class _SentenceBatches:
    """Asks about numbered sentences, a few a call; calls stay smaller once the model was too slow for as many."""

    def __init__(self) -> None:
        self._at_most = _AT_ONCE

    async def cover(self, numbers: Sequence[int], ask: AskAbout) -> None:
        """Ask about all numbers, in as few calls as possible, all of about the same size.

        Raises:
            ModelFailed: the model gave no usable answer, or none about a number that it was asked about alone.
            ModelUnavailable: its endpoint is down.
        """
        count = -(-len(numbers) // self._at_most)
        bounds = [len(numbers) * part // max(count, 1) for part in range(count + 1)]
        await gather_or_cancel(self._ask(numbers[start:end], ask) for start, end in pairwise(bounds))

    async def _ask(self, numbers: Sequence[int], ask: AskAbout) -> None:
        """Ask about `numbers` in one question, then about those that its answer lacks, until none is left.

        Without an answer in time, or without one entry before the token limit, ask about two halves side by side.
        """
        try:
            missing = await ask(numbers)
        except ModelFailed as failure:
            if failure.cause not in _TOO_MUCH_AT_ONCE or not failure.begun or len(numbers) == 1:
                raise
            if failure.cause == "judge_slow":
                self._at_most = max(1, min(self._at_most, len(numbers) // 2))
            missing = numbers
        if not missing:
            return
        if len(missing) < len(numbers):
            await self._ask(missing, ask)
        elif len(numbers) > 1:
            middle = len(numbers) // 2
            await gather_or_cancel(self._ask(half, ask) for half in (numbers[:middle], numbers[middle:]))
        else:
            raise ModelFailed(f"no entry about number {numbers[0]}, asked about alone", cause="judge_unusable")


class ShortForm:
    """A sentence a call, one word out; a short answer as a whole."""

    name: FormName = "short"

    def __init__(self, model: Model, questions: JudgeQuestions, threshold: float) -> None:
        self._model = model
        self._questions = questions
        self.threshold = threshold

    async def supports(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        """The support of the sentences that are asked about, in order, by these of the claims' passages.

        Raises what `Model.ask` raises, with `WindowExceeded` if the passages are too long to be shown with them.
        """
        if 0 in asked or len(asked) > SHORT_ANSWER:
            return await self._each(task, passages, claims, asked)
        whole = await self._asked(task, passages, claims, claims.whole, None)
        if whole.odds >= 0 or len(asked) == 1:
            return [whole] * len(asked)
        return _at_most(whole, await self._each(task, passages, claims, asked))

    async def _each(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        def one(number: int) -> Awaitable[Support]:
            return self._asked(task, passages, claims, _around(claims, number), asked[number])

        # The first goes ahead: endpoints that cache prefixes then know what the others share.
        first, *others = asked
        return [await one(first), *await gather_or_cancel(map(one, others))]

    async def _asked(self, task: str, passages: str, claims: Claims, shown: str, sentence: str | None) -> Support:
        question = self._questions.supported(task, passages, claims.prompt, shown, sentence)
        return Support(await odds_of(self._model, question) - self.threshold)


class ListForm:
    """Several sentences a call, a verdict each."""

    name: FormName = "list"

    def __init__(self, model: Model, questions: JudgeQuestions, threshold: float) -> None:
        self._model = model
        self._questions = questions
        self.threshold = threshold
        self._batches = _SentenceBatches()

    async def supports(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        found: dict[int, Support] = {}

        async def ask(part: Sequence[int]) -> list[int]:
            about = {number: asked[number] for number in part}
            answer = await self._model.ask(self._questions.listed(task, passages, claims.prompt, about))
            for number, odds in _odds_by_number(answer, part).items():
                found[number] = Support(odds - self.threshold)
            return [number for number in part if number not in found]

        await self._batches.cover(list(asked), ask)
        return [found[number] for number in asked]


class PaperForm:
    """DCR: a reason before each verdict (DCE), and the verdict read off the reason by a further call (AMC)."""

    name: FormName = "paper"
    threshold = 0.0

    def __init__(self, model: Model, questions: JudgeQuestions) -> None:
        self._model = model
        self._questions = questions
        self._batches = _SentenceBatches()

    async def supports(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        reasons: dict[int, str] = {}
        found: dict[int, Support] = {}

        async def evaluate(part: Sequence[int]) -> list[int]:
            question = self._questions.reasoned(
                task, passages, claims.prompt, {number: asked[number] for number in part}
            )
            reply = (await self._model.ask(question)).reply
            reasons.update({one.number: one.reason for one in reply.verdicts if one.number in part})
            return [number for number in part if number not in reasons]

        async def convert(part: Sequence[int]) -> list[int]:
            answer = await self._model.ask(
                self._questions.conversion(task, {number: reasons[number] for number in part})
            )
            for number, odds in _odds_by_number(answer, part).items():
                found[number] = Support(odds, reasons[number])
            return [number for number in part if number not in found]

        await self._batches.cover(list(asked), evaluate)
        await self._batches.cover(list(asked), convert)
        return [found[number] for number in asked]


Form = ShortForm | ListForm | PaperForm


def _odds_by_number(answer: Answer[Verdicts] | Answer[ReasonedVerdicts], asked: Sequence[int]) -> dict[int, float]:
    verdicts: Sequence[Verdict | ReasonedVerdict] = answer.reply.verdicts
    given = answer.probabilities or tuple(float(one.supported) for one in verdicts)
    return {one.number: _logit(degree) for one, degree in zip(verdicts, given, strict=True) if one.number in asked}


def _around(claims: Claims, number: int) -> str:
    """The answer, or of a long one the stretch around a sentence."""
    if len(claims.whole) <= _SHOWN:
        return claims.whole
    return " ".join(claims.sentences[max(number - 1 - _SHOWN_BEFORE, 0) : number + 1])


def _at_most(whole: Support, each: Sequence[Support]) -> list[Support]:
    """The sentences' supports, the least of them no higher than that of the answer as a whole, which decides."""
    least = min(range(len(each)), key=lambda place: each[place].odds)
    return [whole if place == least and one.odds > whole.odds else one for place, one in enumerate(each)]


def _logit(probability: float) -> float:
    if probability <= 0 or probability >= 1:
        return _CERTAIN if probability > 0 else -_CERTAIN
    return math.log(probability / (1 - probability))
