"""What travels: records, verdicts, evidence, improvements, alerts and dead letters."""

from schemas.alerts import Alert, AlertKind, RejectedRecord
from schemas.dead_letters import DeadLetter, DeadLetterReason
from schemas.evidence import (
    Abstention,
    ConsistencyEvidence,
    Evidence,
    LabellingEvidence,
    LabellingRound,
    LabellingRun,
    PluginEvidence,
    SampleAgreement,
    SentenceFinding,
)
from schemas.ids import content_id, digest, verdict_id
from schemas.improvements import Improvement, ImprovementRound, ImprovementStatus, SentenceChange
from schemas.origins import Origin
from schemas.reading import Unreadable, explain, read_record
from schemas.records import (
    RECORD_KINDS,
    RECORD_TYPES,
    Envelope,
    Extraction,
    Generation,
    Labelling,
    Matched,
    Paraphrase,
    Probe,
    ProbeStatement,
    Record,
    Retrieval,
    Task,
)
from schemas.verdicts import OUTCOMES, Outcome, Usage, Verdict
from schemas.writing import to_json

__all__ = [
    "OUTCOMES",
    "RECORD_KINDS",
    "RECORD_TYPES",
    "Abstention",
    "Alert",
    "AlertKind",
    "ConsistencyEvidence",
    "DeadLetter",
    "DeadLetterReason",
    "Envelope",
    "Evidence",
    "Extraction",
    "Generation",
    "Improvement",
    "ImprovementRound",
    "ImprovementStatus",
    "Labelling",
    "LabellingEvidence",
    "LabellingRound",
    "LabellingRun",
    "Matched",
    "Origin",
    "Outcome",
    "Paraphrase",
    "PluginEvidence",
    "Probe",
    "ProbeStatement",
    "Record",
    "RejectedRecord",
    "Retrieval",
    "SampleAgreement",
    "SentenceChange",
    "SentenceFinding",
    "Task",
    "Unreadable",
    "Usage",
    "Verdict",
    "content_id",
    "digest",
    "explain",
    "read_record",
    "to_json",
    "verdict_id",
]
