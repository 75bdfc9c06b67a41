"""Text matching: whether a stored text entails the query, and the query the stored text; or answers it, if it asks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from checkers.estimate import Range, calls, certain
from models.claims import ClaimKind, Claims, Judgement
from models.prompts import Placeholders, Templates, as_list
from models.protocol import Judge, Question, grader_of, oracle_of
from models.text.questions import is_question
from schemas import DirectionFinding

Store = Literal["cache", "knowledge"]
Direction = Literal["text_to_query", "query_to_text"]

NEEDED: Mapping[Store, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""A cache must match the same question; for a knowledge store it is enough that the text entails the query, the order
that exposes deletions and missing evidence."""

_TOKENS_A_TEXT = 70
"""Of a reply: two reasons of a sentence each, and what is around them."""
_TOKENS_AN_ANSWER = 40

QUESTION = "question"
"""Name of the template for questions to a knowledge store."""

_QUERY: Mapping[str, str] = {**dict.fromkeys(get_args(Store), "query"), QUESTION: "question"}
"""What each template calls the query."""

_PLACEHOLDERS = {name: Placeholders((query, "texts"), ("count",), ("count",)) for name, query in _QUERY.items()}


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DirectionReply(_Reply):
    reason: str
    follows: bool


class StoredTextReply(_Reply):
    number: int
    """Its place in the list, from 1."""
    text_to_query: DirectionReply
    query_to_text: DirectionReply


class MatchingReply(_Reply):
    """The form of a judge's answer: an entry for each stored text."""

    texts: list[StoredTextReply]


class AnsweringTextReply(_Reply):
    number: int
    """Its place in the list, from 1."""
    reason: str
    answers: bool


class AnsweringReply(_Reply):
    """The form of a judge's answer about a question: an entry for each stored text."""

    texts: list[AnsweringTextReply]


ReplyForm = TypeVar("ReplyForm", MatchingReply, AnsweringReply)


@dataclass(frozen=True, slots=True)
class BothDirections:
    """How a stored text and a query stand to each other."""

    text_to_query: DirectionFinding
    """Whether the stored text entails the query."""
    query_to_text: DirectionFinding

    def score(self, store: Store) -> float:
        """The lowest of the directions that `store` needs."""
        return min(float(getattr(self, name).score) for name in NEEDED[store])


_SAME = DirectionFinding(score=1.0, reason="both texts are the same")
_IDENTICAL = BothDirections(_SAME, _SAME)


class TextMatcher:
    """Compares a query with stored texts: one question to a judge that reads, or claims for one that grades."""

    def __init__(self, judge: Judge, prompts: Mapping[str, Path] | None = None) -> None:
        """`prompts` replaces built-in templates by name.

        Raises:
            ValueError: a name in `prompts` that no template has, or (as TemplateError) an unusable template.
        """
        self._judge = judge
        self._grader = grader_of(judge)
        self._templates = Templates("checkers.retrieval.prompts", _PLACEHOLDERS, prompts)

    @property
    def prompt_versions(self) -> dict[str, str]:
        """The digest of every template, by name."""
        return self._templates.versions

    async def compare(self, store: Store, query: str, texts: Sequence[str]) -> tuple[BothDirections, ...]:
        """Both directions for each of `texts`, in order; texts that are equal are asked about once.

        Raises:
            OracleFailed: the judge gave no usable answer.
            OracleUnavailable: its endpoint is down, or its model is still being loaded.
        """
        distinct = _distinct(query, texts)
        found = dict(zip(distinct, await self._asked(store, query, distinct), strict=True)) if distinct else {}
        return tuple(found.get(text, _IDENTICAL) for text in texts)

    def estimate(self, store: Store, query: str, texts: Sequence[str]) -> Range:
        """What comparing them costs."""
        return self._estimate(store, query, texts, MatchingReply, _TOKENS_A_TEXT)

    async def answers(self, query: str, texts: Sequence[str]) -> tuple[DirectionFinding, ...]:
        """If each of `texts` answers the question `query`, in order; texts that are equal are asked about once.

        Raises:
            OracleFailed, OracleUnavailable: as `compare`.
        """
        distinct = _distinct(query, texts)
        found = dict(zip(distinct, await self._answers(query, distinct), strict=True)) if distinct else {}
        return tuple(found.get(text, _SAME) for text in texts)

    def estimate_answers(self, query: str, texts: Sequence[str]) -> Range:
        """What asking if they answer costs."""
        return self._estimate(QUESTION, query, texts, AnsweringReply, _TOKENS_AN_ANSWER)

    def question(
        self, template_name: str, query: str, texts: Sequence[str], reply: type[ReplyForm]
    ) -> Question[ReplyForm]:
        """What a judge that reads is asked."""
        template = self._templates[template_name]
        count = len(texts)

        def complaint(reply: ReplyForm) -> str | None:
            if [one.number for one in reply.texts] == list(range(1, count + 1)):
                return None
            return f"'texts' must have one entry for each of the {count} stored texts, numbered 1 to {count} in order"

        return Question(
            task=f"retrieval.{template_name}",
            prompt_version=template.version,
            messages=template.render({_QUERY[template_name]: query, "texts": as_list(texts)}, {"count": str(count)}),
            reply=reply,
            complaint=complaint,
        )

    def _estimate(
        self, template_name: str, query: str, texts: Sequence[str], reply: type[ReplyForm], tokens: int
    ) -> Range:
        distinct = _distinct(query, texts)
        if not distinct or self._grader is not None:
            return calls(1 if distinct else 0)
        return certain([(self.question(template_name, query, distinct, reply), len(distinct) * tokens)])

    async def _answers(self, query: str, texts: Sequence[str]) -> list[DirectionFinding]:
        if self._grader is None:
            reply = (await oracle_of(self._judge).ask(self.question(QUESTION, query, texts, AnsweringReply))).reply
            return [DirectionFinding(score=float(one.answers), reason=one.reason) for one in reply.texts]
        # A stored text that asks, too, is no answer; it fits if it asks the same.
        claims = [
            Claims(text, (query,), ClaimKind.ENTAILMENT if is_question(text) else ClaimKind.ANSWERABILITY)
            for text in texts
        ]
        grades = (await self._grader.grade(f"retrieval.{QUESTION}", claims)).reply
        return [_graded(grade) for (grade,) in grades]

    async def _asked(self, store: Store, query: str, texts: Sequence[str]) -> list[BothDirections]:
        if self._grader is None:
            reply = (await oracle_of(self._judge).ask(self.question(store, query, texts, MatchingReply))).reply
            return [BothDirections(_replied(one.text_to_query), _replied(one.query_to_text)) for one in reply.texts]
        claims = [
            Claims(query, tuple(texts), ClaimKind.ENTAILMENT),
            *(Claims(text, (query,), ClaimKind.ENTAILMENT) for text in texts),
        ]
        to_texts, *to_query = (await self._grader.grade(f"retrieval.{store}", claims)).reply
        return [
            BothDirections(_graded(forward), _graded(back)) for (forward,), back in zip(to_query, to_texts, strict=True)
        ]


def asks(store: Store, query: str) -> bool:
    """True if the query is a question to a knowledge store: the stored text is to answer it."""
    return store == "knowledge" and is_question(query)


def _replied(direction: DirectionReply) -> DirectionFinding:
    return DirectionFinding(score=float(direction.follows), reason=direction.reason)


def _graded(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


def _distinct(query: str, texts: Sequence[str]) -> list[str]:
    """The texts to ask about: each once, and none that is the query."""
    spaced = _spaced(query)
    return list(dict.fromkeys(text for text in texts if _spaced(text) != spaced))


def _spaced(text: str) -> str:
    return " ".join(text.split())
