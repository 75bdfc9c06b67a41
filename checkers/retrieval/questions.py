"""Text matching: whether a stored text entails the query, and the query the stored text; or answers it, if it asks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from checkers.closed_class import AUXILIARIES
from models.local.tokens import tokens
from models.protocol import ClaimKind, Claims, Judge, Judgement
from models.wording import split_sentences
from schemas import DirectionFinding

Store = Literal["cache", "knowledge"]
Direction = Literal["text_to_query", "query_to_text"]
Matching = Literal["cache", "knowledge", "question"]
"""The comparison that is asked for: `question` for questions to a knowledge store."""

NEEDED: Mapping[Store, tuple[Direction, ...]] = {
    "cache": ("text_to_query", "query_to_text"),
    "knowledge": ("text_to_query",),
}
"""A cache must match the same question; for a knowledge store it is enough that the text entails the query, the order
that exposes deletions and missing evidence."""


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


_SAME = DirectionFinding(score=1.0, reason="both texts are the same")


def matching_of(store: Store, query: str) -> Matching:
    """`question` for a question to a knowledge store, which the stored text is to answer; else the store's own."""
    return "question" if store == "knowledge" and is_question(query) else store


async def compared(judge: Judge, matching: Matching, query: str, texts: Sequence[str]) -> tuple[TextFinding, ...]:
    """A finding for each of `texts`, in order; texts that are equal are asked about once, and none that is the query.

    Raises:
        ModelFailed: the judge gave no usable answer.
        ModelUnavailable: its endpoint is down, or its model is still being loaded.
    """
    distinct = list(dict.fromkeys(text for text in texts if text.split() != query.split()))
    found = await _graded(judge, matching, query, distinct) if distinct else []
    by_text = dict(zip(distinct, found, strict=True))
    same = TextFinding(_SAME, None if matching == "question" else _SAME)
    return tuple(by_text.get(text, same) for text in texts)


async def _graded(judge: Judge, matching: Matching, query: str, texts: Sequence[str]) -> list[TextFinding]:
    task = f"retrieval.{matching}"
    if matching == "question":
        # A stored text that asks, too, is no answer; it fits if it asks the same.
        kinds = (ClaimKind.MATCH if is_question(text) else ClaimKind.ANSWERABILITY for text in texts)
        asked = [Claims(text, (query,), kind) for text, kind in zip(texts, kinds, strict=True)]
        return [TextFinding(_of_judgement(answer)) for (answer,) in (await judge.grade(task, asked)).reply]
    both = [(query, tuple(texts)), *((text, (query,)) for text in texts)]
    claims = [Claims(reference, sentences, ClaimKind.MATCH) for reference, sentences in both]
    back, *there = (await judge.grade(task, claims)).reply
    pairs = zip(there, back, strict=True)
    return [TextFinding(_of_judgement(to_query), _of_judgement(to_text)) for (to_query,), to_text in pairs]


def _of_judgement(judgement: Judgement) -> DirectionFinding:
    return DirectionFinding(score=judgement.support, reason=judgement.reason or None, passage=judgement.passage)


_ASKING = frozenset("who whom whose what which when where why how".split())
_SUBJECTS = frozenset("i you he she it we they there this that these those the a an my your our any anyone".split())
_PREPOSITIONS = frozenset("in on at by for with from to of after before since until about during".split())
_ENDS = re.compile(r"[?？]['\"”’)\]]*$")


def is_question(text: str) -> bool:
    """True if the last sentence of a text asks, by its mark or by the way it begins; queries often lack the mark."""
    sentences = [sentence.text for sentence in split_sentences(text)]
    if not sentences:
        return False
    if _ENDS.search(sentences[-1].rstrip()):
        return True
    if sentences[-1].rstrip()[-1] in ".!:":
        return False
    lower = [token.text.lower() for token in tokens(sentences[-1]) if token.text[0].isalnum()]
    if any(word in _ASKING for word in lower[:1]):
        return True
    if len(lower) > 1 and lower[0] in _PREPOSITIONS and lower[1] in {"what", "which", "whom", "whose"}:
        return True
    return len(lower) > 2 and lower[0] in AUXILIARIES and lower[1] in _SUBJECTS
