"""The section `longtail.link` of the configuration: the models of a search, and its sizes."""

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Fraction, Name


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
