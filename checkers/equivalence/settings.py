"""The `equivalence` section of the configuration."""

from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import CheckerSettings, Prompts
from checkers.equivalence.phrase_questions import PARAPHRASES
from checkers.equivalence.proof import Require


class EquivalenceSettings(CheckerSettings):
    """The equivalence checker: the proof of a yes, the test of a no, the model that is asked."""

    require: Require = "or"
    """`or`: one of the four alignments proves a yes. `and`: a proof needs one in each direction; that gives fewer
    proofs, and fewer wrong ones."""
    ask: Literal["subject_or_judge", "subject", "judge"] = "subject_or_judge"
    """Model that answers the questions. With `subject_or_judge` the judge answers questions about phrases if the
    subject is not configured; a no, which tests the model that is asked, then abstains."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase. The first yes rejects it."""
    prompts: Prompts = Field(default_factory=dict)
