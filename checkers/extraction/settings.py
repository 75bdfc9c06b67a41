"""The `extraction` section of the configuration."""

from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import CheckerSettings, Prompts
from checkers.extraction.linearity import Rule

_MOST_TESTS, _FEWER_TESTS = 10, 5
_MOST_ANSWERS = 176
"""As many as the paper's five tests of eleven answers a text take, with those about the text itself."""


class ExtractionSettings(CheckerSettings):
    """The extraction checker: how the linearity test is made."""

    tests: Annotated[int | None, Field(ge=1, le=50)] = None
    """Tests that an extraction has to pass, of three transformed texts each. If not set, 10; or 5 where ten might take
    more than 176 answers: with the other defaults, from five entities on."""
    repeats: Annotated[int, Field(ge=1, le=101)] = 11
    """Answers about each text that may be taken. A language model with `temperature = 0` is asked once."""
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

    def tests_of(self, entities: int, repeats: int) -> int:
        """Tests that so many entities are put to, by a subject that is asked so often about each text."""
        texts = 3 * _MOST_TESTS + 1
        most = texts if self.schedule == "full" else min(texts, 2**entities)
        return self.tests or (_MOST_TESTS if most * repeats <= _MOST_ANSWERS else _FEWER_TESTS)
