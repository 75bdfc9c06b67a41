"""A corpus of probe statements: JSON lines, one statement each, of the shape of LINT."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

from checkers.lines import read_forms
from schemas import content_id
from schemas.base import Name, Text, Wire, to_json

Distribution = Literal["head", "tail"]
"""`tail`: statements that are less likely than the `head` statements of the same rule."""

DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)

BUNDLED = "bundled"
"""Names the corpus that comes with assay."""

STATEMENTS = "statements.jsonl"
"""The corpus's file in a folder that `assay probes build` wrote."""

Sentence = Annotated[Text, StringConstraints(pattern=r"\S")]
"""Without a full stop, so that it can be put into a longer one: `Person X is allergic to dairy`."""


class Statement(Wire):
    """A premise and a conclusion, with what a probe needs to ask about them."""

    rule: Sentence
    """The rule that it was made from, as it was written."""
    domain: Name
    distribution: Distribution
    premise: Sentence
    conclusion: Sentence
    negation: Sentence
    """The opposite of the conclusion."""
    question: Sentence
    """Asks for what the conclusion says or denies, without a negation: `can Person X eat ice cream`."""
    answer: Literal["yes", "no"]
    """To the question, if the conclusion is true; `no` if the conclusion is a negative sentence."""
    correct: bool = True
    """False if the premise does not entail the conclusion: such statements serve as negative examples."""
    log_likelihood: float | None = None
    """The mean over tokens of premise and conclusion, in nats, by the model that ranked it."""

    @property
    def id(self) -> str:
        """Derived from what is said, not from how likely it is."""
        said = self.model_dump(mode="json", include={"rule", "distribution", "premise", "conclusion", "correct"})
        return content_id("stm", said)


def read_corpus(path: Path) -> Iterator[Statement]:
    """The statements of a file, of a folder that `assay probes build` wrote, or those bundled; raises ValueError."""
    file = path / STATEMENTS if path.is_dir() else path
    if path.name == BUNDLED and not path.exists():
        file = Path(__file__).with_name("bundled.jsonl")
    return read_forms(Statement, file, "statement")


def write_corpus(path: Path, statements: Iterable[Statement]) -> None:
    """Write JSON lines that `read_corpus` reads; an older file is replaced in one step. Raises OSError."""
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as stream:
        for statement in statements:
            stream.write(to_json(statement, newline=True))
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)
