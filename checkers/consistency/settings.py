"""The `consistency` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import OPERATIONAL, CheckerSettings


class ConsistencySettings(CheckerSettings):
    """The consistency checker: how sentences are judged, and what is accepted."""

    granularity: Literal["sentence", "paragraph"] = "sentence"
    """Judge a response sentence by sentence, or as one piece (an ablation of the paper)."""
    calls: Literal["one", "per_sentence"] = "one"
    """Ask about all sentences in one call, as the paper does, or about each in a call of its own, in parallel."""
    marks_from: Literal["reasons", "flag"] = "reasons"
    """Convert the reason for each sentence into a mark (AMC), or take the judge's own flag (DCE alone)."""
    convert: Literal["shortcut", "always_ask"] = "shortcut"
    """Read a mark off the fixed opening words of a reason and ask only if they are missing, or always ask, as the paper
    does."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Accept a response if its share of consistent sentences is at least this."""
    max_sentences: Annotated[int, Field(ge=1, le=10_000)] = 400
    """Abstain on responses of more sentences."""
    max_samples: Annotated[int, Field(ge=1, le=100)] = 20
    """Samples that a response is compared with at most."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    """Language of the responses, an ISO 639 code: its rules divide them into sentences."""
    prompts: Annotated[dict[str, Path], OPERATIONAL] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `summary`, `answer`, `paraphrase`, each
    also with `.paragraph`, and `convert`."""
