"""The form of the judge's answers, to DCE and to AMC alike (paper, appendix A.2)."""

from pydantic import BaseModel, ConfigDict

from models.replies import salvaging

CONSISTENT = "consistent"
"""The field of an entry that decides."""


class Entry(BaseModel):
    """What the judge says about one numbered sentence, or about one numbered reason.

    The fields are in the order in which they are to be written: a model that has told why decides better.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    reason: str
    consistent: bool


class Entries(BaseModel):
    """An answer: an entry a number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entries: list[Entry]


whole_entries = salvaging(Entries, "entries")
"""The entries of an answer that was cut off, without the last if that is not whole."""
