"""The equivalence checker: a yes needs a proof, a no has to pass a test; neither is ever turned into the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Annotated

from pydantic import Field, JsonValue

from checkers.checker import Checker, CheckerSettings, Decision, Models, no_subject
from checkers.draws import seed_of
from checkers.equivalence.alignment import AlignedSentences, Aligner
from checkers.equivalence.contradiction import look_for_contradiction
from checkers.equivalence.evidence import proof_reason, test_reason
from checkers.equivalence.proof import Require, prove
from checkers.equivalence.questions import PARAPHRASES, EquivalencePrompts, Respondent
from checkers.equivalence.trees import PARSER
from models.concurrent import both
from models.protocol import Judge, Model
from schemas import EquivalenceEvidence, EquivalenceProof, EquivalenceTest, Paraphrase

_SEED = 0
"""Draws go by the record: the same one gets the same paraphrase again."""


class EquivalenceSettings(CheckerSettings):
    """The equivalence checker: the proof of a yes, the test of a no."""

    require: Require = "or"
    """`or`: one of the four alignments proves a yes. `and`: a proof needs one in each direction; that gives fewer
    proofs, and fewer wrong ones."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase. The first yes rejects it."""


class EquivalenceChecker(Checker[EquivalenceSettings]):
    """Decides whether a subject's answer to "do these sentences mean the same?" stands up."""

    name = "equivalence"

    def __init__(self, settings: EquivalenceSettings, models: Models) -> None:
        super().__init__(settings, models)
        self._prompts = EquivalencePrompts()
        self._aligner = Aligner()

    def fingerprint(self) -> JsonValue:
        """The parser, the prompts' versions, and the subjects that may be asked."""
        names: dict[str, JsonValue] = {name: model.name for name, model in self.models.subjects.items()}
        return [PARSER, dict(self._prompts.versions), names]

    def judge_of(self, record: Paraphrase) -> Model | Judge:
        """The answerer: the subject, or the judge in its place."""
        return self.models.subjects.get(record.model, self.judge)

    async def close(self) -> None:
        await self._aligner.close()

    async def decide(self, record: Paraphrase) -> Decision:
        """The alignments and, for a no, the test; undecidable without a tree or a usable answer."""
        respondent = self._respondent(record)
        role = respondent.role
        sentences = (record.sentence1, record.sentence2)
        # Before anything is asked: what has no alignments, or no model to find them yet, costs no call.
        aligned = await self._aligner.align(*sentences)
        proving = asyncio.ensure_future(self._proof(respondent, aligned))
        proof, test = await both(proving, self._test(respondent, record, proving))
        return Decision(
            accepted=proof.found if test is None else test.triangle is None,
            reason=proof_reason(proof, sentences) if test is None else test_reason(test),
            evidence=EquivalenceEvidence(
                sentence1=record.sentence1,
                sentence2=record.sentence2,
                answer=record.answer,
                proof=proof,
                test=test,
                asked=role,
                parser=PARSER,
                prompt_versions=self._prompts.versions,
            ),
        )

    async def answer_of(self, record: Paraphrase) -> bool:
        """The subject's own answer, whatever the record's is; raises Undecidable if it has none."""
        reply = await self._respondent(record).equivalent(record.sentence1, record.sentence2)
        return reply.answer == "yes"

    def _respondent(self, record: Paraphrase) -> Respondent:
        """The model that answers about a record: its subject, or of a yes the judge in its place; else Undecidable."""
        subject = self.models.subjects.get(record.model)
        if subject is not None:
            return Respondent(subject, self._prompts, judge=None, application=record.prompt)
        if not record.answer:
            raise no_subject(record.model)
        return Respondent(self.models.writer, self._prompts, judge=self.judge)

    async def _test(
        self, respondent: Respondent, record: Paraphrase, proving: Awaitable[EquivalenceProof]
    ) -> EquivalenceTest | None:
        """The test of a no; None for a yes, which a proof decides."""
        if record.answer:
            return None

        async def phi(first: str, second: str) -> bool:
            return (await self._proof(respondent, await self._aligner.align(first, second))).found

        return await look_for_contradiction(
            (record.sentence1, record.sentence2),
            respondent,
            phi,
            proving,
            seed=seed_of(_SEED, record.source, record.id),
            tests=self.settings.tests,
        )

    async def _proof(self, respondent: Respondent, aligned: AlignedSentences) -> EquivalenceProof:
        ask = partial(respondent.phrases, aligned.sentences)
        return await prove(aligned, ask, self.settings.require)
