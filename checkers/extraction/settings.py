"""The `extraction` section of the configuration."""

from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import CheckerSettings, Prompts
from checkers.extraction.linearity import Rule


class ExtractionSettings(CheckerSettings):
    """The extraction checker: how the linearity test is made."""

    tests: Annotated[int, Field(ge=1, le=50)] = 5
    """Tests that an extraction has to pass, of three transformed texts each."""
    repeats: Annotated[int, Field(ge=1, le=101)] = 11
    """Answers about each transformed text that a test may take. With 1, or an extractor that always answers the same, a
    test takes one."""
    rule: Rule = "strict"
    """The reading of several answers about a text. `strict`: the majority counts, and an acceptance has a bound.
    `lenient`: a test is passed if any combination of answers passes it, as in the paper; without a bound."""
    schedule: Literal["fast", "full"] = "fast"
    """`fast` asks until the verdict is certain. `full` takes all answers, each text asked about anew, for the paper's
    quantities A_test, A_rate, Con_rs and Con_o: 176 with the defaults."""
    transformation: Literal["replace", "paraphrase"] = "replace"
    """The transformation of texts. `replace`: entities are replaced in the text. `paraphrase`: they are replaced in a
    paraphrase of it that keeps them, which the judge writes; it must be an endpoint then."""
    prompts: Prompts = Field(default_factory=dict)
