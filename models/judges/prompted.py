"""The judge behind an endpoint: each kind of claim is a short question, and the words' probabilities are the grades.

Whether passages support a response is asked in one of three forms: a word a sentence, a list, or the paper's list.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from typing import Literal

import structlog

from models import prompts, protocol
from models.judges import self_test
from models.judges.self_test import GOOD_ENOUGH, FormResult, Matcher, best_of, kept_test
from models.prompts import QUESTIONS
from models.protocol import Answer, ClaimKind, Claims, Grades, Judgement, Model, ModelFailed, Question, YesNo
from models.settings import JudgeSettings
from models.wording import pieces_of
from models.work import gather_or_cancel
from schemas.evidence import SelfTestFigure

Asked = Mapping[int, str]  # sentences by number: from 1 those of the answer; 0 is another one, after the same prefix
FormName = Literal["short", "list", "paper"]

_SHORT_ANSWER = 3  # sentences of an answer that is asked about as a whole
_AT_ONCE = 7  # sentences of a call: a model of 20 tokens a second answers within the time limit of a request
_SHOWN = 4000  # characters of an answer that are shown with each of its sentences; else those around the sentence
_BEFORE = 5  # sentences: so far back a pronoun reaches
_LEAST_PIECE = 500  # characters of passages below which a question about them makes no sense
_NARROWER = 0.9
_TOO_MUCH_AT_ONCE = frozenset({"judge_slow", "judge_cut_off"})
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"\w+")
_RETRY_SECONDS = 60.0
_RESPONSES = frozenset({ClaimKind.SUMMARY, ClaimKind.ANSWER})
_OF_NO_TEXT = frozenset({ClaimKind.CRITERION, ClaimKind.STATEMENT, ClaimKind.QUESTION})  # may have no reference
_LOG = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Support:
    """Support of a sentence by passages."""

    odds: float  # log-odds of a yes, above the form's threshold: 0 or more if it is supported
    reason: str | None = None
    claims_nothing: bool = False

    @property
    def judgement(self) -> Judgement:
        """The grade; its support is 0 to 1, from one half on supported."""
        if self.claims_nothing:
            return protocol.NO_CLAIM
        degree, finds = round((1 + math.tanh(self.odds / 2)) / 2, 6), "finds" if self.odds >= 0 else "does not find"
        return Judgement(degree, self.reason or f"the judge {finds} it supported (probability {degree:.2f})", None)


async def each_odds(model: Model, questions: Iterable[Question[YesNo]]) -> list[float]:
    return [protocol.odds_of(answer) for answer in await gather_or_cancel(map(model.ask, questions))]


@dataclass
class Form:
    """A model that is asked in one form.

    `short`: a sentence a call, one word out; a short answer as a whole. `list`: several sentences a call, a verdict
    each. `paper`: DCR, a reason before each verdict (DCE), and the verdict read off the reason by a further call (AMC).
    """

    name: FormName
    model: Model
    threshold: float = 0.0  # log-odds of a yes from which on a sentence is supported; the paper's form has none
    _at_most: int = field(default=_AT_ONCE, init=False)

    async def grade(self, task: str, claims: Claims) -> tuple[Judgement, ...]:
        """The grades of a response's sentences; raises as `supports`."""
        supports = await self.corrected(task, claims, await self.supports(task, claims))
        misled = any(one.odds >= 0 for one in supports) and await self._is_misled(task, claims, supports)
        reasoned = await gather_or_cancel(map(partial(self._reasoned, task, claims), claims.sentences, supports))
        return tuple(replace(one.judgement, misled=misled and not one.claims_nothing) for one in reasoned)

    async def supports(self, task: str, claims: Claims, asked: Asked | None = None) -> list[Support]:
        """The support of each sentence, or of those that are asked about, by the claims' passages alone.

        Passages that are too long are asked about in pieces, of which the best one counts. Lists are asked about in
        parts of about the same size, as few as possible. What an answer lacks is asked about again; without an answer
        in time, or without one entry before the token limit, in two halves.

        Raises what `Model.ask` raises; `too_long` if one sentence with a piece of the passages is more than it takes.
        """
        about = dict(enumerate(claims.sentences, start=1)) if asked is None else asked
        forms = {"short": self._by_words, "list": self._by_list, "paper": self._by_reasons}
        ask = self._by_answers if claims.kind is ClaimKind.ANSWERABILITY else forms[self.name]
        found: dict[int, Support] = {}
        parts = 1 if self.name == "short" else -(-len(about) // self._at_most)
        if parts == 1:
            try:
                given = await ask(task, claims, about)
                found = {number: given[number] for number in about if number in given}
            except protocol.WindowExceeded as refusal:
                pieces = [replace(claims, reference=one) for one in _pieces(claims.reference, refusal)]
                each = await gather_or_cancel(self.supports(task, one, about) for one in pieces)
                return [max(one, key=lambda support: support.odds) for one in zip(*each, strict=True)]
            except ModelFailed as failure:
                too_much = failure.cause in _TOO_MUCH_AT_ONCE and failure.begun
                if self.name == "short" or not too_much or len(about) == 1:
                    raise
                if failure.cause == "judge_slow":  # so are those of other responses
                    self._at_most = min(self._at_most, -(-len(about) // 2))
            if not found and len(about) == 1:
                raise ModelFailed(f"no entry about number {min(about)}, asked about alone", cause="judge_unusable")
            parts = 1 if found else 2
        missing = [number for number in about if number not in found]
        bounds = [len(missing) * part // parts for part in range(parts + 1)] if missing else []
        more = [{number: about[number] for number in missing[start:end]} for start, end in pairwise(bounds)]
        rest = await gather_or_cancel(self.supports(task, claims, one) for one in more)
        found.update(zip(missing, chain(*rest), strict=True))
        return [found[number] for number in about]

    async def odds(self, claims: Claims, threshold: float | None) -> float | None:
        """For the self-test: the least of the sentences that claim something; without a `threshold`, as they are."""
        self.threshold = threshold or 0.0
        try:
            found = await self.supports(self_test.TASK, claims)
            if threshold is not None:
                found = await self.corrected(self_test.TASK, claims, found)
        except ModelFailed:
            return None
        return min((one.odds for one in found if not one.claims_nothing), default=None)

    async def _by_words(self, task: str, claims: Claims, asked: Asked) -> dict[int, Support]:
        whole = None
        if 0 not in asked and len(asked) <= _SHORT_ANSWER:
            answer = await self.model.ask(QUESTIONS.supported(task, claims, claims.whole))
            whole = protocol.odds_of(answer) - self.threshold
            if whole >= 0 or len(asked) == 1:
                return dict.fromkeys(asked, Support(whole))
        shown = dict.fromkeys(asked, claims.whole)
        if len(claims.whole) > _SHOWN:
            shown = {number: " ".join(claims.sentences[max(number - 1 - _BEFORE, 0) : number + 1]) for number in asked}
        questions = [QUESTIONS.supported(task, claims, shown[number], one) for number, one in asked.items()]
        # The first goes ahead: endpoints that cache prefixes then know what the others share.
        found = [*await each_odds(self.model, questions[:1]), *await each_odds(self.model, questions[1:])]
        each = [odds - self.threshold for odds in found]
        if whole is not None:
            # The answer as a whole decides: the least of its sentences has no higher support.
            each[each.index(min(each))] = min(*each, whole)
        return dict(zip(asked, map(Support, each), strict=True))

    async def _by_list(self, task: str, claims: Claims, asked: Asked) -> dict[int, Support]:
        texts, reply = prompts.numbered(claims, asked), prompts.SentenceVerdicts
        answer = await self.model.ask(QUESTIONS.verdicts("supported_list", task, reply, texts, asked))
        verdicts = answer.reply.verdicts
        odds = map(protocol.logit, answer.probabilities or [float(one.supported) for one in verdicts])
        return {one.number: Support(value - self.threshold) for one, value in zip(verdicts, odds, strict=True)}

    async def _by_reasons(self, task: str, claims: Claims, asked: Asked) -> dict[int, Support]:
        # DCE (paper, section 3.1): a reason and a verdict for each sentence.
        texts, reply = prompts.numbered(claims, asked), prompts.ReasonedVerdicts
        noted = await self.model.ask(QUESTIONS.verdicts("supported_paper", task, reply, texts, asked))
        reasons = {one.number: one.reason for one in noted.reply.verdicts if one.number in asked}
        # AMC (section 3.2): for each reason whether its sentence is supported by it.
        listed = prompts.as_list([{"number": number, "reason": reason} for number, reason in reasons.items()])
        read = await self.model.ask(QUESTIONS.verdicts("convert", task, reply, {"reasons": listed}, reasons))
        marks = {one.number: protocol.logit(float(one.supported)) for one in read.reply.verdicts}
        return {number: Support(marks[number], reason) for number, reason in reasons.items() if number in marks}

    async def _by_answers(self, task: str, claims: Claims, asked: Asked) -> dict[int, Support]:
        found = await each_odds(self.model, (QUESTIONS.about(task, claims, question) for question in asked.values()))
        return dict(zip(asked, map(Support, found), strict=True))

    async def corrected(self, task: str, claims: Claims, supports: list[Support]) -> list[Support]:
        """The supports, corrected for a refusal, and for sentences that claim nothing.

        "I cannot answer that" is never supported. As a whole answer to a question it is right if the passages do not
        hold the answer; a sentence of a longer answer that gives no information counts for nothing.
        """
        unsupported = [sentence for sentence, one in zip(claims.sentences, supports, strict=True) if one.odds < 0]
        if not unsupported:
            return supports
        if len(supports) <= _SHORT_ANSWER and claims.prompt:
            # No refusal needs a figure that neither question nor passages have.
            figures, known = map(_FIGURE.findall, (claims.whole, f"{claims.prompt} {claims.reference}"))
            if not set(figures) <= set(known) or await self._informing(task, claims, [claims.whole]):
                return supports
            # A sentence may say of another, to the judge, that it tells nothing: a refusal is one sentence by sentence.
            if len(supports) == 1 or not await self._informing(task, claims, claims.sentences):
                question = replace(claims, kind=ClaimKind.ANSWERABILITY)
                (holds,) = await self.supports(task, question, {1: claims.prompt})
                return [Support(-holds.odds)] * len(supports)
        informing = await self._informing(task, claims, unsupported)
        return [
            one if one.odds >= 0 or sentence in informing else replace(one, claims_nothing=True)
            for sentence, one in zip(claims.sentences, supports, strict=True)
        ]

    async def _informing(self, task: str, claims: Claims, texts: Sequence[str]) -> list[str]:
        """Those of the texts that give information."""
        question = claims.prompt or prompts.UNKNOWN_QUESTION
        asked = [QUESTIONS.word("informs", task, {"question": question, "answer": text}) for text in texts]
        return [text for text, odds in zip(texts, await each_odds(self.model, asked), strict=True) if odds >= 0]

    async def _is_misled(self, task: str, claims: Claims, supports: Sequence[Support]) -> bool:
        """True if three sentences that are false for certain are called supported, too, or to give no information."""
        counts_out = any(one.claims_nothing for one in supports)
        for control in prompts.control_sentences(claims.sentences, claims.reference, claims.whole):
            (found,) = await self.supports(task, claims, {0: control})
            if found.odds < 0 and (not counts_out or await self._informing(task, claims, [control])):
                return False
        return True

    async def _reasoned(self, task: str, claims: Claims, sentence: str, support: Support) -> Support:
        """With what is wrong with a sentence that is not supported, if the model says something usable."""
        if support.odds < 0 and support.reason is None and not support.claims_nothing:
            with suppress(ModelFailed):  # the verdict does not need it
                reason = (await self.model.ask(QUESTIONS.reason(task, claims.reference, sentence))).reply.reason
                if _says_something(reason, sentence, claims.reference):
                    return replace(support, reason=reason)
        return support


def _pieces(text: str, refusal: protocol.WindowExceeded) -> list[str]:
    """The text in pieces of which none is refused; raises ModelFailed if there is no room for any."""
    # Unless it is refused again, the window is known to the character.
    room = int(min(len(text) * _NARROWER, len(text) - (refusal.asked - refusal.characters)))
    if room < min(_LEAST_PIECE, len(text)):
        raise ModelFailed(refusal.detail, cause="too_long") from None
    return pieces_of(text, room)


def _says_something(reason: str, sentence: str, passages: str) -> bool:
    """False for a reason that repeats the sentence, or whose figures are none of the passages'."""
    words = [word.casefold() for word in _WORD.findall(reason)]
    if not words or " ".join(words) in " ".join(word.casefold() for word in _WORD.findall(sentence)):
        return False
    figures, known = set(_FIGURE.findall(reason)), set(_FIGURE.findall(passages))
    return not figures or bool(figures & known)


class PromptedJudge:
    """Grades by asking a chat model, in the form that settings or self-test choose; belongs to one event loop."""

    def __init__(self, model: Model, settings: JudgeSettings, *, other_than: "PromptedJudge | None" = None) -> None:
        """`other_than` is a judge whose form is not to be used."""
        self.model, self.name = model, model.name
        self.version = ""  # form, prompts and threshold, once they are known
        self.self_test: SelfTestFigure | None = None
        self.pace: float | None = None  # records a second, a few at once, by the self-test
        names: tuple[FormName, ...] = ("short", "list") if settings.form == "auto" else (settings.form,)
        self.forms: dict[str, Form] = {name: Form(name, model) for name in names}
        self._settings, self._other_than = settings, other_than
        self._matcher = Matcher(model.name, self._asked)
        self._test = kept_test(model.name, names)
        self._form: Form | None = None
        is_pinned = settings.form != "auto" and settings.threshold is not None and not settings.require_self_test
        # A recording has a self-test's answers only if that was run meanwhile, and who sets the form wants none.
        self._is_tested = not is_pinned and settings.backend != "replay"
        if other_than is not None:
            return
        if known := None if is_pinned else self._test.read():
            self._choose(known)
        elif not self._is_tested:
            self._ask_in(self.forms[names[0]], settings.threshold or 0.0)

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
        return await self._asked(task, claims, form)

    async def _asked(self, task: str, claims: Sequence[Claims], form: Form | None = None) -> Answer[Grades]:
        grades = (
            form.grade(task, one) if form and one.kind in _RESPONSES else self._grade(task, one) for one in claims
        )
        return Answer(tuple(await gather_or_cancel(grades)))

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
            raise protocol.ModelUnavailable(said, retry_after=_RETRY_SECONDS, misconfigured=True)
        return form

    async def _run(self) -> tuple[list[FormResult], bool]:
        _LOG.info("self_test_started", model=self.name)
        return await self_test.run({name: form.odds for name, form in self.forms.items()}, self_test.pairs()), True

    def _choose(self, results: Sequence[FormResult]) -> Form:
        """Ask in the best of the forms that were tested."""
        result, threshold = best_of(results), self._settings.threshold
        figure = SelfTestFigure(form=result.form, accuracy=round(result.accuracy, 3), pairs=len(result.outcomes))
        self.self_test, self.pace, pace = figure, result.pace, result.pace and round(result.pace, 2)
        log = _LOG.info if result.accuracy >= GOOD_ENOUGH else _LOG.warning
        log("self_test", model=self.name, **figure.model_dump(), records_a_second=pace, fails_on=result.failed)
        return self._ask_in(self.forms[result.form], result.threshold if threshold is None else threshold)

    def _ask_in(self, form: Form, threshold: float) -> Form:
        self._form = form = replace(form, threshold=threshold)
        self.version = f"{form.name} {QUESTIONS.digest} {form.threshold:g}"
        return form
