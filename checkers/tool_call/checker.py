"""The tool_call checker: first what needs no judge; then each value, and how a failure is told, by the judge."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from checkers.checker import MISLED, Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.tool_call.structure import Argument, tested
from models.prompts import control_sentences
from models.protocol import ClaimKind, Claims, Judgement
from models.wording import counted, on_a_line
from schemas import ToolCall, ToolCallEvidence
from schemas.evidence import CallFinding
from schemas.records import has_failed

_RESPONSE = "(response)"
"""Stands in the place of an argument's name."""
_TOLD = ("What the user asked for could not be done.", "What the user asked for was done.")
_MOST_FAULTS = 5


class ToolCallSettings(CheckerSettings):
    """The tool_call checker: whether a judge is asked."""

    ask_judge: bool = True
    """Ask the judge about values and told failures; `false`: test only the name, the schema and structured results."""


class ToolCallChecker(Checker[ToolCallSettings]):
    """Decides whether a tool was called rightly, and whether its failure was told."""

    name = "tool_call"

    def __init__(self, settings: ToolCallSettings, models: Models) -> None:
        self.asks_judge = settings.ask_judge  # type: ignore[misc]  # by configuration, of this checker alone
        super().__init__(settings, models)

    async def decide(self, record: ToolCall) -> Decision:
        """By what needs no judge, and only if that finds no fault by the judge."""
        # In a thread: a schema may take a second, once.
        call, arguments = await asyncio.to_thread(tested, record)
        if self.asks_judge and call.fault is None:
            call = await self._graded(record, call, arguments)
        accepted = call.fault is None
        if accepted and not record.tools and not call.findings:
            detail = "the record has no tools, and nothing that its values or its response could be judged by"
            raise Undecidable("no_reference", detail)
        score = min((one.support for one in call.findings), default=float(accepted))
        if accepted and (open_ := [one for one in call.findings if one.finding == "unsure"]):
            detail = f"the judge is not sure of {len(open_)}, the first: {open_[0].name} is “{open_[0].value}”"
            raise Undecidable("between_thresholds", detail, score=score)
        holds = f"The call of {call.tool} holds; {counted(len(call.findings), 'value')} of it supported."
        reason = holds if accepted else f"{'; '.join(call.faults[:_MOST_FAULTS])}."
        return Decision(accepted=accepted, score=score, reason=reason, evidence=call)

    async def _graded(self, record: ToolCall, call: ToolCallEvidence, arguments: list[Argument]) -> ToolCallEvidence:
        """The call with what the judge says of its values, and of how its failure is told."""
        prompt = f"The user says: {record.prompt}" if (record.prompt or "").strip() else ""
        sources = "\n\n".join(text for text in (prompt, *record.contexts) if text.strip())
        claims = Claims(sources, tuple(claim for _, _, claim in arguments), ClaimKind.ENTAILMENT)
        findings: list[CallFinding] = []
        if arguments and sources:
            grades = await self._grades("arguments", claims)
            findings += [_finding(*one[:2], grade) for one, grade in zip(arguments, grades, strict=True)]
        wrong = [f"{one.name} is “{one.value}”: {one.reason}" for one in findings if one.finding == "unsupported"]
        fault = "argument" if wrong else None
        response = (record.response or "").strip()
        if record.failed and response and has_failed(response) is None:
            failure, success = await self._grades("response", Claims(response, _TOLD, ClaimKind.ENTAILMENT))
            support = round((1 + failure.support - success.support) / 2, 6)
            nearer = failure if failure.support >= success.support else success
            told = replace(nearer, support=support, unsure=failure.unsure and success.unsure)
            findings.append(_finding(_RESPONSE, response, told))
            if findings[-1].finding == "unsupported":
                wrong.append(f"{call.tool} failed, and the response tells a success: {findings[-1].reason}")
                fault = fault or "told_as_success"
        if fault is None and arguments and sources and await self._is_misled(claims):
            raise Undecidable("judge_misled", MISLED)
        found = {"fault": fault, "faults": tuple(wrong), "findings": tuple(findings)}
        judge = {"judge_version": self.judge.version, "self_test": self.judge.self_test}
        return call.model_copy(update=found | judge)

    async def _grades(self, task: str, claims: Claims) -> Sequence[Judgement]:
        (grades,) = (await self.judge.grade(f"tool_call.{task}", [claims])).reply
        return grades

    async def _is_misled(self, claims: Claims) -> bool:
        """True if three values that nothing supports are called supported, too."""
        for control in control_sentences(claims.sentences, claims.reference, claims.whole):
            (grade,) = await self._grades("control", replace(claims, sentences=(control,)))
            if not grade.supported:
                return False
        return True


def _finding(name: str, value: str, grade: Judgement) -> CallFinding:
    return CallFinding(
        name=on_a_line(name),
        value=on_a_line(value, 200),
        finding="unsure" if grade.unsure else "supported" if grade.supported else "unsupported",
        support=grade.support,
        reason=on_a_line(grade.reason.rstrip("."), 240),
    )
