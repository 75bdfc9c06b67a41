"""The `retrieval` section of the configuration."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings


class RetrievalSettings(CheckerSettings):
    """The retrieval checker: how a hit is compared with its query as text, and what is accepted."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Accept a hit if its score is at least this. The score says how surely the text entails the query, or answers
    it; for a cache it is the lower one of both directions."""
    max_candidates: Annotated[int, Field(ge=0, le=100)] = 10
    """Other candidates that are compared as well at most, the closest first."""
    max_characters: Annotated[int, Field(ge=1)] = 20_000
    """Abstain if query plus matched text exceed this many characters; candidates share the remainder."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `cache`, `knowledge`, `question`."""
