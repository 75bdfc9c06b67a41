"""Settings of the local judge."""

from pydantic import BaseModel, ConfigDict, field_validator

BUNDLED_JUDGE = "bundled"
NAMED_JUDGES = ("factcg", "hhem-2.1", "minicheck-flan-t5-large")
NLI = "nli:"
"""Before the name of a cross-encoder."""


class LocalSettings(BaseModel):
    """The model of the backend `local`."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    judge: str = BUNDLED_JUDGE
    """`bundled`, `factcg`, `hhem-2.1`, `minicheck-flan-t5-large`, or `nli:NAME` (`nli:NAME@COMMIT`): a cross-encoder of
    the Hugging Face hub, or a folder."""

    @field_validator("judge")
    @classmethod
    def _is_known(cls, value: str) -> str:
        name = value.removeprefix(NLI)
        if value in {BUNDLED_JUDGE, *NAMED_JUDGES} or (name != value and name.partition("@")[0].strip()):
            return value
        allowed = ", ".join([BUNDLED_JUDGE, *NAMED_JUDGES])
        raise ValueError(f"{value!r} is no judge; there are {allowed}, and {NLI}NAME for a cross-encoder")
