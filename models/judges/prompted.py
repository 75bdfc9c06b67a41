"""The judge behind an endpoint: each kind of claim is a short question, and the words' probabilities are the grades."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from models.claims import NO_CLAIM, ClaimKind, Claims, Grades, Judgement
from models.concurrent import gather_or_cancel
from models.judges.control import control_sentences
from models.judges.forms import SHORT_ANSWER, Form, Support, odds_of, over_pieces
from models.judges.questions import UNKNOWN_QUESTION, JudgeQuestions
from models.protocol import Answer, Model, ModelFailed, Question, YesNo
from schemas.evidence import SelfTestFigure

if TYPE_CHECKING:
    from models.judges.choice import ChosenForm

_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"\w+")

_RESPONSES = frozenset({ClaimKind.SUMMARY, ClaimKind.ANSWER})
_OF_NO_TEXT = frozenset({ClaimKind.CRITERION, ClaimKind.STATEMENT, ClaimKind.QUESTION})
"""Kinds of claims that may be compared with an empty text."""
_WORDS = {
    ClaimKind.ANSWERABILITY: ("answerable", "passages", "question"),
    ClaimKind.PHRASE: ("same_phrase", "first", "second"),
    ClaimKind.CRITERION: ("criterion", "text", "criterion"),
    ClaimKind.COMPATIBLE: ("compatible", "earlier", "sentence"),
    ClaimKind.ENTAILMENT: ("entails", "first", "second"),
}
"""For each kind of claim the question's name, and its names of the reference and of the sentence."""


class PromptedJudge:
    """Grades by asking a chat model in one form."""

    def __init__(
        self,
        model: Model,
        questions: JudgeQuestions,
        choice: "ChosenForm | None" = None,
        *,
        in_other_form: bool = False,
    ) -> None:
        """`choice` knows how to ask whether passages support sentences; it is needed for `grade` alone.

        `in_other_form`: ask in the form that was not chosen.
        """
        self.model, self.questions = model, questions
        self._choice, self._in_other_form = choice, in_other_form

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def version(self) -> str:
        """As of a judge."""
        known = "" if self._choice is None else self._choice.version
        return f"not {known}" if self._in_other_form else known

    @property
    def self_test(self) -> SelfTestFigure | None:
        """How it did in its self-test; None if it had none, or one in the other form."""
        return None if self._choice is None or self._in_other_form else self._choice.figure

    @property
    def pace(self) -> float | None:
        """Records a second, a few at once, by its self-test."""
        return None if self._choice is None or self._in_other_form else self._choice.pace

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """A grade for each sentence of each of `claims`; the calls are on the caller's bill.

        Raises:
            ModelFailed: the model gave no usable answer to one of the questions; `too_long` if a single sentence with a
                piece of its passages is more than it takes.
            ModelUnavailable: its endpoint is down.
        """
        if self._choice is None:
            raise RuntimeError("the judge has no form")
        if any(not one.reference.strip() and one.kind not in _OF_NO_TEXT for one in claims):
            raise ModelFailed("the text to hold the claims against is empty", cause="judge_failed")
        form = await (self._choice.other_form() if self._in_other_form else self._choice.form())
        grades = [
            self._response(task, one, form) if one.kind in _RESPONSES else self._words(task, one) for one in claims
        ]
        return Answer(tuple(await gather_or_cancel(grades)))

    async def ready(self) -> None:
        """Find the form to ask in, by the self-test if it has to be run; raises ModelUnavailable as `grade` does."""
        if self._choice is not None:
            await self._choice.form()

    def in_another_form(self) -> "PromptedJudge":
        """The same model, asked in another form."""
        return PromptedJudge(self.model, self.questions, self._choice, in_other_form=True)

    def through(self, model: Model) -> "PromptedJudge":
        """The same judge, asking `model`, which wraps its own."""
        return PromptedJudge(model, self.questions, self._choice and self._choice.through(model))

    async def close(self) -> None:
        await self.model.close()

    async def _words(self, task: str, claims: Claims) -> tuple[Judgement, ...]:
        questions = [self._question(task, claims, sentence) for sentence in claims.sentences]
        if claims.kind is ClaimKind.PARAPHRASE:
            # Each sentence must follow from the reference, and the reference from all of them.
            questions.append(self.questions.word("entails", task, first=claims.whole, second=claims.reference))
        odds = await gather_or_cancel(odds_of(self.model, question) for question in questions)
        least = odds.pop() if claims.kind is ClaimKind.PARAPHRASE else max(odds, default=0.0)
        return tuple(_judgement(Support(min(one, least))) for one in odds)

    def _question(self, task: str, claims: Claims, sentence: str) -> Question[YesNo]:
        """One plain question about a text and a sentence."""
        kind, more = claims.kind, {}
        if kind is ClaimKind.QUESTION:
            return self.questions.own_question(task, claims, sentence)
        if kind is ClaimKind.STATEMENT:
            return self.questions.word("true_statement", task, statement=sentence)
        if kind is ClaimKind.PHRASE:
            first, second = claims.around or (claims.reference, sentence)
            more = {"first_sentence": first, "second_sentence": second}
        elif kind is ClaimKind.COMPATIBLE:
            more = {"question": claims.prompt or UNKNOWN_QUESTION}
        name, text, asked = _WORDS.get(kind, _WORDS[ClaimKind.ENTAILMENT])
        return self.questions.word(name, task, **{text: claims.reference, asked: sentence}, **more)

    async def _response(self, task: str, claims: Claims, form: Form) -> tuple[Judgement, ...]:
        supports, empty = await self.corrected(task, claims, await form.supports(task, claims))
        misled = False
        if any(one.odds >= 0 and number not in empty for number, one in enumerate(supports, start=1)):
            misled = await self._is_misled(task, claims, form, counts_out=bool(empty))
        reasons = await self._reasons(task, claims, supports, empty)
        return tuple(
            NO_CLAIM if number in empty else replace(_judgement(one, reasons.get(number)), misled=misled)
            for number, one in enumerate(supports, start=1)
        )

    async def corrected(
        self, task: str, claims: Claims, supports: list[Support]
    ) -> tuple[list[Support], frozenset[int]]:
        """The supports with those of a refusal corrected, and the numbers of sentences that claim nothing.

        "I cannot answer that" is never supported. As a whole answer to a question it is right if the passages do not
        hold the answer; a sentence of a longer answer that gives no information counts for nothing.
        """
        unsupported = [number for number, one in enumerate(supports, start=1) if one.odds < 0]
        if not unsupported:
            return supports, frozenset()
        question = claims.prompt or UNKNOWN_QUESTION
        if len(supports) <= SHORT_ANSWER and claims.prompt:
            if _has_figures(claims) or await self._informs(task, question, claims.whole):
                return supports, frozenset()
            # A sentence may say of another, to the judge, that it tells nothing: a refusal is one sentence by sentence.
            if len(supports) == 1 or not any(await self._each_informs(task, question, claims.sentences)):
                holds = await over_pieces(claims.reference, lambda text: self._answerable(task, text, question))
                return [Support(-holds[0].odds)] * len(supports), frozenset()
        informs = await self._each_informs(task, question, [claims.sentences[number - 1] for number in unsupported])
        return supports, frozenset(number for number, one in zip(unsupported, informs, strict=True) if not one)

    async def _each_informs(self, task: str, question: str, sentences: Sequence[str]) -> list[bool]:
        return await gather_or_cancel(self._informs(task, question, one) for one in sentences)

    async def _informs(self, task: str, question: str, answer: str) -> bool:
        return await odds_of(self.model, self.questions.word("informs", task, question=question, answer=answer)) >= 0

    async def _answerable(self, task: str, passages: str, question: str) -> list[Support]:
        asked = self.questions.word("answerable", task, passages=passages, question=question)
        return [Support(await odds_of(self.model, asked))]

    async def _is_misled(self, task: str, claims: Claims, form: Form, *, counts_out: bool) -> bool:
        """True if three sentences that are false for certain are called supported, too.

        A judge that does as a text in the record bids it, or that says yes to everything, calls them so. If it
        `counts_out` sentences that give no information, it must not say that of these.
        """
        question = claims.prompt or UNKNOWN_QUESTION
        for control in control_sentences(claims.sentences, claims.reference, claims.whole):
            (found,) = await form.supports(task, claims, {0: control})
            if found.odds < 0 and (not counts_out or await self._informs(task, question, control)):
                return False
        return True

    async def _reasons(
        self, task: str, claims: Claims, supports: Sequence[Support], empty: frozenset[int]
    ) -> dict[int, str]:
        """What is wrong with each sentence that is not supported, where the model says something usable of it."""

        async def asked(number: int) -> str:
            sentence, reason = claims.sentences[number - 1], supports[number - 1].reason
            try:
                if reason is None:
                    answer = await self.model.ask(self.questions.reason(task, claims.reference, sentence))
                    reason = answer.reply.reason
            except ModelFailed:
                # The verdict does not need it.
                return ""
            return reason if _says_something(reason, sentence, claims.reference) else ""

        faulty = [number for number, one in enumerate(supports, start=1) if one.odds < 0 and number not in empty]
        found = await gather_or_cancel(map(asked, faulty))
        return {number: reason for number, reason in zip(faulty, found, strict=True) if reason}


def _judgement(support: Support, reason: str | None = None) -> Judgement:
    degree = round(support.degree, 6)
    what = "finds it supported" if support.odds >= 0 else "does not find it supported"
    said = reason or support.reason or f"the judge {what} (probability {degree:.2f})"
    return Judgement(degree, said, None)


def _has_figures(claims: Claims) -> bool:
    """True for an answer with a figure that neither question nor passages have: no refusal needs one."""
    return not set(_FIGURE.findall(claims.whole)) <= set(_FIGURE.findall(f"{claims.prompt} {claims.reference}"))


def _says_something(reason: str, sentence: str, passages: str) -> bool:
    """False for a reason that repeats the sentence, or whose figures are none of the passages'."""
    words = [word.casefold() for word in _WORD.findall(reason)]
    if not words or " ".join(words) in " ".join(word.casefold() for word in _WORD.findall(sentence)):
        return False
    figures, known = set(_FIGURE.findall(reason)), set(_FIGURE.findall(passages))
    return not figures or bool(figures & known)
