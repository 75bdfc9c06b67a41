"""The equivalence checker: a yes needs a proof, a no has to pass a test; neither is ever turned into the other."""

from functools import partial

from checkers.checker import Models
from checkers.deciding import Decision, Undecidable, decide
from checkers.draws import seed_of
from checkers.equivalence.aligner import Aligner
from checkers.equivalence.asking import Respondent, Role
from checkers.equivalence.parsers.build import build_parser
from checkers.equivalence.proof import Proof, prove
from checkers.equivalence.questions import Questions
from checkers.equivalence.reporting import proof_of, proof_reason, test_of, test_reason
from checkers.equivalence.settings import EquivalenceSettings
from checkers.equivalence.trust import put_to_test
from checkers.ledger import Ledger
from checkers.oracle.protocol import Oracle
from schemas import Envelope, EquivalenceEvidence, Paraphrase, Verdict, digest

_WEIGHTY = {"require", "ask", "tests", "seed", "model"}
"""Settings that bear on a verdict; of parser and templates the names and versions do."""


class EquivalenceChecker:
    """Decides whether a subject's answer to "do these sentences mean the same?" stands up."""

    name = "equivalence"
    version = "1"
    kinds = frozenset({"paraphrase"})

    def __init__(self, settings: EquivalenceSettings, models: Models) -> None:
        """Raises ValueError (as ParserUnusable, TemplateError) where parser or templates cannot be had."""
        self._settings = settings
        self._models = models
        self._questions = Questions(settings.prompts, longest_paraphrase=settings.max_characters)
        self._parser = build_parser(settings, models.judge)
        self._aligner = Aligner(self._parser, settings.model)
        subjects = {name: oracle.name for name, oracle in models.subjects.items()} if settings.ask != "judge" else {}
        self.config_digest = digest(
            [
                self.version,
                settings.model_dump(mode="json", include=_WEIGHTY),
                self._parser.name,
                self._questions.versions,
                models.judge.name,
                subjects,
            ]
        )[:16]

    async def check(self, record: Envelope) -> Verdict:
        """A verdict with the alignments and, for a no, the test; abstains without a tree or a usable answer.

        Raises:
            OracleUnavailable: the endpoint of subject, judge or parser is down, or the model still being loaded.
        """
        oracle, role = self._whom_to_ask(record.model)

        async def method(ledger: Ledger) -> Decision:
            if not isinstance(record, Paraphrase):
                raise TypeError(f"the equivalence checker takes paraphrases, not {type(record).__name__}")
            if role is None or (role == "judge" and not record.answer and self._settings.ask != "judge"):
                raise Undecidable(
                    "no_subject", f"no subject {record.model!r} is configured in subjects, so none can be asked"
                )
            bill = Ledger(self._models.judge)
            try:
                return await self._decide(record, Respondent(ledger, self._questions, role), bill)
            finally:
                ledger.usage += bill.usage

        return await decide(self, record, method, oracle=oracle, deadline_seconds=self._settings.deadline_seconds)

    async def close(self) -> None:
        """Release the parser's connections, and the model's thread."""
        await self._parser.close()
        await self._aligner.close()

    def _whom_to_ask(self, model: str) -> tuple[Oracle, Role | None]:
        """Who answers questions about a record of this model, and as what; None for nobody."""
        subject = self._models.subjects.get(model)
        if subject is not None and self._settings.ask != "judge":
            return subject, "subject"
        return self._models.judge, None if self._settings.ask == "subject" else "judge"

    async def _decide(self, record: Paraphrase, respondent: Respondent, bill: Ledger) -> Decision:
        sentences = (record.sentence1, record.sentence2)

        async def proof_for(first: str, second: str) -> Proof:
            matched = await self._aligner.matched(first, second, bill)
            ask = partial(respondent.phrases, matched.sentences)
            return await prove(matched, ask, self._settings.require, at_once=self._settings.at_once)

        proof = proof_of(await proof_for(*sentences), sentences)
        test = None
        if not record.answer:

            async def phi(first: str, second: str) -> bool:
                return (await proof_for(first, second)).found

            seed = seed_of(self._settings.seed, record.source, record.id)
            tests = self._settings.tests
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
            outcome="accept" if accepted else "reject",
            # One or nothing: the mean over records is then the acceptance rate.
            score=float(accepted),
            reason=proof_reason(proof, sentences) if test is None else test_reason(test),
            evidence=evidence,
        )
