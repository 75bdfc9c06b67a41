"""Built-in cases of the questions to a subject."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from checkers.form_test import FormCase
from checkers.longtail.corpus import Statement
from checkers.longtail.questions import AnswerReply, Asker
from checkers.longtail.templates import TEMPLATES
from checkers.longtail.yes_or_no import Unparsable, is_right

_BIRD = Statement(
    rule="built-in",
    domain="built-in",
    distribution="head",
    premise="Animal X is a penguin",
    conclusion="Animal X cannot fly",
    negation="Animal X can fly",
    question="can Animal X fly",
    answer="no",
)


def form_cases(method: str) -> Iterator[FormCase]:
    """A statement that is to be affirmed, and its negation."""
    asker = Asker("zero-shot")
    for number in (2, 9):
        template = TEMPLATES[number]
        yield FormCase(method, "subject", asker.question(_BIRD, template), partial(_says, template.answer(_BIRD)))


def _says(expected: str, reply: AnswerReply) -> bool:
    with suppress(Unparsable):
        return is_right(reply.answer, expected)
    return False
