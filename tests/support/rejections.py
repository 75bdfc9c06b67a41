"""Rejected verdicts, improvements and alerts about records, as checkers, improvers and monitors write them."""

from datetime import UTC, datetime
from typing import Any

from schemas import (
    Alert,
    ConsistencyEvidence,
    Improvement,
    Origin,
    RejectedRecord,
    SentenceFinding,
    SeriesAnew,
    Usage,
    Verdict,
    verdict_id,
)
from schemas.alerts import Change
from schemas.evidence import PluginEvidence

DAY = datetime(2026, 11, 16, 8, tzinfo=UTC)


def rejection(number: int, topic: str, **more: Any) -> Verdict:
    """The verdict on the record `r{number}` of `tests.support.traffic`, which stands at this offset of `topic`."""
    said: dict[str, Any] = {
        "record_id": f"r{number}",
        "checker": "consistency",
        "checker_version": "1",
        "config_digest": "d",
        "outcome": "reject",
        "score": 0.5,
        "reason": f"Sentence {number} is not supported.",
        "evidence": PluginEvidence(checker="consistency", findings={}),
        "usage": Usage(),
        "source": "tests",
        "model": "m",
        "judge": "j",
        "origin": Origin(topic=topic, partition=0, offset=number),
        "checked_at": DAY,
    } | more
    said.setdefault("id", verdict_id(said["source"], said["record_id"], said["checker"], said["config_digest"]))
    return Verdict(**said)


def consistency_rejection(number: int, topic: str, *findings: SentenceFinding) -> Verdict:
    """The same with evidence of the consistency checker."""
    evidence = ConsistencyEvidence(
        task="answer",
        against="reference",
        sentences=findings,
        consistent_share=0.0,
    )
    return rejection(number, topic, evidence=evidence)


def improvement(number: int, topic: str, **more: Any) -> Improvement:
    """The improvement of the record that `rejection` rejects."""
    verdict = rejection(number, topic)
    said: dict[str, Any] = {
        "id": f"imp-{number}",
        "verdict_id": verdict.id,
        "record_id": verdict.record_id,
        "checker": verdict.checker,
        "improver": "improver",
        "improver_version": "1",
        "config_digest": "d",
        "status": "improved",
        "before": f"Response {number}.",
        "after": f"Better response {number}.",
        "score_before": 0.5,
        "score_after": 1.0,
        "reason": "Rewritten.",
        "usage": Usage(),
        "source": "tests",
        "model": "m",
        "writer": "w",
        "judge": "j",
        "origin": verdict.origin,
        "improved_at": DAY,
    } | more
    return Improvement(**said)


def alert(number: int, **more: Any) -> Alert:
    """A drop of trust, the last of whose rejected records is `r{number}`."""
    said: dict[str, Any] = {
        "id": f"alert-{number}",
        "kind": "trust_drop",
        "checker": "consistency",
        "source": "tests",
        "model": "m",
        "raised_at": DAY,
        "baseline": 0.9,
        "baseline_from": "configured",
        "observed": 0.7,
        "observed_low": 0.6,
        "observed_high": 0.8,
        "verdicts": 100,
        "error_bound": 0.01,
        "summary": "Trust in m dropped.",
        "rejected": (
            RejectedRecord(verdict_id="v", record_id=f"r{number}", reason=f"Reason {number}.", checked_at=DAY),
        ),
    } | more
    return Alert(**said)


def series_anew(number: int) -> SeriesAnew:
    """A series whose judge was exchanged."""
    return SeriesAnew(
        id=f"anew-{number}",
        checker="consistency",
        source="tests",
        model="m",
        raised_at=DAY,
        changed=(Change(name="judge", before="big", after="small"),),
        verdicts=100,
        ended_drop=None,
        summary="The judge of m changed.",
    )
