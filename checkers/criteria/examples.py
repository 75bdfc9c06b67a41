"""A criterion's examples: labelled answers, some of which the judge is shown."""

from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from checkers.lines import numbered_lines
from models.claims import WorkedExample
from schemas import Generation
from schemas.reading import explain

_MOST_SHOWN = 4
"""Of each label. More cost more than they bring."""
_MOST_CHARACTERS = 2000
"""Of an example that is shown: each question costs its tokens."""
_MOST_EXAMPLES = 10_000


class _Label(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    label: Literal["accept", "reject"]
    words: str | None = None


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """A record, and what its writer says of it."""

    record: Generation
    accept: bool
    words: str | None = None
    """The words at fault, which stand in the response; None if they are not known."""


def load_examples(path: Path) -> tuple[LabelledAnswer, ...]:
    """The examples of a file of JSON lines: records of the kind `generation` with `label` and perhaps `words`.

    `kind`, `source` and `model` need not be there.

    Raises:
        ValueError: it cannot be read, or holds anything else, nothing, or too much; names the line.
    """
    found: list[LabelledAnswer] = []
    for number, line in numbered_lines(path, ValueError):
        try:
            row = orjson.loads(line)
            known = {"kind": "generation", "source": "examples", "model": "examples"}
            record = Generation.model_validate(known | row if isinstance(row, dict) else row)
            label = _Label.model_validate(row)
            if label.words is not None and (label.words not in record.response or not label.words.strip()):
                raise ValueError("the words do not stand in the response")
        except ValueError as error:
            told = explain(error) if isinstance(error, ValidationError) else str(error)
            expected = '{"prompt": ..., "response": ..., "label": "accept" or "reject", "words": ...}'
            raise ValueError(f"{path}:{number}: {told}; expected {expected}") from None
        found.append(LabelledAnswer(record, label.label == "accept", label.words))
        if len(found) > _MOST_EXAMPLES:
            raise ValueError(f"{path}: more than {_MOST_EXAMPLES} examples")
    if not found:
        raise ValueError(f"{path}: holds no example")
    return tuple(found)


def shown_of(examples: tuple[LabelledAnswer, ...], but: LabelledAnswer | None = None) -> tuple[LabelledAnswer, ...]:
    """The first ones of each label in turns, without those that are too long, and without `but`."""
    short = [one for one in examples if one is not but and _characters(one.record) <= _MOST_CHARACTERS]
    sides = [list(islice((one for one in short if one.accept is side), _MOST_SHOWN)) for side in (True, False)]
    # As many of each: a judge leans to what it has seen more often.
    return tuple(chain.from_iterable(zip(*sides, strict=False)))


def worked(one: LabelledAnswer, *, yes: bool) -> WorkedExample:
    """The example as the judge is shown it."""
    return WorkedExample(one.record.response, one.record.prompt, passages_of(one.record), yes)


def passages_of(record: Generation) -> str:
    """Whatever the response may draw on; empty if the record has nothing."""
    return "\n\n".join(text for text in (*record.contexts, record.reference or "") if text.strip())


def _characters(record: Generation) -> int:
    return len(record.response) + len(record.prompt or "") + len(passages_of(record))
