"""Messages about labels."""

from datetime import UTC, datetime, timedelta

from schemas import Calibration, Label, Measured, Origin, ReviewRequest, TrueRateAlert
from schemas.labels import StratumEstimate

_DAY = datetime(2026, 3, 2, tzinfo=UTC)

REQUEST = ReviewRequest(
    id="req-1",
    verdict_id="ver-1",
    record_id="r1",
    source="shop",
    model="m",
    checker="fair",
    config_digest="d",
    outcome="accept",
    score=0.9,
    stratum="accept",
    inclusion_probability=0.25,
    reason="sample",
    rubric_version="1",
    origin=Origin(topic="assay.outputs", partition=0, offset=1),
    asked_at=_DAY,
    expires_at=_DAY + timedelta(days=14),
    terms=(-1.0, 1.0, -1.0, 1.0),
)

LABEL = Label(verdict_id="ver-1", source="shop", model="m", annotator="ada", label="good", labelled_at=_DAY)

_MEASURED = Measured(estimate=0.9, low=0.8, high=0.95)

CALIBRATION = Calibration(
    id="cal-1",
    source="shop",
    model="m",
    checker="fair",
    config_digest="d",
    rubric_version="1",
    updated_at=_DAY,
    verdicts=100,
    labels=30,
    agreed=24,
    judge_rate=0.9,
    rate=_MEASURED,
    labels_alone=0.1,
    kappa=_MEASURED,
    sensitivity=_MEASURED,
    specificity=None,
    strata=(StratumEstimate(stratum="accept", verdicts=90, asked=20, labels=18, good=0.9, answered=0.9),),
    pairs=3,
    pairs_agreed=2,
    disagreements=("ver-2",),
    alarm_below=None,
    alarm_evidence=0.0,
    fallen=False,
)

TRUE_RATE = TrueRateAlert(
    id="alert-1",
    cause="judge_blind",
    checker="fair",
    source="shop",
    model="m",
    config_digest="d",
    raised_at=_DAY,
    below=0.85,
    rate=_MEASURED,
    judge_rate=0.9,
    labels=120,
    error_bound=0.01,
    disagreements=("ver-2",),
    summary="The true success rate fell.",
)
