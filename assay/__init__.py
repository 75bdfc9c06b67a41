"""Checks from Python, and all that a checker of another package imports."""

from assay.from_python import Verdicts, acheck, assert_accepted, check
from checkers.checker import OPERATIONAL, Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.plugin import CheckerPlugin
from models.prompts import PromptSet
from models.protocol import (
    Answer,
    ClaimKind,
    Claims,
    Grades,
    Judge,
    Judgement,
    Message,
    Model,
    ModelFailed,
    ModelUnavailable,
    Question,
)
from schemas import Envelope, Extraction, Generation, Labelling, Paraphrase, Probe, Retrieval, Usage, Verdict

__all__ = [
    "OPERATIONAL",
    "Answer",
    "Checker",
    "CheckerPlugin",
    "CheckerSettings",
    "ClaimKind",
    "Claims",
    "Decision",
    "Envelope",
    "Extraction",
    "Generation",
    "Grades",
    "Judge",
    "Judgement",
    "Labelling",
    "Message",
    "Model",
    "ModelFailed",
    "ModelUnavailable",
    "Models",
    "Paraphrase",
    "Probe",
    "PromptSet",
    "Question",
    "Retrieval",
    "Undecidable",
    "Usage",
    "Verdict",
    "Verdicts",
    "acheck",
    "assert_accepted",
    "check",
]
