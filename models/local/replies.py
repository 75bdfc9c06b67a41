"""A bare yes or no, which claims what the question asks, or denies it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from models.claims import SUPPORTED, Judgement
from models.local.faults import ClaimFault
from models.text.negation import is_negator
from models.text.questions import AUXILIARIES, asked
from models.text.words import normalise, passages, words

_YES = frozenset("yes yeah yep correct right true indeed absolutely certainly definitely".split())
_NO = frozenset("no nope false incorrect wrong".split())
_STATED = re.compile(r"\s*(yes|no)\s*(?:[^\w\s]|$)", re.IGNORECASE)
_SURE = 0.95
"""Support of a reply that the reference gives as well."""
_AGAINST = frozenset({"number", "date", "other name", "negation", "opposite"})
"""Faults of a statement by which the reference denies it."""
_IT = frozenset("i you he she it we they there this that these those".split())


@dataclass(frozen=True, slots=True)
class Reply:
    """A sentence that is no more than yes or no."""

    question: str
    """What it replies to: read as a statement, which the reply affirms or denies."""
    affirms: bool
    stated: bool | None
    """What the reference replies, which is then all that counts; None if it opens with neither yes nor no."""

    def judgement(self, asked: Judgement, found: Iterable[ClaimFault]) -> Judgement:
        """What the reply is worth, by what the question is worth as a statement, and what was found against that.

        Where nothing was, the reference does not speak of it, and supports neither reply.
        """
        if self.stated is not None:
            reason = f"the reference says '{'yes' if self.stated else 'no'}'"
            return Judgement(_SURE if self.stated == self.affirms else round(1.0 - _SURE, 4), reason, asked.passage)
        reason = asked.reason.replace("the sentence", "the question")
        if self.affirms:
            return Judgement(asked.support, reason, asked.passage)
        if any(fault.kind in _AGAINST for fault in found):
            return Judgement(round(1.0 - asked.support, 4), reason, asked.passage)
        if asked.support >= SUPPORTED:
            return Judgement(round(1.0 - asked.support, 4), "the reference says that it is so", asked.passage)
        return Judgement(asked.support, reason, asked.passage)


def reply_of(sentence: str, prompt: str, reference: str) -> Reply | None:
    """The reply that a sentence is; None where it says more, or the last sentence of the prompt asks something else."""
    said = _lowered(sentence)
    if not said or not all(word in _YES | _NO | _IT | AUXILIARIES or is_negator(word) for word in said):
        return None
    negative = any(word in _NO or is_negator(word) for word in said)
    if not negative and not any(word in _YES or word in AUXILIARIES for word in said):
        return None
    question = ([*passages(prompt)] or [""])[-1]
    wanted = words(normalise(question))
    if asked(wanted).sort != "yes_no" or any(is_negator(word.surface.lower()) for word in wanted):
        return None
    stated = _STATED.match(reference)
    # As a statement it takes nothing for granted.
    return Reply(question.rstrip(" ?？"), not negative, None if stated is None else stated[1].lower() == "yes")


def _lowered(text: str) -> list[str]:
    return [word.surface.lower() for word in words(normalise(text))]
