"""The forms in which a judge is asked whether passages support sentences: a word each, a list, or the paper's list."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from models.claims import Claims
from models.concurrent import gather_or_cancel
from models.judges.questions import JudgeQuestions, ReasonedVerdict, ReasonedVerdicts, Verdict, Verdicts
from models.protocol import Answer, Model, ModelFailed, Question, WindowExceeded, YesNo
from models.sentences import pieces_of

Asked = Mapping[int, str]
"""Sentences by number: from 1 those of the answer; 0 is another sentence, after the same prefix."""
AskAbout = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Asks one question about the numbers, keeps what can be used of its answer, and returns the numbers that it lacks."""
FormName = Literal["short", "list", "paper"]

SHORT_ANSWER = 3
"""Sentences of an answer that is asked about as a whole."""
_AT_ONCE = 7  # sentences of a call: a model of 20 tokens a second answers within the time limit of a request
_SHOWN = 4000  # characters of an answer that are shown with each of its sentences; else those around the sentence
_SHOWN_BEFORE = 5  # sentences: so far back a pronoun reaches
_LEAST_PIECE = 500  # characters of passages below which a question about them makes no sense
_NARROWER = 0.9
_TOO_MUCH_AT_ONCE = frozenset({"judge_slow", "judge_cut_off"})
_CERTAIN = 20.0  # log-odds of a word that comes without its probability, or with a certain one


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
    return _logit(float(answer.reply.yes) if answer.probabilities is None else answer.probabilities[0])


async def over_pieces(text: str, ask: Callable[[str], Awaitable[list[Support]]]) -> list[Support]:
    """The best supports by all of a text or, if that is too long, by any piece of it.

    Raises:
        ModelFailed: `too_long` even in pieces.
    """
    room = len(text)
    while True:
        pieces = [text[piece] for piece in pieces_of(text, room)]
        try:
            found = await gather_or_cancel(map(ask, pieces))
            return [max(each, key=lambda one: one.odds) for each in zip(*found, strict=True)]
        except WindowExceeded as refusal:
            longest = max(map(len, pieces))
            # Unless it is refused again, the window is known to the character.
            room = int(min(longest * _NARROWER, longest - (refusal.asked - refusal.characters)))
            if room < min(_LEAST_PIECE, longest):
                raise ModelFailed(refusal.detail, cause="too_long") from None


class Form:
    """A model that is asked in one form.

    `short`: a sentence a call, one word out; a short answer as a whole. `list`: several sentences a call, a verdict
    each. `paper`: DCR, a reason before each verdict (DCE), and the verdict read off the reason by a further call (AMC).
    """

    def __init__(self, name: FormName, threshold: float, model: Model, questions: JudgeQuestions) -> None:
        self.name, self.threshold = name, 0.0 if name == "paper" else threshold
        self._model, self._questions = model, questions
        self._at_most = _AT_ONCE

    async def supports(self, task: str, claims: Claims, asked: Asked | None = None) -> list[Support]:
        """The support of each sentence, or of those that are asked about, by the claims' passages alone.

        Raises what `Model.ask` raises; `too_long` if one sentence with a piece of the passages is more than it takes.
        """
        about = dict(enumerate(claims.sentences, start=1)) if asked is None else asked
        ask = {"short": self._by_words, "list": self._by_list, "paper": self._by_reasons}[self.name]
        return await over_pieces(claims.reference, lambda passages: ask(task, passages, claims, about))

    async def _by_words(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        async def one(number: int | None) -> Support:
            shown = claims.whole if number is None else _around(claims, number)
            sentence = None if number is None else asked[number]
            question = self._questions.supported(task, passages, claims.prompt, shown, sentence)
            return Support(await odds_of(self._model, question) - self.threshold)

        whole = None
        if 0 not in asked and len(asked) <= SHORT_ANSWER:
            whole = await one(None)
            if whole.odds >= 0 or len(asked) == 1:
                return [whole] * len(asked)
        # The first goes ahead: endpoints that cache prefixes then know what the others share.
        first, *others = asked
        each = [await one(first), *await gather_or_cancel(map(one, others))]
        # The answer as a whole decides: the least of its sentences has no higher support.
        least = min(range(len(each)), key=lambda place: each[place].odds)
        if whole is not None and each[least].odds > whole.odds:
            each[least] = whole
        return each

    async def _by_list(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        found: dict[int, Support] = {}

        async def ask(part: Sequence[int]) -> list[int]:
            about = {number: asked[number] for number in part}
            answer = await self._model.ask(self._questions.listed(task, passages, claims.prompt, about))
            found.update({one: Support(odds - self.threshold) for one, odds in _odds_by_number(answer, part).items()})
            return [number for number in part if number not in found]

        await self._cover(list(asked), ask)
        return [found[number] for number in asked]

    async def _by_reasons(self, task: str, passages: str, claims: Claims, asked: Asked) -> list[Support]:
        reasons: dict[int, str] = {}
        found: dict[int, Support] = {}

        async def evaluate(part: Sequence[int]) -> list[int]:
            about = {number: asked[number] for number in part}
            reply = (await self._model.ask(self._questions.reasoned(task, passages, claims.prompt, about))).reply
            reasons.update({one.number: one.reason for one in reply.verdicts if one.number in part})
            return [number for number in part if number not in reasons]

        async def convert(part: Sequence[int]) -> list[int]:
            about = {number: reasons[number] for number in part}
            answer = await self._model.ask(self._questions.conversion(task, about))
            found.update({one: Support(odds, reasons[one]) for one, odds in _odds_by_number(answer, part).items()})
            return [number for number in part if number not in found]

        await self._cover(list(asked), evaluate)
        await self._cover(list(asked), convert)
        return [found[number] for number in asked]

    async def _cover(self, numbers: Sequence[int], ask: AskAbout) -> None:
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

        Without an answer in time, or without one entry before the token limit, ask about two halves side by side; calls
        stay smaller once the model was too slow for as many.
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


def _odds_by_number(answer: Answer[Verdicts] | Answer[ReasonedVerdicts], asked: Sequence[int]) -> dict[int, float]:
    verdicts: Sequence[Verdict | ReasonedVerdict] = answer.reply.verdicts
    given = answer.probabilities or tuple(float(one.supported) for one in verdicts)
    return {one.number: _logit(degree) for one, degree in zip(verdicts, given, strict=True) if one.number in asked}


def _around(claims: Claims, number: int) -> str:
    """The answer, or of a long one the stretch around a sentence."""
    if len(claims.whole) <= _SHOWN:
        return claims.whole
    return " ".join(claims.sentences[max(number - 1 - _SHOWN_BEFORE, 0) : number + 1])


def _logit(probability: float) -> float:
    if probability <= 0 or probability >= 1:
        return _CERTAIN if probability > 0 else -_CERTAIN
    return math.log(probability / (1 - probability))
