"""The `equivalence` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings
from checkers.equivalence.parsers.settings import ParserSettings
from checkers.equivalence.proof import Require
from checkers.equivalence.questions import PARAPHRASES


class EquivalenceSettings(ParserSettings, CheckerSettings):
    """What proves a yes, how a no is tested, who is asked, and who parses."""

    require: Require = "or"
    """`or`: one alignment of the four proves a yes. `and`: it takes one in either direction; fewer proofs, and fewer
    wrong ones."""
    ask: Literal["subject_or_judge", "subject", "judge"] = "subject_or_judge"
    """Who answers the questions. The judge steps in for a subject that is not configured, but for phrases only: a no
    tests whoever is asked, so the judge is tested in the subject's place only where `judge` says so."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase; the first yes rejects it."""
    at_once: Annotated[int, Field(ge=1, le=32), OPERATIONAL] = 1
    """Phrase questions of one record under way; more of them save time, and ask some that turn out to be needless."""
    model: str | None = None
    """Name or path of the sentence-transformers model that compares phrases; None takes the bundled one."""
    seed: int = 0
    """What draws are made of, along with the record's id; to be set where a subject might know it."""
    deadline_seconds: Annotated[float, Field(gt=0), OPERATIONAL] = 50.0
    """Abstain if a check takes longer. At most `delivery.check_timeout_seconds`."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Own templates by name: `equivalent`, `phrase`, `paraphrases`."""
