"""Paraphrase decisions and a subject that answers questions about them, for tests of the equivalence checker."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from checkers.equivalence.questions import MANNERS
from schemas import Paraphrase
from tests.support.stub_request import StubRequest

Says = Callable[[str, str], bool]

ALIGNED = (
    "The young chef at the harbour opened a small bakery in the old town.",
    "The young cook at the harbour opened a little bakery in the old town.",
)
"""Every word lies in a phrase that matches; *chef* and *cook*, *small* and *little* are to be asked about."""

APART = (
    "Another was in a stable condition at the clinic in the village.",
    "One more person was in a stable condition at the clinic in the village.",
)
"""The subject of the first is a single word, and stays uncovered (as in the paper's table 14)."""


def decision(first: str, second: str, *, answer: bool = True, **fields: Any) -> Paraphrase:
    body = {"id": "p1", "kind": "paraphrase", "source": "dedup", "model": "acme-chat-4"}
    return Paraphrase.model_validate({**body, "sentence1": first, "sentence2": second, "answer": answer, **fields})


def as_bytes(record: Paraphrase) -> bytes:
    """As a producer would put it on the topic."""
    return record.model_dump_json(exclude_defaults=True).encode()


class StubSubject:
    """A subject's answers, told by the texts of the question; each can be replaced."""

    def __init__(
        self,
        *,
        phrases: Says | None = None,
        sentences: Says = lambda first, second: False,
        paraphrases: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        """It finds phrases alike that share a word, sentences never, and its paraphrases are not like anything."""
        self.phrases = phrases or share_a_word
        self.sentences = sentences
        self.paraphrases = paraphrases or five_of
        self.asked_phrases: list[tuple[str, str]] = []
        self.asked_sentences: list[tuple[str, str]] = []
        self.asked_paraphrases: list[str] = []

    def __call__(self, request: StubRequest) -> str:
        texts = request.texts
        if "sentence" in texts:
            self.asked_paraphrases.append(texts["sentence"])
            asked = request.body["messages"][-1]["content"]
            number = next(place for place, manner in enumerate(MANNERS) if manner in asked)
            return orjson.dumps({"paraphrase": [*self.paraphrases(texts["sentence"])][number]}).decode()
        if request.kind == "same_phrase":
            pair = (request.quotes["Phrase of the first"], request.quotes["Phrase of the second"])
            self.asked_phrases.append(pair)
            return "yes" if self.phrases(*pair) else "no"
        pair = (texts["first"], texts["second"])
        self.asked_sentences.append(pair)
        said = self.sentences(*pair)
        return orjson.dumps({"explanation": "Compared.", "answer": "yes" if said else "no"}).decode()


def share_a_word(first: str, second: str) -> bool:
    """True if two texts have a word of three letters or more in common."""
    one, other = (set(re.findall(r"\w{3,}", text.casefold())) for text in (first, second))
    return bool(one & other)


def five_of(sentence: str) -> list[str]:
    """Five texts that are not like anything, and others for every sentence."""
    return [f"{word}! {len(sentence)}, no less." for word in ("Alas", "Behold", "Cheers", "Dear", "Eh")]
