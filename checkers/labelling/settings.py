"""The `labelling` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings
from checkers.labelling.distance import DistanceName


class LabellingSettings(CheckerSettings):
    """How the evaluator-verifier protocol is run, and under which rubrics."""

    rubrics: Annotated[dict[str, Path | Annotated[list[Path], Field(min_length=1, max_length=100)]], OPERATIONAL] = (
        Field(default_factory=dict)
    )
    """A file by the name that records have it by; for k labels a list of k - 1 files, of one label against the rest."""
    examples: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """By the same names, a file of datapoints (`{"x": ..., "y": ...}` a line, y where it is known): the first five are
    shown to the subject, all are there to be picked from."""
    strategy: Literal["generate", "pick"] = "generate"
    """How the subject makes x': on its own, or by picking one out of five examples of which at least one matches."""
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    """Challenges to pass; a lie survives all of them with probability (1/2)^rounds at most."""
    epsilon: Annotated[float, Field(gt=0, le=0.5)] | None = None
    """Relaxes the second challenge: it fails from this distance on, and not at any difference; no bound holds then."""
    distance: DistanceName = "hamming"
    """Between encodings, where `epsilon` is set."""
    contradiction: Literal["note", "reject"] = "note"
    """What becomes of a record whose label is not the one that the subject, though it passes, now gives."""
    seed: int = 0
    """What the draws of challenges are made of, along with the record's id; to be set where a subject might know it."""
    max_characters: Annotated[int, Field(ge=1)] = 20_000
    """Abstain on longer datapoints (as text, or as JSON)."""
    deadline_seconds: Annotated[float, Field(gt=0), OPERATIONAL] = 50.0
    """Abstain if a check takes longer. At most `delivery.check_timeout_seconds`."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Own templates by name: `label`, `pick`, `generate`, `criterion`."""
