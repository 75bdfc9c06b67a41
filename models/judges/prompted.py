"""The judge behind an endpoint: each kind of claim is a short question, and the words' probabilities are the grades."""

import math
from collections.abc import Sequence
from dataclasses import replace

import structlog

from models.judges import self_test
from models.judges.forms import Form, FormName, Support, each_odds
from models.judges.self_test import GOOD_ENOUGH, FormResult, Matcher, best_of, kept_test
from models.prompts import QUESTIONS
from models.protocol import Answer, ClaimKind, Claims, Grades, Judgement, Model, ModelFailed, ModelUnavailable
from models.settings import JudgeSettings
from models.work import gather_or_cancel
from schemas.evidence import SelfTestFigure

_RETRY_SECONDS = 60.0
_RESPONSES = frozenset({ClaimKind.SUMMARY, ClaimKind.ANSWER})
_OF_NO_TEXT = frozenset({ClaimKind.CRITERION, ClaimKind.STATEMENT, ClaimKind.QUESTION})
"""Kinds of claims that may be compared with an empty text."""

_LOG = structlog.get_logger(__name__)


class PromptedJudge:
    """Grades by asking a chat model; belongs to one event loop.

    Whether passages support a response is asked in the form of the settings, or the one that the self-test chooses.
    """

    def __init__(self, model: Model, settings: JudgeSettings, *, other_than: "PromptedJudge | None" = None) -> None:
        """`other_than` is a judge whose form is not to be used."""
        self.model, self.name = model, model.name
        self.version = ""
        """Form, prompts and threshold, as verdicts' digests have them; empty while they are not known."""
        self.self_test: SelfTestFigure | None = None
        """The accuracy in the form that is used; None before the self-test, and where none is needed."""
        self.pace: float | None = None
        """Records a second, a few at once, by the self-test."""
        names: tuple[FormName, ...] = ("short", "list") if settings.form == "auto" else (settings.form,)
        self.forms = tuple(Form(name, model) for name in names)
        """Those that the settings allow."""
        self._settings, self._other_than = settings, other_than
        self._matcher = Matcher(model.name, self._asked)
        self._test = kept_test(self.forms)
        self._form: Form | None = None
        is_pinned = settings.form != "auto" and settings.threshold is not None and not settings.require_self_test
        # A recording has a self-test's answers only if that was run meanwhile, and who sets the form wants none.
        self._is_tested = not is_pinned and settings.backend != "replay"
        if other_than is not None:
            return
        if known := None if is_pinned else self._test.read():
            self._choose(known)
        elif not self._is_tested:
            self._ask_in(self.forms[0], settings.threshold or 0.0)

    def in_another_form(self) -> "PromptedJudge":
        """The same model, asked sentence by sentence if this one asks for lists, else for lists."""
        return PromptedJudge(self.model, self._settings, other_than=self)

    def through(self, model: Model) -> "PromptedJudge":
        """The same judge, asking `model`, which wraps its own."""
        return PromptedJudge(model, self._settings)

    async def close(self) -> None:
        await self._matcher.close()
        await self.model.close()

    async def grade(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        """A grade for each sentence of each of `claims`; raises as `Form.supports` and `ready` do."""
        if any(not one.reference.strip() and one.kind not in _OF_NO_TEXT for one in claims):
            raise ModelFailed("the text to hold the claims against is empty", cause="judge_failed")
        form = await self.ready()
        if self._is_tested and claims and all(one.kind is ClaimKind.MATCH for one in claims):
            return await self._matcher.grade(task, claims)
        grades = [form.grade(task, one) if one.kind in _RESPONSES else self._grade(task, one) for one in claims]
        return Answer(tuple(await gather_or_cancel(grades)))

    async def _asked(self, task: str, claims: Sequence[Claims]) -> Answer[Grades]:
        return Answer(tuple(await gather_or_cancel(self._grade(task, one) for one in claims)))

    async def _grade(self, task: str, claims: Claims) -> tuple[Judgement, ...]:
        """Grade what is asked in no form: a question for each sentence."""
        questions = [QUESTIONS.about(task, claims, sentence) for sentence in claims.sentences]
        if claims.kind is ClaimKind.PARAPHRASE:
            # Each sentence must follow from the reference, and the reference from all of them.
            questions.append(QUESTIONS.word("entails", task, {"first": claims.whole, "second": claims.reference}))
        odds = await each_odds(self.model, questions)
        back = odds[len(claims.sentences) :] or [math.inf]
        return tuple(Support(min(one, *back)).judgement for one in odds[: len(claims.sentences)])

    async def ready(self) -> Form:
        """The form to ask in, found by the self-test if it has to be run.

        Raises ModelUnavailable if the endpoint is down, or if the self-test is required and the judge failed it.
        """
        if self._other_than is not None:
            name: FormName = "list" if (await self._other_than.ready()).name == "short" else "short"
            return self._form or self._ask_in(Form(name, self.model), 0.0)
        if (form := self._form) is None:
            results = await self._test.result(self._run)
            form = self._form or self._choose(results)  # others may have waited for it
        figure = self.self_test
        if self._settings.require_self_test and figure is not None and figure.accuracy < GOOD_ENOUGH:
            right = f"{self.name} was right on {figure.accuracy:.0%} of its self-test, below {GOOD_ENOUGH:.0%}"
            said = f"{right}, and judge.require_self_test is set (`assay judge check` shows what it fails on)"
            raise ModelUnavailable(said, retry_after=_RETRY_SECONDS, misconfigured=True)
        return form

    async def _run(self) -> tuple[list[FormResult], bool]:
        _LOG.info("self_test_started", model=self.name)
        return await self_test.run(self.forms, self_test.pairs()), True

    def _choose(self, results: Sequence[FormResult]) -> Form:
        """Ask in the best of the forms that were tested."""
        result, threshold = best_of(results), self._settings.threshold
        self.self_test, self.pace = result.figure, result.pace
        log = _LOG.info if result.accuracy >= GOOD_ENOUGH else _LOG.warning
        pace = result.pace and round(result.pace, 2)
        log("self_test", model=self.name, **result.figure.model_dump(), records_a_second=pace, fails_on=result.failed)
        form = next(one for one in self.forms if one.name == result.form)
        return self._ask_in(form, result.threshold if threshold is None else threshold)

    def _ask_in(self, form: Form, threshold: float) -> Form:
        self._form = form = replace(form, threshold=threshold)
        self.version = f"{form.name} {QUESTIONS.digest} {form.threshold:g}"
        return form
