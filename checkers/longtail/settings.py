"""The `longtail` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.checker import OPERATIONAL, CheckerSettings
from checkers.longtail.link.settings import LinkSettings
from schemas.base import Name

Way = Literal["zero-shot", "chain-of-thought"]
"""How a probe is asked: for the answer alone, or for reasoning first, after two worked examples."""


class ProbeSettings(BaseModel):
    """The probe scheduler: which subjects are asked about which statements, and how often."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    corpus: Path | None = None
    """File of statements, or the folder that `assay probes build` wrote. Setting it switches the scheduler on."""
    models: tuple[Name, ...] = ()
    """Names of the subjects to ask, each of which must be configured in `subjects`; all of them if empty."""
    seconds_between: float = Field(default=60.0, ge=0.01, le=86_400)
    """Time from one probe of a subject to its next, at least: with 60 a subject is asked 1,440 questions a day."""
    way: Way = "zero-shot"
    """Ask for the answer alone, or for reasoning first (`chain-of-thought`), which costs more tokens."""
    seed: int = 0
    """Seed of the order in which statements and templates are drawn."""
    source: Name = "probe-scheduler"
    """The `source` of the records."""
    prompts: dict[str, Path] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `answer`, `reasoning`."""


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which subjects are asked about which statements, and how often."""
    link: Annotated[LinkSettings, OPERATIONAL] = LinkSettings()
    """How `assay probes build` searches for statements: the models, and the sizes of the search."""
