"""What a check of an extraction costs: docs/cost.md has the formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checkers.estimate import Range, asking, long, tokens_of, total
from checkers.extraction.mentions import Located
from checkers.extraction.questions import PARAPHRASES, ExtractionPrompts
from checkers.extraction.settings import ExtractionSettings
from models.protocol import Question
from schemas import Extraction

_OF_A_TEST = 3
"""Texts."""
_AROUND_ENTITY = 12
"""Tokens of an entity's class and of the JSON around it."""
_PROPOSED = 40
"""Tokens of five names or some synonyms."""


def of_subject(prompts: ExtractionPrompts, record: Extraction, entities: int, settings: ExtractionSettings) -> Range:
    """Answers about the texts of all tests; those that are repeated or need not be asked make it less.

    A text is one of 2^entities. Of an extraction that is steady, the majority is certain after half of the answers.
    """
    reply = sum(tokens_of(entity) + _AROUND_ENTITY for entity in record.entities)
    answer = asking(prompts.entities(record.text, record.prompt), reply)
    slots = _OF_A_TEST * settings.tests
    texts = 2**entities * (1 - (1 - 2.0**-entities) ** slots)
    most = slots * settings.repeats
    if settings.schedule == "full":
        expected: float = most + settings.repeats * settings.original
        most = int(expected)
    else:
        expected = texts * (-(-settings.repeats // 2) if settings.rule == "strict" else 1)
        most = min(most, 2**entities * settings.repeats)
    return Range(answer * expected, long(answer * most))


def of_judge(
    votes: Iterable[tuple[Question[Any], int]], prompts: ExtractionPrompts, located: Located, *, paraphrases: bool
) -> Range:
    """Votes on replacements, of which half decide as a rule, and the paraphrases."""
    asked = [(asking(question, _PROPOSED), count) for question, count in votes]
    expected = total(load * (-(-count // 2)) for load, count in asked)
    most = total(load * count for load, count in asked)
    if paraphrases:
        question = prompts.paraphrases(located.text, located.entities)
        written = asking(question, PARAPHRASES * tokens_of(located.text))
        expected, most = expected + written, most + written
    return Range(expected, long(most))
