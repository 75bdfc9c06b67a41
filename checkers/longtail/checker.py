"""The longtail checker: is the answer to a probe the right one (LINT, section 4)."""

from pathlib import Path
from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict

from checkers.checker import OPERATIONAL, Checker, CheckerSettings, Decision, Undecidable
from checkers.longtail.templates import polarity
from checkers.longtail.yes_or_no import UNREADABLE, is_right, meaning
from models.wording import on_a_line
from schemas import Probe, ProbeEvidence
from schemas.evidence import SubjectCause

UNANSWERED = "unanswered"
"""Key of a probe's metadata: why the subject gave no answer."""


class ProbeSettings(BaseModel):
    """The probe scheduler: which statements all subjects are asked about, one a minute."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    corpus: Path | None = None
    """File of statements, the folder that `assay probes build` wrote, or `bundled`. It switches the scheduler on."""


class LongtailSettings(CheckerSettings):
    """The longtail checker: answers to probes, and the probes that are asked of subjects."""

    probes: Annotated[ProbeSettings, OPERATIONAL] = ProbeSettings()
    """The probe scheduler: which statements all subjects are asked about, one a minute."""


class LongtailChecker(Checker[LongtailSettings]):
    """Compares the answers of subjects with the expected ones; asks no model."""

    name = "longtail"
    version = "2"
    asks_judge = False

    async def decide(self, record: Probe) -> Decision:
        """Accept the right answer, reject any other; undecidable if either cannot be read."""
        if meaning(record.expected) is None:
            raise Undecidable("unparsable", f"the expected answer: {UNREADABLE}")
        evidence = ProbeEvidence(
            **record.statement.model_dump(include={"premise", "conclusion", "domain", "distribution"}),
            template=record.template,
            polarity=polarity(record.template, record.expected),
            question=record.question,
            expected=record.expected,
            answer=record.answer,
            reasoning=record.reasoning,
        )
        for cause in get_args(SubjectCause):
            if record.metadata.get(UNANSWERED) == cause:
                raise Undecidable(cause, "the subject gave no answer", probe=evidence)
        right = is_right(record.answer, record.expected)
        if right is None:
            detail = f"{UNREADABLE} (“{on_a_line(record.answer)}”)"
            raise Undecidable("subject_unusable", detail, probe=evidence)
        found = "Right" if right else f"Wrong, expected {record.expected}"
        reason = f"{found}: “{on_a_line(record.answer)}” to “{on_a_line(record.question, 240)}”"
        return Decision(accepted=right, reason=reason, evidence=evidence)
