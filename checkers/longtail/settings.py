"""The `longtail` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.checker import OPERATIONAL, CheckerSettings
from schemas.base import Name

Way = Literal["zero-shot", "chain-of-thought"]
"""The way in which a probe is asked: for the answer alone, or for reasoning first, after two worked examples."""


class ProbeSettings(BaseModel):
    """The probe scheduler: which subjects are asked about which statements, and how often."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    corpus: Path | None = None
    """File of statements, the folder that `assay probes build` wrote, or `bundled` for those that come with assay.
    Setting it switches the scheduler on."""
    models: tuple[Name, ...] = ()
    """Names of the subjects to ask, each of which must be configured in `subjects`; all of them if empty."""
    seconds_between: float = Field(default=60.0, ge=0.01, le=86_400)
    """Length of the intervals in which a subject is asked one probe each: with 60 it is 1,440 questions a day."""
    way: Way = "zero-shot"
    """Ask for the answer alone, or for reasoning first (`chain-of-thought`), which costs more tokens."""


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which subjects are asked about which statements, and how often."""
