"""Built-in cases of the questions to a subject."""

from collections.abc import Iterator
from typing import Any

from checkers.equivalence.questions import EquivalencePrompts, words_of
from checkers.form_test import FormCase

_DOOR = ("The keeper shut the north door at nine.", "At nine the north door was shut by the keeper.")
_LATER = "The keeper opened the north door at nine."


def form_cases(method: str) -> Iterator[FormCase]:
    """Sentences, phrases and paraphrases."""
    prompts = EquivalencePrompts()
    first, second = _DOOR
    yield FormCase(method, "subject", prompts.equivalent(first, second), lambda reply: reply.answer == "yes")
    yield FormCase(method, "subject", prompts.equivalent(first, _LATER), lambda reply: reply.answer == "no")
    yield FormCase(method, "subject", prompts.phrase("at noon", "at twelve o'clock"), lambda reply: reply.yes)
    yield FormCase(method, "subject", prompts.phrase("the left bank", "the right bank"), lambda reply: not reply.yes)
    for manner in ("Begin with another word.", "Say it as simply as you can."):
        yield FormCase(method, "subject", prompts.paraphrase(first, manner), _keeps_the_door)


def _keeps_the_door(reply: Any) -> bool:
    return {"north", "door"} <= set(words_of(reply.paraphrase).split())
