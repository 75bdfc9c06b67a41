"""The `improver` section of the configuration."""

from typing import Literal

from checkers.plugin import ImproverSettings
from models.settings import SubjectSettings


class WriterSettings(SubjectSettings):
    """The model that rewrites: its own endpoint, or a recording of one."""

    backend: Literal["openai", "replay"] = "openai"
    """`openai` asks an OpenAI-compatible endpoint; `replay` answers from recorded exchanges."""


class RewritingSettings(ImproverSettings):
    """The improver: how rejected responses are rewritten."""

    writer: WriterSettings | None = None
    """The model that rewrites; the judge if not set. The local judge cannot."""
