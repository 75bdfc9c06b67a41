"""The `consistency` section of the configuration."""

from typing import Annotated

from pydantic import Field

from checkers.thresholds import ScoringSettings


class ConsistencySettings(ScoringSettings):
    """The consistency checker: how sentences are judged, and what is accepted."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Accept a response if its share of consistent sentences is at least this. Not asked once `thresholds` are set."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Language of the responses, an ISO 639 code: its rules divide them into sentences."""
