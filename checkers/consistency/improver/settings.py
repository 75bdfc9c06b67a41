"""The `improver` section of the configuration."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from checkers.oracle.settings import SubjectSettings
from checkers.plugin import ImproverSettings


class WriterSettings(SubjectSettings):
    """The model that rewrites: an endpoint of its own, or a recording of one."""


class RewritingSettings(ImproverSettings):
    """How rejected responses are rewritten."""

    rounds: Annotated[int, Field(ge=1, le=10)] = 2
    """Rewrite and check again at most so often; the paper's benchmarks were nearly all mended after two."""
    max_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 30_000
    """Longer responses are not tried. An improvement holds its response some seven times (before, after, by round, by
    sentence), and Kafka takes 1 MB by default."""
    deadline_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """An improvement that takes longer ends with the rounds that it has by then."""
    writer: WriterSettings | None = None
    """Who rewrites; the judge where nobody is named, unless it is the local one, which cannot."""
    prompts: dict[str, Path] = Field(default_factory=dict)
    """Own templates by name: `improve`, `improve.paragraph`."""
