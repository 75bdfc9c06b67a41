"""The `consistency` section of the configuration."""

from typing import Annotated

from pydantic import Field

from checkers.thresholds import ScoringSettings
from schemas.records import MOST_TURNS


class ConsistencySettings(ScoringSettings):
    """The consistency checker: how sentences are judged, and what is accepted."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Accept a response if its share of consistent sentences is at least this. Not asked once `thresholds` are set."""
    turns: Annotated[int, Field(ge=0, le=MOST_TURNS)] = 0
    """Earlier answers of the record's `session` that a response must not contradict, the last ones; 0: none. They are
    kept until the session is silent for `sessions.silent_minutes`."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Language of the responses, an ISO 639 code: its rules divide them into sentences."""
