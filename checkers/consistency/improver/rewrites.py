"""The writer's answers (paper, appendix A.2, RAI): their forms, and which entries can be used."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from models.replies import salvaging
from schemas.base import Text

_GROWTH = 3
_ALLOWANCE = 200


class SentenceRewrite(BaseModel):
    """One sentence, rewritten."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    reason: str
    improved: Text


class SentenceRewrites(BaseModel):
    """RAI's answer in sentence granularity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: list[SentenceRewrite]


whole_rewrites = salvaging(SentenceRewrites, "sentences")
"""The entries of an answer that was cut off, without the last if that is not whole."""


class WholeRewrite(BaseModel):
    """RAI's answer in paragraph granularity."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    improved: Text


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What is to stand in the place of a sentence."""

    text: str
    """Without white space around it; empty where the sentence is to be taken out."""
    reason: str


def usable_rewrites(reply: SentenceRewrites, sentences: Mapping[int, str]) -> dict[int, Rewrite]:
    """The entries of `reply` by number, for those of `sentences` that have exactly one, of a sensible length."""
    times = Counter(entry.number for entry in reply.sentences)
    return {
        entry.number: Rewrite(entry.improved.strip(), entry.reason)
        for entry in reply.sentences
        if entry.number in sentences
        and times[entry.number] == 1
        and not too_long(entry.improved.strip(), sentences[entry.number])
    }


def too_long(text: str, before: str) -> bool:
    """True if `text` is no rewrite of `before` any more but a text of its own."""
    return len(text) > _GROWTH * len(before) + _ALLOWANCE
