"""Hits, and a stub that matches texts, for tests of the retrieval checker."""

import re
from collections.abc import Callable
from typing import Any

from schemas import Retrieval
from tests.support.stub_request import StubRequest


def hit(query: str = "How do I reset my password?", text: str = "What resets my password?", **fields: Any) -> Retrieval:
    """A hit of a cache; `candidates` are pairs of text and score, with the ids c1, c2 and so on."""
    candidates = [
        {"id": f"c{number}", "text": one, "score": score}
        for number, (one, score) in enumerate(fields.pop("candidates", ()), start=1)
    ]
    matched = {"id": "q-1", "text": text, "score": fields.pop("score", 0.97)}
    envelope = {"kind": "retrieval", "id": "h-1", "source": "faq-cache", "model": "embedder", "store": "cache"}
    return Retrieval.model_validate(
        {**envelope, "query": query, "matched": matched, "candidates": candidates, "metric": "cosine", **fields}
    )


class StubMatcher:
    """A judge that finds a text entailed, or a question answered, where `entails` says so of premise and hypothesis."""

    def __init__(self) -> None:
        self.entails: Callable[[str, str], bool] = has_all_words

    def __call__(self, request: StubRequest) -> str:
        hypothesis = request.quotes.get("Second text", request.quotes.get("Question", ""))
        return "yes" if self.entails(request.reference, hypothesis) else "no"


def has_all_words(premise: str, hypothesis: str) -> bool:
    """True if every word of the hypothesis stands in the premise."""
    return _words(hypothesis) <= _words(premise)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
