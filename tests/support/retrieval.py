"""Hits, and a stub that matches texts, for tests of the retrieval checker."""

import json
import re
from collections.abc import Callable
from typing import Any

import orjson

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


def as_bytes(record: Retrieval) -> bytes:
    """As a producer would put it on the topic."""
    return record.model_dump_json(exclude_defaults=True).encode()


class StubMatcher:
    """A judge that finds a text entailed, or a question answered, where `entails` says so of premise and hypothesis."""

    def __init__(self) -> None:
        self.entails: Callable[[str, str], bool] = has_all_words

    def __call__(self, request: StubRequest) -> str:
        texts = json.loads(request.fences["texts"])
        if question := request.fences.get("question"):
            return orjson.dumps({"texts": [self._answer(*one, question) for one in enumerate(texts, start=1)]}).decode()
        query = request.fences["query"]
        replies = [
            {
                "number": number,
                "text_to_query": self._direction(text, query),
                "query_to_text": self._direction(query, text),
            }
            for number, text in enumerate(texts, start=1)
        ]
        return orjson.dumps({"texts": replies}).decode()

    def _answer(self, number: int, text: str, question: str) -> dict[str, object]:
        found = self._direction(text, question)
        return {"number": number, "reason": found["reason"], "answers": found["follows"]}

    def _direction(self, premise: str, hypothesis: str) -> dict[str, object]:
        follows = self.entails(premise, hypothesis)
        return {"reason": "All its words are there." if follows else "A word is missing.", "follows": follows}


def has_all_words(premise: str, hypothesis: str) -> bool:
    """True if every word of the hypothesis stands in the premise."""
    return _words(hypothesis) <= _words(premise)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
