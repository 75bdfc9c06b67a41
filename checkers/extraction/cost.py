"""Calls and tokens of a check of an extraction: docs/cost.md has the formulas."""

from __future__ import annotations

from typing import Any

from checkers.estimate import Range, load_of, range_of, tokens_of, with_long_replies
from checkers.extraction.entity_questions import PARAPHRASES, ExtractionPrompts
from checkers.extraction.mentions import Located
from checkers.extraction.settings import ExtractionSettings
from models.protocol import Question
from schemas import Extraction

TEXTS_PER_TEST = 3
_AROUND_ENTITY = 12
"""Tokens of an entity's class and of the JSON around it."""
_PROPOSED = 90
"""Tokens of what the judge proposes for one entity."""


def of_subject(prompts: ExtractionPrompts, record: Extraction, entities: int, settings: ExtractionSettings) -> Range:
    """Expected calls to the subject, and the most.

    The texts are some of 2^entities. Of an extraction that is steady, the majority is certain after half of the
    answers, and one answer about the text itself tells the classes.
    """
    reply = sum(tokens_of(entity) + _AROUND_ENTITY for entity in record.entities)
    answer = load_of(prompts.entities(record.text, record.prompt), reply)
    slots = TEXTS_PER_TEST * settings.tests
    most = (slots + 1) * settings.repeats
    expected: float = most
    if settings.schedule == "fast":
        drawn = 1 - (1 - 2.0**-entities) ** slots
        enough = -(-settings.repeats // 2) if settings.rule == "strict" else 1
        expected = 2**entities * drawn * enough + (1 - drawn)
        most = min(most, 2**entities * settings.repeats)
    return Range(answer * expected, with_long_replies(answer * most))


def of_judge(prompts: ExtractionPrompts, located: Located, *, paraphrases: bool) -> Range:
    """One question about all replacements, and one for paraphrases."""
    named = dict.fromkeys(located.entities, "")
    questions: list[tuple[Question[Any], float]] = [(prompts.names(located.text, named), _PROPOSED * len(named))]
    if paraphrases:
        question = prompts.paraphrases(located.text, located.entities)
        questions.append((question, PARAPHRASES * tokens_of(located.text)))
    return range_of(questions)
