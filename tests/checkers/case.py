"""A method on the stream: `tests/checkers/NAME/stream_case.py` has its `CASE`, and goes with the method."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from checkers.checker import Checker
from models.build import build_judge, build_model
from models.judges.prompted import PromptedJudge
from models.protocol import Model
from models.settings import JudgeSettings
from schemas import Abstention, Evidence, Verdict
from tests.support.stub_endpoint import StubEndpoint


@dataclass(frozen=True, kw_only=True)
class StreamCase:
    """Records of all outcomes, by id, and what must become of them."""

    endpoint: Callable[[], StubEndpoint]
    """All models behind one endpoint."""
    checker: Callable[[StubEndpoint], Checker[Any]]
    records: Mapping[str, bytes]
    accepted: Collection[str]
    rejected: Collection[str]
    causes: Mapping[str, str]
    """The causes of abstentions."""
    counted: Sequence[tuple[str, str, int]]
    """Outcome, model and number of verdicts."""


def model(stub: StubEndpoint, name: str) -> Model:
    return build_model(JudgeSettings(backend="openai", base_url=stub.base_url, model=name))


def prompted(stub: StubEndpoint, name: str, **settings: Any) -> PromptedJudge:
    """A judge behind the endpoint."""
    judge = build_judge(JudgeSettings(backend="openai", base_url=stub.base_url, model=name, **settings))
    assert isinstance(judge, PromptedJudge)
    return judge


EvidenceT = TypeVar("EvidenceT", bound=Evidence)


def evidence_of(kind: type[EvidenceT], verdict: Verdict) -> EvidenceT:
    """The verdict's evidence, of this kind."""
    assert isinstance(verdict.evidence, kind), verdict.reason
    return verdict.evidence


def abstention_of(verdict: Verdict) -> Abstention:
    assert (verdict.outcome, verdict.score) == ("abstain", None), verdict.reason
    return evidence_of(Abstention, verdict)


def cause_of(verdict: Verdict) -> str:
    """The cause of an abstention."""
    return abstention_of(verdict).cause
