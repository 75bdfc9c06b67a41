"""The `retrieval` section of the configuration."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings


class RetrievalSettings(CheckerSettings):
    """How hits are matched as texts, and what is accepted."""

    cross_encoder: str | None = None
    """Name or path of a sentence-transformers cross-encoder that matches in the judge's place: one with an entailment
    label, or one that gives a single score of how far two texts mean the same."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Accept a hit whose score reaches this: that the text entails the query, or the lower of both ways for a cache."""
    max_candidates: Annotated[int, Field(ge=0, le=100)] = 10
    """Match at most this many of the other candidates, the closest first."""
    max_characters: Annotated[int, Field(ge=1)] = 20_000
    """Abstain where query and matched text are longer together; candidates have what these leave of it."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Own templates by name: `cache`, `knowledge`."""
