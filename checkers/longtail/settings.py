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


class LinkSettings(BaseModel):
    """The search of `assay probes build` for statements."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    knowledge: Name = "judge"
    """The model that is asked for values: `judge`, or a name in `subjects`. It is behind an endpoint."""
    critic: Name = "judge"
    """The model that says how probable it is that a value is right: `judge`, or a name in `subjects`. It is behind an
    endpoint, best one that gives log-probabilities; of one that does not, yes and no count as 1 and 0."""
    scorer: Name = "HuggingFaceTB/SmolLM2-135M"
    """The model whose likelihood of a sentence ranks it: the name of a causal language model on the Hugging Face hub,
    or its folder; or `endpoint:` and `judge` or a name in `subjects`, for an endpoint that gives the log-probabilities
    of a prompt (`/completions` with `echo`)."""
    measurer: Name | None = None
    """The model that says how far head and tail are apart (delta), named like `scorer` and another one: what a model
    has ranked it finds apart, whatever it knows. Without it no delta is told."""
    values: int = Field(default=50, ge=1, le=200)
    """Values asked for in one call; a variable of one beam has four calls."""
    beams: int = Field(default=200, ge=1, le=5000)
    """Beams that are kept after a variable, of more than so many; three quarters of fewer."""


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which subjects are asked about which statements, and how often."""
    link: Annotated[LinkSettings, OPERATIONAL] = LinkSettings()
    """The search of `assay probes build` for statements: its models and its sizes."""
