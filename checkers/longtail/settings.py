"""The `longtail` section of the configuration."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.checker import OPERATIONAL, CheckerSettings
from schemas.base import Fraction, Name

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
    """Length of the intervals in which a subject is asked one probe each: with 60 it is 1,440 questions a day."""
    way: Way = "zero-shot"
    """Ask for the answer alone, or for reasoning first (`chain-of-thought`), which costs more tokens."""
    seed: int = 0
    """Seed of the order in which statements and templates are drawn."""
    source: Name = "probe-scheduler"
    """The `source` of the records."""
    prompts: dict[str, Path] = Field(default_factory=dict)
    """Files of your own prompt templates, by the name of the one they replace: `answer`, `reasoning`."""


class LinkSettings(BaseModel):
    """How `assay probes build` searches for statements."""

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
    values: int = Field(default=50, ge=1, le=200)
    """Values asked for in one call."""
    calls: int = Field(default=4, ge=1, le=20)
    """Calls for a variable of one beam at most; two in a row without a correct value end them."""
    beams: int = Field(default=200, ge=1, le=5000)
    """Beams that are kept after a variable, of more than so many."""
    keep: Fraction = Field(default=0.75, gt=0)
    """The share of beams that is kept if there are not so many."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Sampling temperature of the knowledge model. An endpoint with `temperature = "omit"` gets none."""
    fact_floor: Fraction = 0.5
    """The critic's threshold for facts never falls below this probability; that for data types stops at 0.65."""
    wrong_share: Fraction = Field(default=0.16, lt=1)
    """The share of statements that are wrong on purpose, made with values that the critic finds false (0.16 in the
    paper's corpus); 0 makes none."""


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which subjects are asked about which statements, and how often."""
    link: Annotated[LinkSettings, OPERATIONAL] = LinkSettings()
    """How `assay probes build` searches for statements: the models, and the sizes of the search."""
