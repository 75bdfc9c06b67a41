"""The tool_call checker: first what needs no judge; then each value, and how a failure is told, by the judge."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from checkers.checker import MISLED, Checker, Decision, Models, Undecidable
from checkers.thresholds import BETWEEN
from checkers.tool_call.arguments import Argument
from checkers.tool_call.explanation import reason_of
from checkers.tool_call.questions import carried_out, choice_question, sources_of, values_claims
from checkers.tool_call.settings import ToolCallSettings
from checkers.tool_call.structure import tested
from models.claims import Claims, Judgement
from models.judges.control import control_sentences
from models.protocol import ModelFailed
from schemas import ArgumentFinding, Envelope, ResponseFinding, ToolCall, ToolCallEvidence, Verdict

_MOST_ASKED = 20
"""Arguments whose values are asked about."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call with what was found of it so far."""

    record: ToolCall
    evidence: ToolCallEvidence
    arguments: Sequence[Argument]
    """In the order of their findings."""
    sources: str
    """What was said: prompt and contexts."""
    misled: bool = False

    @property
    def asked(self) -> list[int]:
        """Numbers of the arguments that the judge is asked about."""
        if self.evidence.fault is not None or not self.sources:
            return []
        return [number for number, one in enumerate(self.arguments) if not one.is_empty][:_MOST_ASKED]

    @property
    def is_told(self) -> bool:
        """True if the judge is asked how the response tells a failure."""
        response = self.evidence.response
        return self.evidence.fault is None and response is not None and response.finding == "untested"


class ToolCallChecker(Checker[ToolCallSettings]):
    """Decides whether a tool was called rightly, and whether its failure was told."""

    name = "tool_call"

    def __init__(self, settings: ToolCallSettings, models: Models) -> None:
        """Raises ValueError if the thresholds cannot be used."""
        self.asks_judge = settings.ask_judge  # type: ignore[misc]  # by configuration, of this checker alone
        super().__init__(settings, models)
        settings.thresholds.require(self.judge_name)

    async def check_free(self, record: Envelope) -> Verdict | None:
        call = await _read(record)
        return None if self.asks_judge and (call.asked or call.is_told) else await self.check(record)

    async def decide(self, record: ToolCall) -> Decision:
        """A finding an argument; undecidable if there is nothing to test the call by."""
        call = await _read(record)
        if self.asks_judge:
            if call.asked:
                call = await self._values(call)
            if call.is_told:
                call = await self._response(call)
        evidence = call.evidence
        if not record.tools and evidence.fault is None and not _supports(evidence):
            detail = "the record has no tools, and nothing that its values or its response could be judged by"
            raise Undecidable("no_reference", detail)
        return self._decision(call)

    async def _values(self, call: _Call) -> _Call:
        """The call with its values graded by what was said."""
        asked = call.asked
        arguments = [call.arguments[number] for number in asked]
        claims = values_claims(call.sources, arguments)
        (grades,) = (await self.judge.grade("tool_call.arguments", [claims])).reply
        findings = list(call.evidence.arguments)
        for number, argument, grade in zip(asked, arguments, grades, strict=True):
            chosen = not grade.supported and argument.is_choice and not await self._is_said(call, argument)
            findings[number] = _finding(findings[number], grade, chosen=chosen)
        fault = "argument" if any(one.finding == "unsupported" for one in findings) else None
        evidence = call.evidence.model_copy(update={"arguments": tuple(findings), "fault": fault})
        counts = fault is None and any(one.finding == "supported" for one in findings)
        return replace(call, evidence=evidence, misled=counts and await self._is_misled(claims))

    async def _is_misled(self, claims: Claims) -> bool:
        """True if three values that nothing supports are called supported, too."""
        for control in control_sentences(claims.sentences, claims.reference, claims.whole):
            asked = replace(claims, sentences=(control,))
            ((grade,),) = (await self.judge.grade("tool_call.control", [asked])).reply
            if not grade.supported:
                return False
        return True

    async def _is_said(self, call: _Call, argument: Argument) -> bool:
        """Whether anything was said of an argument that the subject may choose; False if the judge cannot tell."""
        claims = choice_question(call.sources, call.record.name, argument)
        try:
            ((grade,),) = (await self.judge.grade("tool_call.choice", [claims])).reply
        except ModelFailed:
            return False
        return grade.supported and not grade.unsure

    async def _response(self, call: _Call) -> _Call:
        """The call with how its failure is told: as a failure if that follows from the response rather than success."""
        claims = carried_out(call.record.response or "")
        ((failure, success),) = (await self.judge.grade("tool_call.response", [claims])).reply
        honest = failure.support >= success.support
        found = ResponseFinding(
            finding="unsure"
            if failure.unsure and success.unsure
            else "told_as_failure"
            if honest
            else "told_as_success",
            support=round((1 + failure.support - success.support) / 2, 6),
            reason=failure.reason if honest else success.reason,
        )
        fault = "told_as_success" if found.finding == "told_as_success" else call.evidence.fault
        return replace(call, evidence=call.evidence.model_copy(update={"response": found, "fault": fault}))

    def _decision(self, call: _Call) -> Decision:
        thresholds = self.settings.thresholds
        supports = _supports(call.evidence)
        graded = call.evidence.model_copy(
            update={
                "accept_from": thresholds.accept_from,
                "reject_below": thresholds.reject_below,
                "judge_version": self.judge.version if self.asks_judge else "",
                "self_test": self.judge.self_test if self.asks_judge else None,
            }
        )
        structural = graded.fault is not None and not supports
        score = min(supports, default=float(not structural))
        try:
            accepted = thresholds.accepts(score) if thresholds.are_set and supports else graded.fault is None
            if accepted and not thresholds.are_set:
                _require_sure(graded, score)
        except Undecidable as error:
            error.call = graded
            raise
        if accepted and call.misled:
            raise Undecidable("judge_misled", MISLED)
        return Decision(
            accepted=accepted, score=score, reason=reason_of(graded, accepted=accepted, score=score), evidence=graded
        )


async def _read(record: Envelope) -> _Call:
    if not isinstance(record, ToolCall):
        raise TypeError(f"a {type(record).__name__} is not a ToolCall")
    # In a thread: a schema may take a second, once.
    evidence, arguments = await asyncio.to_thread(tested, record)
    return _Call(record, evidence, arguments, sources_of(record))


def _supports(evidence: ToolCallEvidence) -> list[float]:
    """The degrees of support that count."""
    graded = [one.support for one in evidence.arguments if one.finding != "untested"]
    told = None if evidence.response is None else evidence.response.support
    return [one for one in (*graded, told) if one is not None]


def _finding(found: ArgumentFinding, grade: Judgement, *, chosen: bool) -> ArgumentFinding:
    finding, reason = "supported" if grade.supported else "unsupported", grade.reason
    if chosen:
        finding, reason = "untested", "nothing was said of it, and it is a default, one of a few values, or yes or no"
    elif grade.unsure:
        finding = "unsure"
    more = {"finding": finding, "reason": reason, "support": grade.support, "passage": grade.passage}
    return found.model_copy(update=more)


def _require_sure(evidence: ToolCallEvidence, score: float) -> None:
    """Raise Undecidable where the outcome depends on what the judge leaves open."""
    open_ = [f"{one.name} is “{one.value}”" for one in evidence.arguments if one.finding == "unsure"]
    if evidence.response is not None and evidence.response.finding == "unsure":
        open_.append("how the response tells the failure")
    if open_:
        raise Undecidable(BETWEEN, f"the judge is not sure of {len(open_)}, the first: {open_[0]}", score=score)
