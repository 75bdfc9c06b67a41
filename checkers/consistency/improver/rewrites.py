"""The writer's answers (paper, appendix A.2, RAI): their forms, and which entries can be used."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from checkers.consistency.sorted_reasons import comparable
from schemas.base import Text

_GROWTH = 3
_ALLOWANCE = 200


class SentenceRewrite(BaseModel):
    """One sentence, rewritten."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    sentence: str
    improved: Text
    reason: str


class SentenceRewrites(BaseModel):
    """RAI's answer in sentence granularity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: list[SentenceRewrite]


class WholeRewrite(BaseModel):
    """RAI's answer in paragraph granularity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    improved: Text
    reason: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What is to stand in the place of a sentence."""

    text: str
    """Without white space around it; empty where the sentence is to be taken out."""
    reason: str


@dataclass(frozen=True, slots=True)
class UsableRewrites:
    """An answer, sorted by the sentences that were to be rewritten."""

    rewrites: dict[int, Rewrite]
    """By the sentence's index."""
    missing: tuple[int, ...]
    """Indices of sentences without exactly one entry with their number and words, of a sensible length."""

    @property
    def complaint(self) -> str | None:
        """What to tell the writer, by numbers only: nothing of the material is repeated outside its fence."""
        if not self.missing:
            return None
        numbers = ", ".join(str(index + 1) for index in self.missing)
        return (
            f"These sentences of the list have no entry that can be used: {numbers} (counting from 1). An entry has "
            "the number of its sentence, the sentence copied letter for letter, and no more than about three times its "
            f"length as the improved one. Answer once more, with one entry for each of these alone: {numbers}, in the "
            "same JSON form."
        )


def usable_rewrites(
    sentences: Sequence[str], reply: SentenceRewrites, *, wanted: Sequence[int] | None = None
) -> UsableRewrites:
    """Sort the entries of `reply` by number, and keep those that also copy the words of that sentence.

    `wanted` are the indices that were asked about; all where absent. What was not asked about, what copies another
    sentence or several, and what is far too long counts for nothing.
    """
    wanted = range(len(sentences)) if wanted is None else wanted
    times = Counter(entry.number for entry in reply.sentences)
    rewrites = {}
    for entry in reply.sentences:
        index = entry.number - 1
        if index not in wanted or times[entry.number] > 1:
            continue
        sentence = sentences[index]
        text = entry.improved.strip()
        if comparable(entry.sentence) == comparable(sentence) and not too_long(text, sentence):
            rewrites[index] = Rewrite(text, entry.reason)
    return UsableRewrites(rewrites, tuple(index for index in wanted if index not in rewrites))


def too_long(text: str, before: str) -> bool:
    """Whether `text` is no rewrite of `before` any more but a text of its own."""
    return len(text) > _GROWTH * len(before) + _ALLOWANCE
