"""The equivalence checker: a yes needs a proof, a no has to pass a test; neither is ever turned into the other."""

import asyncio
from functools import partial
from typing import Annotated

from pydantic import Field, JsonValue

from checkers.checker import Checker, CheckerSettings, Decision, Models
from checkers.draws import seed_of
from checkers.equivalence.alignment import Aligner
from checkers.equivalence.evidence import proof_reason, test_reason
from checkers.equivalence.proof import Require, look_for_contradiction, prove
from checkers.equivalence.questions import PARAPHRASES, EquivalencePrompts, Subject, graded
from checkers.equivalence.trees import PARSER
from models.protocol import Judge, Model
from models.work import both
from schemas import EquivalenceEvidence, Paraphrase
from schemas.equivalence import EquivalenceTest


class EquivalenceSettings(CheckerSettings):
    """The equivalence checker: the proof of a yes, the test of a no."""

    require: Require = "or"
    """`or`: one of the four alignments proves a yes. `and`: one in each direction is needed."""
    tests: Annotated[int, Field(ge=1, le=2 * PARAPHRASES)] = 1
    """Tests that a no has to pass, each with another paraphrase."""


class EquivalenceChecker(Checker[EquivalenceSettings]):
    """Decides whether a subject's answer to "do these sentences mean the same?" stands up."""

    name = "equivalence"

    def __init__(self, settings: EquivalenceSettings, models: Models) -> None:
        super().__init__(settings, models)
        self._prompts = EquivalencePrompts()
        self._aligner = Aligner()

    def fingerprint(self) -> JsonValue:
        names: dict[str, JsonValue] = {name: model.name for name, model in self.models.subjects.items()}
        return [PARSER, dict(self._prompts.versions), names]

    def judge_of(self, record: Paraphrase) -> Model | Judge:
        return self.models.subjects.get(record.model, self.judge)

    async def close(self) -> None:
        await self._aligner.close()

    async def decide(self, record: Paraphrase) -> Decision:
        """The alignments and, for a no, the test; undecidable without a tree or a usable answer."""
        # Without its subject the judge answers about a yes in its place.
        model = self.models.subjects.get(record.model)
        subject = None if model is None else Subject(model, self._prompts, record.prompt)
        if not record.answer:
            self.subject(record)
        sentences = (record.sentence1, record.sentence2)
        require = self.settings.require
        # Before anything is asked: what has no alignments, or no model to find them yet, costs no call.
        aligned = await self._aligner.align(*sentences)
        ask = partial(graded, self.judge, sentences) if subject is None else subject.phrases
        test: EquivalenceTest | None = None
        if subject is None or record.answer:
            proof = await prove(aligned, ask, require)
        else:

            async def phi(first: str, second: str) -> bool:
                return (await prove(await self._aligner.align(first, second), ask, require)).found

            # The same record gets the same paraphrase again.
            seed, tests = seed_of(0, record.source, record.id), self.settings.tests
            proving = asyncio.ensure_future(prove(aligned, ask, require))
            testing = look_for_contradiction(sentences, subject, phi, proving, seed=seed, tests=tests)
            proof, test = await both(proving, testing)
        return Decision(
            accepted=proof.found if test is None else test.triangle is None,
            reason=proof_reason(proof, sentences) if test is None else test_reason(test),
            evidence=EquivalenceEvidence(
                sentence1=record.sentence1,
                sentence2=record.sentence2,
                answer=record.answer,
                proof=proof,
                test=test,
                asked="judge" if subject is None else "subject",
                parser=PARSER,
                prompt_versions=self._prompts.versions,
            ),
        )

    async def answer_of(self, record: Paraphrase) -> bool:
        """The subject's own answer, whatever the record's is; raises Undecidable if it has none."""
        subject = Subject(self.subject(record), self._prompts, record.prompt)
        return (await subject.equivalent(record.sentence1, record.sentence2)).answer == "yes"
