"""The `consistency` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings


class ConsistencySettings(CheckerSettings):
    """How DCE and AMC are run, and what is accepted."""

    granularity: Literal["sentence", "paragraph"] = "sentence"
    """Judge sentence by sentence, or the whole response as one (the paper's ablation)."""
    calls: Literal["one", "per_sentence"] = "one"
    """Ask about all sentences in one call (the paper's way), or about each in a call of its own, in parallel."""
    marks_from: Literal["reasons", "flag"] = "reasons"
    """Convert every reason into a mark (AMC), or take the judge's own flag (DCE alone)."""
    convert: Literal["shortcut", "always_ask"] = "shortcut"
    """Read a mark off a reason's fixed opening words where they are there, or always ask, as the paper does."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Accept a response whose share of consistent sentences reaches this."""
    max_sentences: Annotated[int, Field(ge=1, le=10_000)] = 400
    """Abstain on responses of more sentences than this."""
    max_samples: Annotated[int, Field(ge=1, le=100)] = 20
    """Hold a response against at most this many of its other samples."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """ISO 639 code of the language whose rules divide responses into sentences."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Own templates by name, such as `summary`, `summary.paragraph` or `convert`."""
