"""The `labelling` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings, Prompts


class LabellingSettings(CheckerSettings):
    """The labelling checker: how the evaluator-verifier protocol is run, and under which rubrics."""

    rubrics: Annotated[dict[str, Path | Annotated[list[Path], Field(min_length=1, max_length=100)]], OPERATIONAL] = (
        Field(default_factory=dict)
    )
    """Rubric files, by the name that records use. A rubric of k labels is a list of k - 1 files, each of one label
    against the rest."""
    examples: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of example datapoints, by the same names: a line `{"x": ..., "y": ..., "reasons": [...]}` for each, `y`
    (the label) and `reasons` (a text a criterion) if they are known. The subject is shown the first five and may pick
    from all."""
    strategy: Literal["generate", "pick"] = "generate"
    """The way in which the subject makes its own datapoint: by writing one, or by picking one of five examples of which
    at least one matches."""
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    """Challenges to pass. A lie passes all of them with a probability of at most (1/2)^rounds."""
    seed: int = 0
    """Seed of the draws of challenges, together with the record's id. Change it if a subject might know it."""
    prompts: Prompts = Field(default_factory=dict)
