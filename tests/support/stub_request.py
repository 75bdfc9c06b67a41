"""A request as the stand-in for an endpoint got it, and what it asks.

Questions quote texts below headings (`Passages:`); a judge's end with a line of ours that tells them apart.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

_QUOTED = re.compile(r"^([A-Z][^\n:]*)[:.]\n((?:> ?[^\n]*(?:\n|$))+)", re.MULTILINE)
_SAME = {"Claim": "Answer", "Sentence of the claim": "Sentence of the answer"}
_KINDS = {
    "Is this a right answer by the passages?": "supported",
    "Is the sentence right by the passages?": "supported",
    "support everything that the claim says?": "supported",
    "support everything that the sentence says?": "supported",
    "For each sentence: do the passages support": "list",
    "For each sentence: why is it supported": "paper",
    "Is each note positive": "convert",
    "Does the answer give information?": "informs",
    "Do the passages hold the answer": "answerable",
    "must the second be true as well?": "entails",
    "Could the two phrases mean the same?": "same_phrase",
    "Does the text meet the criterion?": "criterion",
    "Can both be true?": "compatible",
    "Is the statement true?": "true_statement",
    "What do they say instead?": "reason",
    "Write the sentence anew": "improve",
}


@dataclass(frozen=True, kw_only=True)
class StubRequest:
    """A request as the stub got it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    """`time.monotonic` of its arrival."""

    @property
    def size(self) -> int:
        """Characters of its messages."""
        return sum(len(message["content"]) for message in self.body.get("messages", []))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The quoted texts of a question that is none to a judge, by their headings in lower case."""
        return {} if self.kind else {name.casefold(): text for name, text in _quotes(self._last_question).items()}

    @cached_property
    def kind(self) -> str:
        """What a judge or writer is asked, by the name of its prompt; empty for other questions."""
        last = self._last_question
        return next((kind for words, kind in _KINDS.items() if words in last.rpartition("\n>")[2]), "")

    @cached_property
    def quotes(self) -> dict[str, str]:
        """The quoted texts of the question, by their headings; a claim is called an answer."""
        return {_SAME.get(heading, heading): text for heading, text in _quotes(self._last_question).items()}

    @property
    def _last_question(self) -> str:
        # A repair turn stands behind the question that it is about.
        asked = [one["content"] for one in self.body.get("messages", []) if one["role"] == "user"]
        found = [text for text in asked if _QUOTED.search(text) and not text.startswith("Your reply cannot be used.")]
        return found[-1] if found else ""

    @property
    def numbered(self) -> dict[int, str]:
        """The sentences of a list, by number."""
        lines = self.quotes.get("Sentences of the answer", "").splitlines()
        pairs = [line.split(". ", 1) for line in lines]
        return {int(number): text for number, text in pairs}

    @property
    def sentences(self) -> list[str]:
        """The sentences that are asked about; a question about an answer as a whole has its text as the only one."""
        if self.numbered:
            return list(self.numbered.values())
        for heading in ("Sentence of the answer", "Sentence that they do not support", "Answer", "Second text"):
            if heading in self.quotes:
                return [self.quotes[heading]]
        return [line for line in self.texts.get("sentences", "").splitlines() if line.strip()]

    @property
    def notes(self) -> dict[int, str]:
        """The reasons that are to be read, by number."""
        return {one["number"]: one["reason"] for one in orjson.loads(self.quotes.get("Notes", "[]"))}

    @property
    def reference(self) -> str:
        """The text that the sentences are to be held against."""
        return self.quotes.get("Passages", self.quotes.get("First text", self.texts.get("reference", "")))


def _quotes(question: str) -> dict[str, str]:
    return {heading: "\n".join(line[2:] for line in text.splitlines()) for heading, text in _QUOTED.findall(question)}
