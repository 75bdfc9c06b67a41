"""DCE, the divide-conquer evaluator: an opinion on every sentence (paper, section 3.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from checkers.consistency.calls import CallSize, cover, parts_of, per_call
from checkers.consistency.entries import TOKENS_AN_ENTRY, ConsistencyQuestions, Entries, Entry
from checkers.consistency.material import CheckedResponse, NumberedResponse
from checkers.consistency.pieces import Piece, pieces_of
from models.claims import Judgement
from models.concurrent import gather_or_cancel
from models.protocol import Answer, Grader, Model, ModelFailed, Question, WindowExceeded, grader_of

_WHOLE = 0
"""The number of entries that judge the response as a whole (paper, appendix A.4)."""
AT_ONCE = 7
"""Sentences of a call: a model of 20 tokens a second answers within the 20 s of a request."""
_SHOWN_WHOLE = 50
"""Sentences of a response that every call shows all of; of a longer one it would be read too often."""
_LEFT_FOR_REFERENCE = 1 / 4
"""Share of a window, at least."""
_WORTH_CACHING = 4000
"""Characters of a reference, about the least that endpoints cache."""
_GROWN = 1.1
"""Times as many characters are worth cutting the reference anew."""
_SHRINK = 0.9
"""A window whose size turns out to be too large is taken to be smaller by this, or by more if the judge says so."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judge's word on a sentence, on an aspect of it, or on the response as a whole."""

    reason: str
    consistent: bool | None
    """None: it claims nothing."""
    told_by: Literal["boolean", "asked", "graded"] = "boolean"
    """The source of the decision: the boolean beside the reason, AMC, or a judge that grades."""
    support: float | None = None
    """0 to 1: the grade, or how probable the boolean's `true` was; None where the judge tells neither."""
    passage: str | None = None
    overruled: bool = False
    """True if AMC turned the judge's boolean."""
    unsure: bool = False
    """True if a judge that grades does not decide by this grade."""


@dataclass(slots=True)
class Evaluation:
    """The judge's word on the sentences, held against one piece of the reference, as its answers come in."""

    piece: Piece
    opinions: dict[int, list[Opinion]] = field(default_factory=dict)
    """Those about each sentence, by its number: several where the judge took it apart into aspects."""
    whole: list[Opinion] = field(default_factory=list)
    """About the response as a whole; they must not count as sentences."""
    again: set[int] = field(default_factory=set)
    """The numbers of sentences that were asked about more than once."""
    invented: int = 0
    """Entries with a number that was not asked about; they count for nothing."""
    misled: bool = False
    """True if the judge did not find a control sentence inconsistent. One that grades has none: no text can speak to
    it."""

    def take(self, answer: Answer[Entries], shown: NumberedResponse) -> list[int]:
        """Sort the entries by their numbers; returns those of the sentences that are to be asked about again."""
        own: dict[int, list[Opinion]] = {}
        of_control = []
        for entry, opinion in opinions_of(answer):
            if entry.number == shown.control:
                of_control.append(opinion.consistent)
            elif entry.number in shown.own:
                own.setdefault(shown.own[entry.number], []).append(opinion)
            elif entry.number != _WHOLE:
                self.invented += 1
            elif opinion.consistent is not None:
                self.whole.append(opinion)
        self.misled |= bool(of_control) and False not in of_control
        missing = [number for number in shown.own.values() if number not in own]
        self.again.update(missing)
        if not (of_control or missing):
            # Nothing shows by what the judge goes: a sentence is asked about once more, with a control sentence.
            missing = [next(iter(own))]
            del own[missing[0]]
        self.opinions.update(own)
        return missing


def opinions_of(answer: Answer[Entries]) -> Iterator[tuple[Entry, Opinion]]:
    """Each entry of an answer as an opinion, with the probability of its boolean where the endpoint gave them."""
    known = iter(answer.probabilities or ())
    for entry in answer.reply.entries:
        support = None if entry.consistent is None else next(known, None)
        yield entry, Opinion(entry.reason, entry.consistent, support=support)


class DivideConquerEvaluator:
    """Asks about a few sentences in a call, all calls side by side."""

    def __init__(self, judge: Model, questions: ConsistencyQuestions, *, language: str) -> None:
        self._judge = judge
        self._grader = grader_of(judge)
        self._questions = questions
        self._language = language
        self._size = CallSize(max(1, per_call(judge, AT_ONCE + 1, tokens_each=TOKENS_AN_ENTRY) - 1))

    async def evaluate(self, material: CheckedResponse) -> list[Evaluation]:
        """An opinion on every sentence, for each piece that the reference had to be cut into (mostly one).

        Raises:
            ModelFailed: the judge gave no usable answer, or none about some sentence, however often asked; `too_long`
                if a single sentence with a piece of the reference is more than it takes.
            ModelUnavailable: its endpoint is down.
        """
        if self._grader is not None:
            return [await self._graded(self._grader, material)]
        plan, window, is_certain = self._at_once(material), None, False
        while True:
            try:
                # The first call goes ahead of the others: endpoints that cache prefixes then know what they share, and
                # how many characters the window takes is known for certain.
                ahead = await self._ahead(material, plan)
                if window is not None and ahead is not None and not is_certain:
                    is_certain = True
                    learned = await self._window_of(material)
                    if learned is None or learned > window * _GROWN:
                        plan = self._at_once(material) if learned is None else self._within(learned, material)
                        window, ahead = learned, None
                return await gather_or_cancel(
                    self._against(material, plan, ahead if ahead and piece is ahead.piece else Evaluation(piece))
                    for piece in plan.pieces
                )
            except WindowExceeded as refusal:
                # A window that is known is told without a call, for this very text: nothing is to be remembered here.
                window = min(refusal.characters, int((window or refusal.characters / _SHRINK) * _SHRINK))
                plan = self._within(window, material)

    def _at_once(self, material: CheckedResponse) -> "_Plan":
        """The plan to ask a judge whose window takes the reference."""
        excerpt = len(material.sentences) > _SHOWN_WHOLE
        return _Plan([Piece(0, len(material.reference))], self._size.at_most, excerpt)

    def _within(self, window: int, material: CheckedResponse) -> "_Plan":
        """The plan to ask in at most `window` characters, with pieces of the reference, in the fewest calls."""
        needed = min(len(material.reference), int(window * _LEFT_FOR_REFERENCE))
        bare, whole = material.against(""), self._at_once(material)
        found: list[tuple[float, _Plan, int]] = []
        at_once, taken = whole.per_call, 0
        while at_once:
            for excerpt in sorted({whole.excerpt, True}):
                plan = _Plan([], at_once, excerpt)
                parts = parts_of(material.numbers, at_once)
                taken = max(_characters(self._question(bare, Piece(0, 0), part, plan)[0]) for part in parts)
                room = window - taken
                if room >= needed:
                    found.append((len(parts) * max(len(material.reference) / room, 1.0), plan, room))
            at_once //= 2
        if not found:
            detail = (
                f"a single sentence and the words about it are {taken} characters; of the {window} or so that the "
                "judge takes at once, too few are left for the reference"
            )
            raise ModelFailed(detail, cause="too_long")
        _, plan, room = min(found, key=lambda one: one[0])
        return replace(plan, pieces=pieces_of(material.reference, max(room, 1), language=self._language))

    async def _ahead(self, material: CheckedResponse, plan: "_Plan") -> Evaluation | None:
        """The answer to the first of several calls that share a long reference; None if nothing is asked ahead."""
        first, *others = parts_of(material.numbers, plan.per_call)
        if not (others or plan.pieces[1:]) or plan.pieces[0].end < _WORTH_CACHING:
            return None
        evaluation = Evaluation(plan.pieces[0])
        await self._ask_about(first, material, plan, evaluation)
        return evaluation

    async def _ask_about(
        self, numbers: Sequence[int], material: CheckedResponse, plan: "_Plan", evaluation: Evaluation
    ) -> None:
        async def ask(numbers: Sequence[int]) -> list[int]:
            question, shown = self._question(material, evaluation.piece, numbers, plan)
            return evaluation.take(await self._judge.ask(question), shown)

        await cover(numbers, ask, self._size)

    async def _window_of(self, material: CheckedResponse) -> int | None:
        """The characters that the judge takes by now, from its refusal of all at once, which costs no call."""
        whole = self._at_once(material)
        first = parts_of(material.numbers, whole.per_call)[0]
        try:
            await self._judge.ask(self._question(material, whole.pieces[0], first, whole)[0])
        except WindowExceeded as refusal:
            return refusal.characters
        return None

    async def _against(self, material: CheckedResponse, plan: "_Plan", evaluation: Evaluation) -> Evaluation:
        missing = [number for number in material.numbers if number not in evaluation.opinions]
        parts = parts_of(missing, plan.per_call)
        await gather_or_cancel(self._ask_about(part, material, plan, evaluation) for part in parts)
        return evaluation

    def _question(
        self, material: CheckedResponse, piece: Piece, numbers: Sequence[int], plan: "_Plan"
    ) -> tuple[Question[Entries], NumberedResponse]:
        if len(plan.pieces) > 1:
            material = material.against(material.reference[piece.start : piece.end])
        shown = material.numbered(numbers, excerpt=plan.excerpt)
        return self._questions.about(material, shown), shown

    async def _graded(self, grader: Grader, material: CheckedResponse) -> Evaluation:
        ((*grades,),) = (await grader.grade(f"consistency.{material.task}", [material.claims])).reply
        opinions = {number: [_opinion(grade)] for number, grade in enumerate(grades, start=1)}
        return Evaluation(Piece(0, len(material.reference)), opinions)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan by which sentences are put to the judge."""

    pieces: list[Piece]
    per_call: int
    excerpt: bool
    """True if only the part of the response around the sentences of a call is shown."""


def _characters(question: Question[Entries]) -> int:
    return sum(len(message.content) for message in question.messages)


def _opinion(grade: Judgement) -> Opinion:
    if grade.claims_nothing:
        return Opinion(grade.reason, None, told_by="graded")
    opening = f"This sentence is {'' if grade.supported else 'not '}consistent with the reference"
    return Opinion(
        f"{opening}: {grade.reason}",
        grade.supported,
        told_by="graded",
        support=grade.support,
        passage=grade.passage,
        unsure=grade.unsure,
    )
