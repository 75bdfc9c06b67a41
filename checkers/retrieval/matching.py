"""Text matching: whether a stored text entails the query, and the query the stored text; or answers it, if it asks."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from models.claims import ClaimKind, Claims, Judgement
from models.prompts import Placeholders, Templates, as_list
from models.protocol import Grader, Judge, Question, answering, grader_of
from models.text.question_form import is_question
from schemas import DirectionFinding

Store = Literal["cache", "knowledge"]
Direction = Literal["text_to_query", "query_to_text"]
Matching = Literal["cache", "knowledge", "question"]
"""The comparison that is asked for, and its template: `question` for questions to a knowledge store."""

NEEDED: Mapping[Store, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""A cache must match the same question; for a knowledge store it is enough that the text entails the query, the order
that exposes deletions and missing evidence."""

_QUERY: Mapping[Matching, str] = {"cache": "query", "knowledge": "query", "question": "question"}
"""The name of the query in each template."""

_PLACEHOLDERS: Mapping[str, Placeholders] = {
    name: Placeholders((query, "texts"), ("count",), ("count",)) for name, query in _QUERY.items()
}


@dataclass(frozen=True, slots=True)
class TextFinding:
    """The relation of a stored text to a query, in both directions; if it was to answer the query, in one."""

    text_to_query: DirectionFinding
    """True if the stored text entails the query, or answers it."""
    query_to_text: DirectionFinding | None = None

    def score(self, store: Store) -> float:
        """The lowest of the directions that `store` needs."""
        found = [getattr(self, name) for name in NEEDED[store]]
        return min(float(one.score) for one in found if one is not None)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DirectionReply(_Reply):
    reason: str
    follows: bool

    def finding(self) -> DirectionFinding:
        return DirectionFinding(score=float(self.follows), reason=self.reason)


class NumberedReply(_Reply):
    number: int
    """The text's place in the list, from 1."""

    @abstractmethod
    def finding(self) -> TextFinding:
        """The judge's word on the text."""


class StoredTextReply(NumberedReply):
    text_to_query: DirectionReply
    query_to_text: DirectionReply

    def finding(self) -> TextFinding:
        return TextFinding(self.text_to_query.finding(), self.query_to_text.finding())


class AnsweringTextReply(NumberedReply):
    reason: str
    answers: bool

    def finding(self) -> TextFinding:
        return TextFinding(DirectionFinding(score=float(self.answers), reason=self.reason))


class TextsReply(_Reply):
    """The form of a judge's answer: an entry for each stored text."""

    texts: Sequence[NumberedReply]


class MatchingReply(TextsReply):
    texts: list[StoredTextReply]


class AnsweringReply(TextsReply):
    texts: list[AnsweringTextReply]


_SAME = DirectionFinding(score=1.0, reason="both texts are the same")


def matching_of(store: Store, query: str) -> Matching:
    """`question` for a question to a knowledge store, which the stored text is to answer; else the store's own."""
    return "question" if store == "knowledge" and is_question(query) else store


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

    async def compare(self, matching: Matching, query: str, texts: Sequence[str]) -> tuple[TextFinding, ...]:
        """A finding for each of `texts`, in order; texts that are equal are asked about once.

        Raises:
            ModelFailed: the judge gave no usable answer.
            ModelUnavailable: its endpoint is down, or its model is still being loaded.
        """
        distinct = _distinct(query, texts)
        found: list[TextFinding] = []
        if distinct and self._grader is None:
            reply = (await answering(self._judge).ask(self.question(matching, query, distinct))).reply
            found = [one.finding() for one in reply.texts]
        elif distinct and self._grader is not None:
            found = await _graded(self._grader, matching, query, distinct)
        by_text = dict(zip(distinct, found, strict=True))
        same = TextFinding(_SAME, None if matching == "question" else _SAME)
        return tuple(by_text.get(text, same) for text in texts)

    def question(self, matching: Matching, query: str, texts: Sequence[str]) -> Question[TextsReply]:
        """The question to a judge that reads."""
        count = len(texts)

        def complaint(reply: TextsReply) -> str | None:
            if [one.number for one in reply.texts] == list(range(1, count + 1)):
                return None
            return f"'texts' must have one entry for each of the {count} stored texts, numbered 1 to {count} in order"

        template = self._templates[matching]
        return Question(
            task=f"retrieval.{matching}",
            prompt_version=template.version,
            messages=template.render({_QUERY[matching]: query, "texts": as_list(texts)}, {"count": str(count)}),
            reply=AnsweringReply if matching == "question" else MatchingReply,
            complaint=complaint,
        )


async def _graded(grader: Grader, matching: Matching, query: str, texts: Sequence[str]) -> list[TextFinding]:
    task = f"retrieval.{matching}"
    if matching == "question":
        # A stored text that asks, too, is no answer; it fits if it asks the same.
        kinds = (ClaimKind.ENTAILMENT if is_question(text) else ClaimKind.ANSWERABILITY for text in texts)
        asked = [Claims(text, (query,), kind) for text, kind in zip(texts, kinds, strict=True)]
        return [TextFinding(_of_judgement(answer)) for (answer,) in (await grader.grade(task, asked)).reply]
    both = [(query, tuple(texts)), *((text, (query,)) for text in texts)]
    claims = [Claims(reference, sentences, ClaimKind.ENTAILMENT) for reference, sentences in both]
    back, *there = (await grader.grade(task, claims)).reply
    pairs = zip(there, back, strict=True)
    return [TextFinding(_of_judgement(to_query), _of_judgement(to_text)) for (to_query,), to_text in pairs]


def _of_judgement(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


def _distinct(query: str, texts: Sequence[str]) -> list[str]:
    """The texts to ask about: each once, and none that is the query."""
    return list(dict.fromkeys(text for text in texts if text.split() != query.split()))
