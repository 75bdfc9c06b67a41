"""A criterion in a user's own words: its section, its labelled examples, and the checker that asks it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import Field, JsonValue, field_validator, model_validator

from checkers.checker import MISLED, OPERATIONAL, Checker, Decision, Models, ScoringSettings, Undecidable
from checkers.draws import generator
from checkers.lines import read_forms
from models.prompts import PromptSet, before_answer, behind
from models.protocol import SUPPORTED, ClaimKind, Claims, ModelFailed, Question, Reply
from models.wording import on_a_line
from schemas import CriterionEvidence, Generation
from schemas.base import Name, Text
from schemas.records import MOST_TURNS

YesOrNo: TypeAlias = Literal["yes", "no"]
Label: TypeAlias = Literal["accept", "reject"]

_EXAMPLE = 'example: {"prompt": ..., "response": ..., "label": "accept" or "reject", "words": ...}'
_MOST_SHOWN = 4
"""Of each label. More cost more than they bring."""
_MOST_CHARACTERS = 2000
"""Of an example that is shown, as JSON: each question costs its tokens."""
_SHOWN = 240
_MOST_QUOTED = 600
_WORDS_TOKENS = 200
_CONTROLS = 3


class CriterionSettings(ScoringSettings):
    """A criterion of yours, and a checker with this name: a yes-or-no question about each response."""

    ask: Annotated[str, Field(max_length=1000)]
    """The question about "the answer", on one line."""
    reject_if: YesOrNo
    """The reply on which a response is rejected."""
    unit: Literal["record", "conversation"] = "record"
    """Ask about each record, or about the last 20 turns of each conversation once, when its `session` is silent for
    half an hour."""
    examples: Annotated[Path | None, OPERATIONAL] = None
    """File of JSON lines: records with `label` (`accept` or `reject`) and, if rejected, `words`, the words at fault."""

    @field_validator("ask")
    @classmethod
    def _on_a_line(cls, value: str) -> str:
        if len(value.splitlines()) != 1 or not value.strip():
            raise ValueError("should be a question on one line")
        return value.strip()


class Example(Generation):
    """A record, and what its writer says of it."""

    kind: Literal["generation"] = "generation"
    source: Name = "examples"
    model: Name = "examples"
    label: Label
    words: Text | None = None
    """The words at fault, which stand in the response."""

    @model_validator(mode="after")
    def _quoted(self) -> Self:
        if self.words is not None and (self.words not in self.response or not self.words.strip()):
            raise ValueError("the words do not stand in the response")
        return self


class Words(Reply):
    """Words at fault, or an answer; empty if there are none."""

    words: Text


class CriterionQuestions(PromptSet):
    """What a writer is asked: to `quote` the words at fault, or to `make` an answer that gets the other reply."""

    package = "checkers.criteria.prompts"

    def words(
        self, name: Literal["quote", "make"], reply: YesOrNo, claims: Claims, known: Iterable[tuple[Claims, str]] = ()
    ) -> Question[Words]:
        """Words that show, or bring about, this reply to the question; behind answers whose words are known."""

        def turn(about: Claims) -> Question[Words]:
            own = {"asked": about.sentences[0], "reply": reply, "before": before_answer(about)}
            texts = {"answer": about.whole}
            return self._question(name, f"criteria.{name}", Words, texts, own, written=30, max_tokens=_WORDS_TOKENS)

        return behind(turn(claims), ((turn(one), Words(words=words).model_dump_json()) for one, words in known))


class CriterionChecker(Checker[CriterionSettings]):
    """Decides whether a `generation` keeps a criterion. Each criterion is a subclass with its name."""

    name = "criteria"
    answers_questions = True

    def __init__(self, settings: CriterionSettings, models: Models) -> None:
        """Raises ValueError if the file of examples cannot be used."""
        super().__init__(settings, models)
        self.examples = tuple(read_forms(Example, settings.examples, _EXAMPLE)) if settings.examples else ()
        self._short = [one for one in self.examples if len(one.model_dump_json()) <= _MOST_CHARACTERS]
        self.turns = MOST_TURNS if settings.unit == "conversation" else 0
        self._accepting: YesOrNo = "no" if settings.reject_if == "yes" else "yes"
        self._questions = CriterionQuestions()

    def fingerprint(self) -> JsonValue:
        """The examples that are shown, and the prompts."""
        return [*(one.model_dump(mode="json", exclude_unset=True) for one in self.shown()), self._questions.digest]

    def shown(self, but: Generation | None = None) -> list[Example]:
        """The examples that the judge is shown: the first short ones of each label in turns, without `but`."""
        short = [one for one in self._short if one is not but]
        sides = ([one for one in short if one.label == label][:_MOST_SHOWN] for label in get_args(Label))
        # As many of each: a judge leans to what it has seen more often.
        return list(chain.from_iterable(zip(*sides, strict=False)))

    async def decide(self, record: Generation) -> Decision:
        """The judge's answer, and of a rejected response the words at fault."""
        if not record.response.strip():
            raise Undecidable("empty_response", "the response is empty")
        settings, thresholds, shown = self.settings, self.settings.thresholds, self.shown(but=record)
        score = await self.support(settings.ask, record, shown)
        accepted = thresholds.accepts(score) if thresholds.are_set else score >= SUPPORTED
        if accepted is None:
            raise Undecidable("between_thresholds", thresholds.between(score), score=score)
        if accepted and await self._is_misled(record):
            raise Undecidable("judge_misled", MISLED, score=score)
        quote = None if accepted else await self._quote(record, shown)
        evidence = CriterionEvidence(
            ask=settings.ask,
            reject_if=settings.reject_if,
            quote=quote,
            accept_from=thresholds.accept_from,
            reject_below=thresholds.reject_below,
            judge_version=self.judge.version,
        )
        # The fault first: lists cut what comes late.
        fault = f"“{on_a_line(quote, _SHOWN)}” " if quote else ""
        reply = self._accepting if accepted else settings.reject_if
        reason = f"{fault}{on_a_line(settings.ask, _SHOWN)} {reply.capitalize()}."
        return Decision(accepted=accepted, score=score, reason=reason, evidence=evidence)

    async def support(self, question: str, record: Generation, shown: Sequence[Example] = ()) -> float:
        """The judge's probability of the accepting reply, behind these worked examples; raises as `Judge.grade`."""
        yes_accepts = self._accepting == "yes"
        worked = tuple((_claims(one, question), (one.label == "accept") is yes_accepts) for one in shown)
        claims = replace(_claims(record, question), examples=worked)
        ((grade,),) = (await self.judge.grade(f"criteria.{self.name}", [claims])).reply
        return grade.support if yes_accepts else round(1 - grade.support, 6)

    async def to_try(self) -> list[tuple[Example, Label]]:
        """The examples, and answers that are made of them to break and to keep the criterion."""
        found: list[tuple[Example, Label]] = [(one, one.label) for one in self.examples]
        for one in self.shown() or [Example(response="I cannot say.", label=label) for label in get_args(Label)]:
            kept = one.label == "reject"
            reply = self._accepting if kept else self.settings.reject_if
            if words := await self._written(self._questions.words("make", reply, _claims(one, self.settings.ask))):
                made = one.model_copy(update={"source": "made", "response": words})
                found.append((made, "accept" if kept else "reject"))
        return found

    async def _quote(self, record: Generation, shown: Sequence[Example]) -> str | None:
        """The words at fault; None if the writer names none that stand in the response."""
        ask, reply = self.settings.ask, self.settings.reject_if
        known = [(_claims(one, ask), one.words) for one in shown if one.label == "reject" and one.words]
        words = (await self._written(self._questions.words("quote", reply, _claims(record, ask), known))).split()
        # Models break lines elsewhere; nothing else may differ.
        place = re.search(r"\s+".join(map(re.escape, words)), record.response) if words else None
        return place[0] if place and len(place[0]) <= _MOST_QUOTED else None

    async def _written(self, question: Question[Words]) -> str:
        """The writer's words; none if it gives none that can be used, or there is no writer: no verdict needs them."""
        try:
            return (await self.models.writer.ask(question)).reply.words if self.models.writer else ""
        except ModelFailed:
            return ""

    async def _is_misled(self, record: Generation) -> bool:
        """True if control questions get the accepting reply, too, which is wrong of all of them."""
        drawn = generator(record.response, "control")
        words = ["".join(drawn.choices(ascii_lowercase, k=10)) for _ in range(_CONTROLS)]
        if self._accepting == "no":
            # A single word of the text can instruct nobody.
            words = re.findall(r"\w+", record.response) or record.response.split()
        for word in drawn.sample(words, min(_CONTROLS, len(words))):
            if await self.support(f"Does the answer contain the word “{word[:40]}”?", record) < SUPPORTED:
                return False
        return True


def _claims(record: Generation, asked: str) -> Claims:
    """A yes-or-no question about a record's response, with whatever that may draw on."""
    passages = "\n\n".join(text for text in (*record.contexts, record.reference or "") if text.strip())
    return Claims(passages, (asked,), ClaimKind.QUESTION, record.prompt, text=record.response)
