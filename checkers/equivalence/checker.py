"""The equivalence checker: a yes needs a proof, a no has to pass a test; neither is ever turned into the other."""

from functools import partial

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.draws import seed_of
from checkers.equivalence.aligner import Aligner
from checkers.equivalence.asking import Respondent, Role
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.proof import Proof, prove
from checkers.equivalence.questions import Questions
from checkers.equivalence.reporting import proof_of, proof_reason, test_of, test_reason
from checkers.equivalence.settings import EquivalenceSettings
from checkers.equivalence.trust import put_to_test
from checkers.oracle.protocol import Oracle
from schemas import EquivalenceEvidence, Paraphrase


class EquivalenceChecker(Checker[EquivalenceSettings]):
    """Decides whether a subject's answer to "do these sentences mean the same?" stands up."""

    name = "equivalence"

    def __init__(self, settings: EquivalenceSettings, models: Models) -> None:
        """Raises ValueError (as ParserUnusable, TemplateError) if parser or templates cannot be had."""
        super().__init__(settings, models)
        self._questions = Questions(settings.prompts, longest_paraphrase=settings.max_characters)
        self._parser = build_parser(settings, models.judge)
        self._aligner = Aligner(self._parser, settings.model)

    def fingerprint(self) -> JsonValue:
        """The parser, the prompts' versions, and the subjects that may be asked."""
        subjects = self.models.subjects if self.settings.ask != "judge" else {}
        names: dict[str, JsonValue] = {name: oracle.name for name, oracle in subjects.items()}
        return [self._parser.name, dict(self._questions.versions), names]

    def judge_of(self, record: Paraphrase) -> Oracle:
        """The model that answers: the subject, or the judge for it."""
        return self._whom_to_ask(record.model)[0]

    async def close(self) -> None:
        """Release the parser's connections, and the model's thread."""
        await self._parser.close()
        await self._aligner.close()

    async def decide(self, record: Paraphrase) -> Decision:
        """The alignments and, for a no, the test; undecidable without a tree or a usable answer."""
        oracle, role = self._whom_to_ask(record.model)
        if role is None or (role == "judge" and not record.answer and self.settings.ask != "judge"):
            raise Undecidable(
                "no_subject", f"no subject {record.model!r} is configured in subjects, so none can be asked"
            )
        return await self._decide(record, Respondent(oracle, self._questions, role))

    def _whom_to_ask(self, model: str) -> tuple[Oracle, Role | None]:
        """Who answers questions about a record of this model, and as what; None for nobody."""
        subject = self.models.subjects.get(model)
        if subject is not None and self.settings.ask != "judge":
            return subject, "subject"
        return self.models.judge, None if self.settings.ask == "subject" else "judge"

    async def _decide(self, record: Paraphrase, respondent: Respondent) -> Decision:
        sentences = (record.sentence1, record.sentence2)

        async def proof_for(first: str, second: str) -> Proof:
            matched = await self._aligner.matched(first, second)
            ask = partial(respondent.phrases, matched.sentences)
            return await prove(matched, ask, self.settings.require, at_once=self.settings.at_once)

        proof = proof_of(await proof_for(*sentences), sentences)
        test = None
        if not record.answer:

            async def phi(first: str, second: str) -> bool:
                return (await proof_for(first, second)).found

            seed = seed_of(self.settings.seed, record.source, record.id)
            tests = self.settings.tests
            tested = await put_to_test(sentences, respondent, phi, seed=seed, tests=tests)
            test = test_of(tested, sentences, aligned=proof.found, tests=tests, seed=seed)
        accepted = proof.found if test is None else test.triangle is None
        evidence = EquivalenceEvidence(
            sentence1=record.sentence1,
            sentence2=record.sentence2,
            answer=record.answer,
            proof=proof,
            test=test,
            asked=respondent.role,
            parser=self._parser.name,
            prompt_versions=self._questions.versions,
        )
        return Decision(
            accepted=accepted,
            reason=proof_reason(proof, sentences) if test is None else test_reason(test),
            evidence=evidence,
        )
