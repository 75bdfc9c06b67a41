"""Text matching: whether a stored text entails the query, and the query the stored text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from checkers.estimate import Range, calls, certain
from checkers.oracle.claims import Claims, Judgement
from checkers.oracle.prompts import Placeholders, Templates, as_list
from checkers.oracle.protocol import Oracle, Question, grader_of
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

_PLACEHOLDERS = {store: Placeholders(("query", "texts"), ("count",), ("count",)) for store in get_args(Store)}


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

    def __init__(self, judge: Oracle, prompts: Mapping[str, Path] | None = None) -> None:
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
        distinct = _distinct(query, texts)
        if not distinct or self._grader is not None:
            return calls(1 if distinct else 0)
        return certain([(self.question(store, query, distinct), len(distinct) * _TOKENS_A_TEXT)])

    def question(self, store: Store, query: str, texts: Sequence[str]) -> Question[MatchingReply]:
        """What a judge that reads is asked."""
        template = self._templates[store]
        count = len(texts)

        def complaint(reply: MatchingReply) -> str | None:
            if [one.number for one in reply.texts] == list(range(1, count + 1)):
                return None
            return f"'texts' must have one entry for each of the {count} stored texts, numbered 1 to {count} in order"

        return Question(
            task=f"retrieval.{store}",
            prompt_version=template.version,
            messages=template.render({"query": query, "texts": as_list(texts)}, {"count": str(count)}),
            reply=MatchingReply,
            complaint=complaint,
        )

    async def _asked(self, store: Store, query: str, texts: Sequence[str]) -> list[BothDirections]:
        if self._grader is None:
            reply = (await self._judge.ask(self.question(store, query, texts))).reply
            return [BothDirections(_replied(one.text_to_query), _replied(one.query_to_text)) for one in reply.texts]
        claims = [_claims(query, texts), *(_claims(text, (query,)) for text in texts)]
        to_texts, *to_query = (await self._grader.grade(f"retrieval.{store}", claims)).reply
        return [
            BothDirections(_graded(forward), _graded(back)) for (forward,), back in zip(to_query, to_texts, strict=True)
        ]


def _claims(reference: str, sentences: Sequence[str]) -> Claims:
    return Claims(reference, tuple(sentences), "entailment")


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
