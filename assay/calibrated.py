"""The result of a calibration, for a person, for `assay.toml` and for a program."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from assay.calibration import Calibration, Labelled, Outcome, Shortfall, Threshold, calibrate, shortfall
from models.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The thresholds of one checker."""

    checker: str
    judge: str
    """Name of the judge whose scores were thresholded."""
    found: Calibration
    short: Mapping[Outcome, Shortfall]
    """Promises that can be kept of the outcomes that have no threshold."""
    abstained: int
    """Labelled records that have no score, as the checker abstains on them."""

    @classmethod
    def of(
        cls, scored: Sequence[Labelled], *, error: float, confidence: float, checker: str, judge: str, abstained: int
    ) -> Self:
        """Calibrate one checker on its scores."""
        found = calibrate(scored, error=error, confidence=confidence)
        missing = [outcome for outcome, value in found.values.items() if value is None]
        short = {outcome: shortfall(scored, outcome, error=error, confidence=confidence) for outcome in missing}
        return cls(checker=checker, judge=judge, found=found, short=short, abstained=abstained)

    def lines(self) -> Iterator[str]:
        """The table and the promise; why not, where there is none."""
        found = self.found
        yield f"{self.checker}, judged by {self.judge}: {counted(found.labels, 'labelled record')} with a score"
        if self.abstained:
            yield f"{counted(self.abstained, 'further one')} abstained on, which no threshold changes"
        yield f"{'':<14}{'score':>9}{'decided':>9}{'wrong':>7}{'of them':>9}"
        for name, threshold in (("accept from", found.accept), ("reject below", found.reject)):
            value = "-" if threshold.value is None else f"{threshold.value:g}"
            share = f"{threshold.wrong / threshold.decided:.1%}" if threshold.decided else "-"
            yield f"{name:<14}{value:>9}{threshold.decided:>9}{threshold.wrong:>7}{share:>9}"
        yield f"{'undecided':<14}{'':>9}{found.labels - found.decided:>9}"
        yield ""
        if found.keeps:
            yield f"With confidence {found.confidence:g}, at most {found.error:g} of what is accepted is wrong, and"
            yield "at most as much of what is rejected, if the labelled records are drawn as the later ones are."
        for outcome, short in self.short.items():
            yield f"No threshold to {outcome} keeps an error of {found.error:g}: {_instead(short, found.error)}."

    def section(self) -> Iterator[str]:
        """Lines for `assay.toml`."""
        yield f"[{self.checker}.thresholds]"
        for key, threshold in (("accept_from", self.found.accept), ("reject_below", self.found.reject)):
            if threshold.value is not None:
                yield f"{key} = {threshold.value}"
        yield f"judge = {json.dumps(self.judge)}"

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        found = self.found
        return {
            "checker": self.checker,
            "judge": self.judge,
            "error": found.error,
            "confidence": found.confidence,
            "kept": found.keeps,
            "accept_from": found.accept.value,
            "reject_below": found.reject.value,
            "labels": found.labels,
            "abstained": self.abstained,
            "decided": found.decided,
            "wrong": found.wrong,
            "accept": _document(found.accept, self.short.get("accept")),
            "reject": _document(found.reject, self.short.get("reject")),
        }


def _instead(short: Shortfall, error: float) -> str:
    possible = (
        f"these labels could promise {short.possible:.2f}"
        if short.possible is not None
        else "these labels could promise no error below 0.5"
    )
    needed = (
        f"about {short.needed:,} labels would keep {error:g}"
        if short.needed is not None
        else f"even the most certain scores are wrong too often for {error:g}, whatever the number of labels"
    )
    return f"{possible}; {needed}"


def _document(threshold: Threshold, short: Shortfall | None) -> dict[str, Any]:
    return {
        "decided": threshold.decided,
        "wrong": threshold.wrong,
        "possible_error": None if short is None else short.possible,
        "labels_needed": None if short is None else short.needed,
    }
