"""RAI, the reason-assisted improver: rewrite what is inconsistent, check again, up to m times (paper, section 3.3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import AfterValidator

from checkers.checker import Checker, Undecidable
from checkers.consistency.evidence import source_of
from checkers.form_test import FormCase
from models.prompts import UNKNOWN_QUESTION, PromptSet
from models.protocol import Model, ModelFailed, Question, Reply
from models.wording import counted
from models.work import Work, gather_or_cancel, work_limit
from schemas import ConsistencyEvidence, Generation, Improvement, SentenceFinding, Usage, Verdict, content_id, digest
from schemas.base import Text
from schemas.evidence import JudgedSentence
from schemas.verdicts import ImprovementRound, ImprovementStatus, SentenceChange

_ROUNDS = 2
"""Rounds of rewriting and checking again. In the paper's benchmarks two corrected nearly all responses."""
_DEADLINE_SECONDS = 120.0
_MOST_CHARACTERS = 30_000
"""An improvement holds its response about seven times (before, after, by round, by sentence), and Kafka takes 1 MB by
default."""
_GROWTH, _ALLOWANCE = 3, 200
"""Times as many characters, and more: what is longer is no rewrite of a sentence but its own text."""
_CHARACTERS_A_TOKEN, _LEAST_TOKENS = 2, 100
_PLACE = {"start", "end", "reason"}


class SentenceRewrite(Reply):
    """A sentence, rewritten; empty where it is to be taken out."""

    improved: Annotated[Text, AfterValidator(str.strip)]


class ImproverQuestions(PromptSet):
    """What a writer is asked (paper, appendix A.2, RAI)."""

    package = "checkers.consistency.prompts"

    def about(self, record: Generation, passages: str, fault: SentenceFinding) -> Question[SentenceRewrite]:
        """A rewrite of a sentence of the record's response."""
        most = _GROWTH * len(fault.text) + _ALLOWANCE
        too_long = f"'improved' has more than {most} characters"
        texts = {"text": record.response, "sentence": fault.text, "reason": fault.reason}
        return self._question(
            "improve",
            f"improve.{record.effective_task}",
            SentenceRewrite,
            {"passages": passages, "question": record.prompt or UNKNOWN_QUESTION, **texts},
            complaint=lambda reply: too_long if len(reply.improved) > most else None,
            written=len(fault.text) // _CHARACTERS_A_TOKEN,
            max_tokens=_LEAST_TOKENS + most // _CHARACTERS_A_TOKEN,
        )


def form_cases(method: str) -> Iterator[FormCase]:
    """A built-in case of the question to the writer: a sentence with a wrong figure."""
    passage = "The ferry to Sarn leaves at 8 and at 17. A ticket costs 6 crowns. Dogs travel free."
    wrong, response = "A ticket costs 9 crowns.", "The ferry leaves at 8. A ticket costs 9 crowns."
    fields = {"id": "1", "kind": "generation", "source": "built-in", "model": "built-in", "task": "answer"}
    record = Generation.model_validate({**fields, "response": response, "contexts": [passage]})
    place = {"start": response.index(wrong), "end": len(response), "text": wrong}
    fault = SentenceFinding.model_validate({**place, "mark": -1, "support": 0.1, "reason": "the passages say 6 crowns"})
    question = ImproverQuestions().about(record, passage, fault)
    yield FormCase(method, "writer", question, lambda reply: "6" in reply.improved and "9" not in reply.improved)


@dataclass(slots=True)
class _Progress:
    """The improvement of one response so far."""

    checked: Verdict
    """The last check; the rejection before the first round."""
    rounds: list[ImprovementRound] = field(default_factory=list)
    answered: bool = False
    """True if the writer has given an entry that could be used."""

    @property
    def evidence(self) -> ConsistencyEvidence | None:
        return self.checked.evidence if isinstance(self.checked.evidence, ConsistencyEvidence) else None

    @property
    def findings(self) -> tuple[SentenceFinding, ...]:
        return self.evidence.sentences if self.evidence else ()

    @property
    def inconsistent(self) -> tuple[SentenceFinding, ...]:
        return tuple(found for found in self.findings if found.mark < 0)

    @property
    def status(self) -> ImprovementStatus:
        if self.rounds and self.findings and not self.inconsistent:
            return "improved"
        return "not_improved" if self.answered else "not_tried"

    def ended(self, how: str) -> str:
        return f"After {counted(len(self.rounds), 'round')} of rewriting: {how}" if self.rounds else how


class ConsistencyImprover:
    """Rewrites responses that the consistency checker rejected.

    What is consistent already is copied by code. A response counts as improved only when the checker, asked about the
    new one, finds every sentence of it consistent; the writer's own word counts for nothing.
    """

    name = "rai"
    version = "1"

    def __init__(self, checker: Checker[Any], writer: Model) -> None:
        self._checker = _in_another_form(checker)
        self._writer = writer
        self._questions = ImproverQuestions()
        bearing = [self.version, {"rounds": _ROUNDS}, self._questions.versions, checker.config_digest, writer.name]
        self.config_digest = digest(bearing)[:16]

    def takes(self, verdict: Verdict) -> bool:
        """True if it is a rejection by the consistency checker."""
        by_checker = verdict.checker == self._checker.name and isinstance(verdict.evidence, ConsistencyEvidence)
        return by_checker and verdict.outcome == "reject"

    def not_tried(self, verdict: Verdict, reason: str) -> Improvement:
        """The improvement of a verdict whose record cannot be had; `reason` is a sentence."""
        return self._improvement(verdict, None, _Progress(verdict), reason, Usage())

    async def improve(self, record: Generation, verdict: Verdict) -> Improvement:
        """Rounds of rewriting and checking again, until every sentence is consistent or all rounds are used up.

        `verdict` is one that `takes` takes, on `record`. Raises ModelUnavailable, for the verdict to be held.
        """
        progress = _Progress(verdict)
        with Work() as bill:
            try:
                async with work_limit(_DEADLINE_SECONDS) as deadline:
                    reason = await self._run(record, progress)
            except Undecidable as error:
                reason = f"There is nothing to rewrite it by: {error.detail}."
            except TimeoutError:
                if not deadline.expired():
                    raise
                reason = progress.ended(f"It was not done within {_DEADLINE_SECONDS:g} s.")
        return self._improvement(verdict, record.response, progress, reason, bill.usage)

    async def _run(self, record: Generation, progress: _Progress) -> str:
        """Go through the rounds, noting them in `progress`; return in a sentence how they ended."""
        length = len(record.response)
        if length > _MOST_CHARACTERS:
            return f"The response is too long: {length} characters; at most {_MOST_CHARACTERS} are rewritten."
        findings = progress.findings
        places = [0, *(at for one in findings for at in (one.start, one.end))]
        if places != sorted(places) or any(record.response[one.start : one.end] != one.text for one in findings):
            return "The record has another response now than the one that was judged."
        record = record.after(progress.evidence.earlier if progress.evidence else ())
        against, sources = source_of(record)
        if against not in {"reference", "contexts"}:
            raise Undecidable("no_reference", "the record has neither a reference nor contexts")
        while progress.inconsistent and len(progress.rounds) < _ROUNDS:
            findings, others = progress.findings, progress.evidence.without_claim if progress.evidence else ()
            texts, fault = await self._rewritten(record, sources[0], findings)
            progress.answered |= bool(texts) or fault is None
            if not texts:
                why = f"gave no usable answer: {fault}" if fault else "left every inconsistent sentence as it was"
                return progress.ended(f"The writer {why}.")
            record = record.model_copy(update={"response": spliced(record.response, findings, texts, others)})
            checked = progress.checked = await self._checker.check(record)
            progress.rounds.append(
                ImprovementRound(
                    response=record.response,
                    changes=tuple(
                        SentenceChange(before=one.text, after=texts[index], **one.model_dump(include=_PLACE))
                        for index, one in enumerate(findings)
                        if index in texts
                    ),
                    outcome=checked.outcome,
                    score=checked.score,
                    consistent_share=progress.evidence.consistent_share if progress.evidence else None,
                    findings=progress.findings,
                )
            )
        if not progress.rounds:
            return "The verdict names no inconsistent sentence."
        return progress.ended(progress.checked.reason)

    async def _rewritten(
        self, record: Generation, passages: str, findings: Sequence[SentenceFinding]
    ) -> tuple[dict[int, str], str | None]:
        """New texts of the inconsistent sentences, by index, one a call, and why others lack one.

        A sentence that comes back as it was has none.
        """

        async def answer(fault: SentenceFinding) -> str | ModelFailed:
            try:
                return (await self._writer.ask(self._questions.about(record, passages, fault))).reply.improved
            except ModelFailed as error:
                return error

        faulty = [(index, finding) for index, finding in enumerate(findings) if finding.mark < 0]
        told = await gather_or_cancel(answer(finding) for _, finding in faulty)
        new = {
            index: text
            for (index, finding), text in zip(faulty, told, strict=True)
            if isinstance(text, str) and text.casefold().split() != finding.text.casefold().split()
        }
        return new, next((one.detail for one in told if isinstance(one, ModelFailed)), None)

    def _improvement(
        self, verdict: Verdict, before: str | None, progress: _Progress, reason: str, usage: Usage
    ) -> Improvement:
        last = progress.rounds[-1] if progress.rounds else None
        return Improvement(
            id=content_id("imp", [verdict.id, self.name, self.config_digest]),
            verdict_id=verdict.id,
            record_id=verdict.record_id,
            checker=verdict.checker,
            improver=self.name,
            improver_version=self.version,
            config_digest=self.config_digest,
            status=progress.status,
            before=before,
            after=last.response if last else None,
            score_before=verdict.score,
            score_after=last.score if last else None,
            rounds=tuple(progress.rounds),
            inconsistent=progress.inconsistent,
            reason=reason,
            usage=usage,
            source=verdict.source,
            model=verdict.model,
            writer=self._writer.name,
            judge=progress.checked.judge if last else "",
            prompt_versions=self._questions.versions,
            origin=verdict.origin,
        )


def _in_another_form(checker: Checker[Any]) -> Checker[Any]:
    """The checker with its judge asked in another form: what pleases the one need not please the other."""
    judge = checker.models.judge
    # Imported here, so that `assay config check` starts at once.
    from models.judges.prompted import PromptedJudge

    if not isinstance(judge, PromptedJudge):
        return checker
    return type(checker)(checker.settings, replace(checker.models, judge=judge.in_another_form()))


def spliced(
    response: str,
    findings: Sequence[SentenceFinding],
    rewrites: Mapping[int, str],
    others: Sequence[JudgedSentence] = (),
) -> str:
    """`response` with each sentence of `rewrites` (by its index in `findings`) replaced; all else byte for byte.

    `others` are the sentences that have no finding; they stay.

    A sentence whose text is empty is taken out, with the list marker of a line that it had to itself, and white space
    on one side. Where all are taken out nothing is left, as a list marker alone would read as a sentence.
    """
    if findings and not others and len(rewrites) == len(findings) and not any(rewrites.values()):
        return ""
    # From the end, so that the offsets of what is still to be replaced hold.
    for index in sorted(rewrites, reverse=True):
        found = findings[index]
        if rewrites[index]:
            response = response[: found.start] + rewrites[index] + response[found.end :]
        else:
            ends = [one.end for one in (*findings, *others) if one.end <= found.start]
            response = _without(response, found, free_from=max(ends, default=0))
    return response


def _without(text: str, found: SentenceFinding, *, free_from: int) -> str:
    """`free_from` is where the sentence before ends: between the two there are markers and white space only."""
    before, lead, rest = text[:free_from], text[free_from : found.start], text[found.end :].lstrip()
    gap = text[found.end : len(text) - len(rest)]
    if rest and "\n" not in gap:
        # The line goes on, with its marker.
        return before + lead + rest
    if rest and lead.count("\n") > gap.count("\n"):
        gap = lead[: lead.rindex("\n") + 1] + gap.rpartition("\n")[2]
    return (before + gap if before else gap.lstrip("\r\n")) + rest
