"""The messages: records, verdicts, evidence, improvements, alerts and dead letters."""

from schemas.alerts import Alert, AlertKind, Change, Commonality, RejectedRecord, SeriesAnew
from schemas.base import Measured, Origin, Trace, content_id, digest, is_name, nearest, to_json, verdict_id
from schemas.dead_letters import DeadLetter, DeadLetterReason
from schemas.equivalence import (
    AlignedPhrases,
    EquivalenceEvidence,
    EquivalenceProof,
    EquivalenceTest,
    EquivalenceTestRound,
    ParaphraseCandidate,
    PhraseAlignment,
    TriangularEvidence,
    UncoveredWord,
)
from schemas.evidence import (
    Abstention,
    ConsistencyEvidence,
    CriterionEvidence,
    DirectionFinding,
    EarlierAnswer,
    Evidence,
    JudgedSentence,
    LabellingEvidence,
    LabellingRound,
    LabellingRun,
    PluginEvidence,
    ProbeEvidence,
    RetrievalEvidence,
    SampleAgreement,
    SentenceFinding,
    TextMatch,
    ToolCallEvidence,
)
from schemas.extraction import (
    AnswerGroup,
    EntityCount,
    ExtractionEvidence,
    FailureCause,
    LinearityTestRound,
    TestedEntity,
    TransformedSentence,
    UntestedEntity,
)
from schemas.labels import (
    Calibration,
    Label,
    RateEstimate,
    ReviewRequest,
    StratumEstimate,
    TrueRateAlert,
    TrueRateCause,
    VersionRate,
    valid_labels,
)
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
    Tool,
    ToolCall,
    Turn,
)
from schemas.verdicts import (
    OUTCOMES,
    Attribute,
    Cascade,
    Improvement,
    ImprovementRound,
    ImprovementStatus,
    Outcome,
    SentenceChange,
    Usage,
    Verdict,
    attributes_of,
)
