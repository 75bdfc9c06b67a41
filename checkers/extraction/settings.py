"""The `extraction` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings
from checkers.extraction.linearity import Rule


class ExtractionSettings(CheckerSettings):
    """The extraction checker: how the linearity test is made."""

    tests: Annotated[int, Field(ge=1, le=50)] = 5
    """Tests that an extraction has to pass, of three transformed texts each."""
    repeats: Annotated[int, Field(ge=1, le=101)] = 11
    """Answers about each transformed text that a test may take. With 1, or an extractor that always answers the same, a
    test takes one."""
    rule: Rule = "strict"
    """How several answers about a text are read. `strict`: the majority counts, and an acceptance has a bound.
    `lenient`: a test is passed if any combination of answers passes it, as in the paper; without a bound."""
    schedule: Literal["fast", "full"] = "fast"
    """`fast` asks until the verdict is certain. `full` takes all answers, each text asked about anew, for the paper's
    quantities A_test, A_rate and Con_rs: 165 with the defaults."""
    original: bool = False
    """With the schedule `full`, ask about the text itself as well, `repeats` times, for the paper's Con_o."""
    transformation: Literal["replace", "paraphrase"] = "replace"
    """How texts are transformed. `replace`: entities are replaced in the text. `paraphrase`: they are replaced in a
    paraphrase of it that keeps them, which the judge writes; it must be an endpoint then."""
    epsilon: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Distance from linear that the bound is about: an extraction that is so far from linear is accepted with a
    probability of at most the verdict's `error_bound`."""
    seed: int = 0
    """Seed of all draws, together with the record's id. Change it if a subject might know it."""
    max_characters: Annotated[int, Field(ge=1)] = 5_000
    """Abstain on longer texts. A text is sent once for each answer."""
    max_entities: Annotated[int, Field(ge=1, le=1000)] = 50
    """Abstain on longer lists."""
    deadline_seconds: Annotated[float, Field(gt=0), OPERATIONAL] = 50.0
    """Time limit of the work on one record; the checker abstains when it has passed. Waiting does not count: for a
    model that is being loaded, for a free place, in a queue."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `entities`, `rewording`,
    `named`, `names`, `synonyms`."""
