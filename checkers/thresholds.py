"""Two thresholds on a verdict's score: accept from the one, reject below the other, decide nothing in between."""

from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from checkers.checker import CheckerSettings, Undecidable

BETWEEN: Final = "between_thresholds"
"""Cause of an abstention on a score that lies between the two."""


class Thresholds(BaseModel):
    """Scores that are accepted and rejected; those between are left undecided. `assay calibrate` prints them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    accept_from: Annotated[float, Field(ge=0, le=1)] | None = None
    """Accept a record whose score is at least this. If only the other one is set, nothing is accepted."""
    reject_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """Reject a record whose score is below this. If only the other one is set, nothing is rejected."""
    judge: Annotated[str, Field(min_length=1)] | None = None
    """Name of the judge whose scores they were calibrated on, as verdicts tell it. Another judge's scores mean
    something else, so the checker is then not started. Not compared if not set."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.accept_from is not None and self.reject_below is not None and self.reject_below > self.accept_from:
            raise ValueError(
                f"reject_below is {self.reject_below:g}; it should not exceed accept_from ({self.accept_from:g})"
            )
        return self

    @property
    def are_set(self) -> bool:
        return self.accept_from is not None or self.reject_below is not None

    def require(self, judge: str) -> None:
        """Raise ValueError if they were calibrated on the scores of another judge."""
        if self.judge is not None and self.judge != judge:
            raise ValueError(
                f"thresholds.judge is {self.judge!r}, but the judge is {judge!r}: its scores mean something else. "
                "Calibrate again (assay calibrate), or remove the thresholds"
            )

    def accepts(self, score: float) -> bool:
        """True if `score` is accepted, False if it is rejected.

        Raises:
            Undecidable: `between_thresholds`.
        """
        if self.accept_from is not None and score >= self.accept_from:
            return True
        if self.reject_below is not None and score < self.reject_below:
            return False
        allowed = [
            *([] if self.reject_below is None else [f"rejected below {self.reject_below:g}"]),
            *([] if self.accept_from is None else [f"accepted from {self.accept_from:g}"]),
        ]
        raise Undecidable(BETWEEN, f"the score is {score:g}; it is {' and '.join(allowed)}", score=score)


class ScoringSettings(CheckerSettings):
    """Base class of the settings of a checker whose score can be thresholded."""

    thresholds: Thresholds = Thresholds()
    """Two thresholds on the verdict's score."""
