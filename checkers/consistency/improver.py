"""RAI, the reason-assisted improver: rewrite what is inconsistent, check again, up to m times (paper, section 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from checkers.checker import Checker, Undecidable
from checkers.consistency.evidence import source_of
from checkers.consistency.rewriter import ImproverQuestions, rewritten
from checkers.consistency.splicing import fits, spliced
from models.protocol import Model
from models.wording import counted
from models.work import Work, work_limit
from schemas import (
    ConsistencyEvidence,
    Evidence,
    Generation,
    Improvement,
    ImprovementRound,
    ImprovementStatus,
    JudgedSentence,
    SentenceChange,
    SentenceFinding,
    Usage,
    Verdict,
    content_id,
    digest,
)

_ROUNDS = 2
"""Rounds of rewriting and checking again. In the paper's benchmarks two corrected nearly all responses."""
_DEADLINE_SECONDS = 120.0
_MOST_CHARACTERS = 30_000
"""An improvement holds its response about seven times (before, after, by round, by sentence), and Kafka takes 1 MB by
default."""


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
        self._prompt_versions = self._questions.versions
        self.config_digest = digest(
            [self.version, {"rounds": _ROUNDS}, self._prompt_versions, checker.config_digest, writer.name]
        )[:16]

    def takes(self, verdict: Verdict) -> bool:
        """True if it is a rejection by the consistency checker."""
        return (
            verdict.outcome == "reject"
            and verdict.checker == self._checker.name
            and isinstance(verdict.evidence, ConsistencyEvidence)
        )

    def not_tried(self, verdict: Verdict, reason: str) -> Improvement:
        """The improvement of a verdict whose record cannot be had; `reason` is a sentence."""
        return self._improvement(verdict, None, _Course(verdict), reason)

    async def improve(self, record: Generation, verdict: Verdict) -> Improvement:
        """Rounds of rewriting and checking again, until every sentence is consistent or all rounds are used up.

        `verdict` is one that `takes` takes. Where its findings do not fit the response, `record` is checked afresh.

        Raises:
            ModelUnavailable: the writer's or the judge's endpoint is down; the verdict is to be held.
        """
        course = _Course(verdict)
        if isinstance(verdict.evidence, ConsistencyEvidence):
            record = record.after(verdict.evidence.earlier)
        with Work() as bill:
            try:
                async with work_limit(_DEADLINE_SECONDS) as deadline:
                    reason = await self._run(record, course)
            except Undecidable as error:
                reason = f"There is nothing to rewrite it by: {error.detail}."
            except TimeoutError:
                if not deadline.expired():
                    raise
                reason = f"{course.so_far}It was not done within {_DEADLINE_SECONDS:g} s."
        course.usage = bill.usage
        return self._improvement(verdict, record.response, course, reason)

    async def _run(self, record: Generation, course: "_Course") -> str:
        """Go through the rounds, noting them in `course`; return in a sentence how they ended."""
        if not fits(record.response, course.findings):
            course.findings = ()
        length = len(record.response)
        if length > _MOST_CHARACTERS:
            return f"The response is too long: {length} characters; at most {_MOST_CHARACTERS} are rewritten."
        source = source_of(record)
        if source.against not in {"reference", "contexts"}:
            raise Undecidable("no_reference", "the record has neither a reference nor contexts")
        if not course.findings:
            await self._check(record, course)
        for _ in range(_ROUNDS):
            if not course.inconsistent:
                break
            texts, fault = await rewritten(self._writer, self._questions, record, source.texts[0], course.findings)
            course.answered |= bool(texts) or fault is None
            if not texts:
                why = f"gave no usable answer: {fault}" if fault else "left every inconsistent sentence as it was"
                return f"{course.so_far}The writer {why}."
            changes = _changes(course.findings, texts)
            response = spliced(record.response, course.findings, texts, others=course.without_claim)
            record = record.model_copy(update={"response": response})
            await self._check(record, course, changes)
        return f"{course.so_far}{course.last_reason}"

    async def _check(self, record: Generation, course: "_Course", changes: Sequence[SentenceChange] = ()) -> None:
        """Check `record` again after `changes`, or afresh where there are none yet, and note what was found."""
        checked = await self._checker.check(record)
        course.note(checked)
        if not changes:
            course.score_before = checked.score
            return
        course.rounds.append(
            ImprovementRound(
                response=record.response,
                changes=tuple(changes),
                outcome=checked.outcome,
                score=checked.score,
                consistent_share=course.consistent_share,
                findings=course.findings,
            )
        )

    def _improvement(self, verdict: Verdict, before: str | None, course: "_Course", reason: str) -> Improvement:
        last = course.rounds[-1] if course.rounds else None
        return Improvement(
            id=content_id("imp", [verdict.id, self.name, self.config_digest]),
            verdict_id=verdict.id,
            record_id=verdict.record_id,
            checker=verdict.checker,
            improver=self.name,
            improver_version=self.version,
            config_digest=self.config_digest,
            status=course.status,
            before=before,
            after=last.response if last else None,
            score_before=course.score_before,
            score_after=last.score if last else None,
            rounds=tuple(course.rounds),
            inconsistent=course.inconsistent,
            reason=reason,
            usage=course.usage,
            source=verdict.source,
            model=verdict.model,
            writer=self._writer.name,
            judge=course.judge,
            prompt_versions=self._prompt_versions,
            origin=verdict.origin,
        )


class _Course:
    """The course of the improvement of one response."""

    def __init__(self, verdict: Verdict) -> None:
        self.usage = Usage()
        self.score_before = verdict.score
        self.rounds: list[ImprovementRound] = []
        self.answered = False
        """True if the writer has given an entry that could be used."""
        self.judge = ""
        self.last_reason = "The verdict names no inconsistent sentence."
        self.consistent_share: float | None = None
        self.findings: tuple[SentenceFinding, ...] = ()
        self.without_claim: tuple[JudgedSentence, ...] = ()
        self._found(verdict.evidence)

    def note(self, checked: Verdict) -> None:
        self.judge = checked.judge
        self.last_reason = checked.reason
        self._found(checked.evidence)

    def _found(self, evidence: Evidence) -> None:
        if isinstance(evidence, ConsistencyEvidence):
            self.findings, self.without_claim = evidence.sentences, evidence.without_claim
            self.consistent_share = evidence.consistent_share
        else:
            self.findings, self.without_claim, self.consistent_share = (), (), None

    @property
    def inconsistent(self) -> tuple[SentenceFinding, ...]:
        """By the last check; none where it abstained."""
        return tuple(found for found in self.findings if found.mark < 0)

    @property
    def status(self) -> ImprovementStatus:
        if self.rounds and self.consistent_share == 1:
            return "improved"
        return "not_improved" if self.answered else "not_tried"

    @property
    def so_far(self) -> str:
        """The beginning of the sentence about the end."""
        return f"After {counted(len(self.rounds), 'round')} of rewriting: " if self.rounds else ""


def _in_another_form(checker: Checker[Any]) -> Checker[Any]:
    """The checker with its judge asked in another form: what pleases the one need not please the other."""
    judge = checker.models.judge
    # Imported here, so that `assay config check` starts at once.
    from models.judges.prompted import PromptedJudge

    if not isinstance(judge, PromptedJudge):
        return checker
    return type(checker)(checker.settings, replace(checker.models, judge=judge.in_another_form()))


def _changes(findings: Sequence[SentenceFinding], texts: Mapping[int, str]) -> tuple[SentenceChange, ...]:
    return tuple(
        SentenceChange(
            before=findings[index].text,
            after=text,
            start=findings[index].start,
            end=findings[index].end,
            reason=findings[index].reason,
        )
        for index, text in sorted(texts.items())
    )
