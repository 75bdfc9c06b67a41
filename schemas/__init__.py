"""The messages: records, verdicts, evidence, improvements, alerts and dead letters."""

from schemas.alerts import Alert, Commonality, RejectedRecord, SeriesAnew
from schemas.base import (
    DeadLetterReason,
    Measured,
    Origin,
    Trace,
    Unreadable,
    content_id,
    digest,
    explain,
    nearest,
    to_json,
    verdict_id,
)
from schemas.dead_letters import DeadLetter
from schemas.equivalence import EquivalenceEvidence
from schemas.evidence import (
    Abstention,
    ConsistencyEvidence,
    CriterionEvidence,
    Evidence,
    LabellingEvidence,
    ProbeEvidence,
    RetrievalEvidence,
    SentenceFinding,
    ToolCallEvidence,
)
from schemas.extraction import ExtractionEvidence
from schemas.labels import Calibration, Label, ReviewRequest, TrueRateAlert, valid_labels
from schemas.records import (
    RECORD_KINDS,
    RECORD_TYPES,
    Envelope,
    Extraction,
    Generation,
    Labelling,
    Paraphrase,
    Probe,
    Record,
    Retrieval,
    ToolCall,
    Turn,
    read_record,
)
from schemas.verdicts import OUTCOMES, Attribute, Improvement, Outcome, Usage, Verdict, attributes_of
