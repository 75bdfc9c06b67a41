"""The `retrieval` section of the configuration."""

from typing import Annotated

from pydantic import Field

from checkers.checker import CheckerSettings


class RetrievalSettings(CheckerSettings):
    """The retrieval checker: how a hit is compared with its query as text, and what is accepted."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Accept a hit if its score is at least this. The score says how surely the text entails the query, or answers
    it; for a cache it is the lower one of both directions."""
