"""The `improver` section of the configuration."""

from typing import Annotated, Literal

from pydantic import Field

from checkers.checker import Prompts
from checkers.plugin import ImproverSettings
from models.settings import SubjectSettings


class WriterSettings(SubjectSettings):
    """The model that rewrites: an endpoint of its own, or a recording of one."""

    backend: Literal["openai", "replay"] = "openai"
    """`openai` asks an OpenAI-compatible endpoint; `replay` answers from recorded exchanges."""


class RewritingSettings(ImproverSettings):
    """The improver: how rejected responses are rewritten."""

    rounds: Annotated[int, Field(ge=1, le=10)] = 2
    """Rounds of rewriting and checking again at most. In the paper's benchmarks two mended nearly all responses."""
    deadline_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """Time limit of one improvement; it then ends with the rounds that are finished."""
    writer: WriterSettings | None = None
    """The model that rewrites; the judge if not set. The local judge cannot."""
    prompts: Prompts = Field(default_factory=dict)
