"""The `longtail` section of the configuration."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from checkers.checker import OPERATIONAL, CheckerSettings
from schemas.base import Name


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


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which subjects are asked about which statements, and how often."""
