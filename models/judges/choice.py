"""The form in which a judge is asked: the settings' own, or the one that its self-test chose."""

import asyncio
from contextvars import Context
from typing import cast

import structlog

from models.judges import self_test
from models.judges.forms import Form, FormName
from models.judges.questions import JudgeQuestions
from models.judges.self_test import GOOD_ENOUGH, FormResult, SelfTest, best_of
from models.protocol import Model, ModelUnavailable
from models.settings import JudgeSettings
from models.worktime import Phase
from schemas.evidence import SelfTestFigure

_RETRY_SECONDS = 60.0

_LOG = structlog.get_logger(__name__)


class ChosenForm:
    """Belongs to one judge and event loop. The self-test is run with the first claims, unless it is on file."""

    def __init__(self, model: Model, questions: JudgeQuestions, settings: JudgeSettings) -> None:
        self._model, self._questions, self._settings = model, questions, settings
        self._running: asyncio.Task[SelfTest] | None = None
        self._form: Form | None = None
        self.result: FormResult | None = None
        """The outcomes in the form that is used; None before the test, and where none is needed."""
        if settings.is_pinned:
            self._use(settings.form, settings.threshold or 0.0)  # type: ignore[arg-type]
            return
        known = self_test.kept(model.name, questions)
        if (known is None or not self._take(known)) and settings.backend == "replay":
            # A recording has a self-test's answers only if that was run meanwhile.
            self._use("short" if settings.form == "auto" else settings.form, settings.threshold or 0.0)

    @property
    def figure(self) -> SelfTestFigure | None:
        """The accuracy in the form that is used."""
        result = self.result
        if result is None:
            return None
        return SelfTestFigure(form=result.form, accuracy=round(result.accuracy, 3), pairs=len(result.outcomes))

    @property
    def pace(self) -> float | None:
        """Records a second, by the self-test."""
        return None if self.result is None else self.result.pace

    @property
    def version(self) -> str:
        """Form, prompts and threshold, as verdicts' digests have them; empty while they are not known."""
        form = self._form
        return "" if form is None else f"{form.name} {self._questions.digest} {form.threshold:g}"

    async def form(self) -> Form:
        """The form to ask in.

        Raises:
            ModelUnavailable: the self-test cannot be run now, or the judge failed it and `require_self_test` is set.
        """
        if self._form is None:
            with Phase("waits"):
                await self._tested()
        if self._form is None:
            raise RuntimeError("a self-test ended without a form")
        accuracy = None if self.result is None else self.result.accuracy
        if self._settings.require_self_test and accuracy is not None and accuracy < GOOD_ENOUGH:
            raise ModelUnavailable(refusal(self._model.name, accuracy), retry_after=_RETRY_SECONDS, misconfigured=True)
        return self._form

    async def other_form(self) -> Form:
        """The list form if sentences are asked about one by one, else the short form; its threshold is one half."""
        name: FormName = "list" if (await self.form()).name == "short" else "short"
        return Form(name, 0.0, self._model, self._questions)

    def through(self, model: Model) -> "ChosenForm":
        """The same choice for a model that wraps this one."""
        return ChosenForm(model, self._questions, self._settings)

    async def _tested(self) -> None:
        if self._running is None:
            # What it costs is on nobody's bill, and takes of nobody's time.
            self._running = asyncio.get_running_loop().create_task(self._test(), context=Context())
        try:
            test = await asyncio.shield(self._running)
        except ModelUnavailable:
            self._running = None
            raise
        if self._form is None:
            self._take(test)

    async def _test(self) -> SelfTest:
        name, forms = self._model.name, forms_of(self._settings)
        async with self_test.alone(name, self._questions):
            known = self_test.kept(name, self._questions)
            if known is not None and any(one.form in forms for one in known.results):
                # Another process ran it meanwhile: with their own thresholds, their verdicts would differ.
                return known
            _LOG.info("self_test_started", model=name)
            test = await self_test.run(self._model, self._questions, forms=forms, asked=self_test.pairs())
            self_test.keep(test, self._questions)
            return test

    def _take(self, test: SelfTest) -> bool:
        """Ask in the best of the forms that the settings allow; returns False if the test has none of them."""
        allowed = [one for one in test.results if one.form in forms_of(self._settings)]
        if not allowed:
            return False
        result = self.result = best_of(allowed)
        threshold = self._settings.threshold
        self._use(cast("FormName", result.form), result.threshold if threshold is None else threshold)
        weak = ", ".join(kind for kind, (right, count) in result.by_kind().items() if right <= count / 2)
        figures = {"accuracy": round(result.accuracy, 3), "pairs": len(result.outcomes)}
        log = _LOG.info if result.accuracy >= GOOD_ENOUGH else _LOG.warning
        pace = result.pace and round(result.pace, 2)
        log("self_test", model=test.model, form=result.form, **figures, records_a_second=pace, fails_on=weak)
        return True

    def _use(self, name: FormName, threshold: float) -> None:
        self._form = Form(name, threshold, self._model, self._questions)


def forms_of(settings: JudgeSettings) -> tuple[FormName, ...]:
    """The forms that a self-test tries."""
    return ("short", "list") if settings.form == "auto" else (settings.form,)


def refusal(model: str, accuracy: float) -> str:
    """The words about a judge that is not believed."""
    return (
        f"{model} was right on {accuracy:.0%} of its self-test, below {GOOD_ENOUGH:.0%}, and judge.require_self_test "
        "is set (`assay judge check` shows what it fails on)"
    )
