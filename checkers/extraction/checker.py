"""The extraction checker: every record's entities are put to the linearity test against its subject."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import metadata

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.draws import generator, seed_of
from checkers.estimate import Estimate
from checkers.extraction.answers import Pairs, consistency
from checkers.extraction.asking import Respondent, Trial, tried_fast, tried_fully
from checkers.extraction.cost import of_judge, of_subject
from checkers.extraction.evidence import absent, causes, reason_of, rounds, statistics, unseen, untested
from checkers.extraction.linearity import Vector, draw_tests, error_bound, ideal_share
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.questions import ExtractionPrompts
from checkers.extraction.replacement import replaced
from checkers.extraction.schedule import finding_of
from checkers.extraction.settings import ExtractionSettings
from checkers.extraction.synonyms.generator import NoReplacement, NoReplacementReason, Replacement, SynonymGenerator
from checkers.extraction.synonyms.questions import SynonymPrompts
from models.prompts import shared_out
from models.protocol import Judge
from schemas import Extraction, ExtractionEvidence, FailureCause, TestedEntity

_WHY = {
    NoReplacementReason.NOT_ASKED: "no list that comes with assay has one like it, and the local judge proposes none",
    NoReplacementReason.NO_ANSWER: "the judge proposed nothing",
    NoReplacementReason.ALL_REJECTED: "all that was proposed has a fault",
}


class ExtractionChecker(Checker[ExtractionSettings]):
    """Decides whether the subject that extracted entities does so whatever stands in their places."""

    name = "extraction"

    def __init__(self, settings: ExtractionSettings, models: Models) -> None:
        """Raises ValueError (as TemplateError) if templates cannot be used."""
        super().__init__(settings, models)
        own, of_synonyms = shared_out(settings.prompts, ExtractionPrompts, SynonymPrompts)
        self._prompts, self._synonym_prompts = ExtractionPrompts(own), SynonymPrompts(of_synonyms)
        # A judge that grades reads no prompts: replacements then come from the pools alone.
        self._writer = None if self.grader else self.judge

    def fingerprint(self) -> JsonValue:
        """The prompts' versions, the subjects that may be asked, and the version of the library that names are from."""
        names: dict[str, JsonValue] = {name: oracle.name for name, oracle in self.models.subjects.items()}
        return [dict(self._versions), names, metadata.version("faker")]

    def judge_of(self, record: Extraction) -> Judge:
        """The model that is tested by asking it: the subject."""
        return self.models.subjects.get(record.model, self.judge)

    def estimate(self, record: Extraction) -> Estimate:
        """Answers about transformed texts, by the subject; replacements that no library has, by the judge."""
        self.subject(record)
        located = self._located(record)
        if self._is_settled(located):
            return Estimate()
        subject = of_subject(self._prompts, record, len(located.entities), self.settings)
        if self._writer is None:
            return Estimate(subject=subject)
        votes = self._synonyms(self._seed(record)).most_questions(located)
        paraphrases = self.settings.transformation == "paraphrase"
        return Estimate(subject=subject, judge=of_judge(votes, self._prompts, located, paraphrases=paraphrases))

    async def decide(self, record: Extraction) -> Decision:
        """The tests; undecidable without a subject, without an entity to replace, or without usable answers."""
        subject = self.subject(record)
        located = self._located(record)
        seed = self._seed(record)
        known = absent(located)
        if self._is_settled(located):
            return self._decision(
                self._evidence(located, (), seed, causes=known, rounds=(), ideal_share=None, answers=0)
            )
        respondent = Respondent(subject, self._prompts, record.prompt)
        if self.settings.transformation == "paraphrase":
            located = await self._paraphrased(located)
        tested = await self._replacements(located, seed)
        pairs = Pairs(located.entities, tuple(one.text for one in tested))

        @cache
        def sentence(v: Vector) -> str:
            return replaced(located, pairs.replacements, v)

        trial = await self._tried(respondent, pairs, sentence, seed)
        finding = finding_of(trial.results)
        if finding == "unusable" and not known:
            detail = f"of {trial.taken} answers of {subject.name} too many could not be read to decide a test"
            raise Undecidable("subject_unusable", detail)
        measured: dict[str, object] = {}
        if self.settings.schedule == "full":
            measured = statistics(trial, pairs)
            if self.settings.original:
                # Numbers that no transformed text has: one of those may be the text itself.
                first = 3 * self.settings.tests * self.settings.repeats
                measured["con_o"] = consistency(
                    await respondent.extracted(located.text, self.settings.repeats, first=first)
                )
        evidence = self._evidence(
            located,
            tested,
            seed,
            causes=(*known, *causes(finding, trial, pairs, sentence)),
            rounds=rounds(trial, pairs, sentence),
            ideal_share=ideal_share(trial.results, pairs.mask),
            answers=trial.taken,
            **unseen(trial, pairs),
            **measured,
        )
        return self._decision(evidence)

    def _is_settled(self, located: Located) -> bool:
        """True if no answer can change the verdict, as an entity of the record is not in its text."""
        return bool(absent(located)) and (self.settings.schedule == "fast" or not located.entities)

    def _seed(self, record: Extraction) -> str:
        return seed_of(self.settings.seed, record.source, record.id)

    def _located(self, record: Extraction) -> Located:
        """The entities in the record's text; raises Undecidable if there is nothing to test, or too much."""
        if not record.text.strip():
            raise Undecidable("empty_text", "the text is empty")
        if len(record.text) > self.settings.max_characters:
            allowed = self.settings.max_characters
            raise Undecidable("too_long", f"{len(record.text)} characters; extraction.max_characters allows {allowed}")
        if len(record.entities) > self.settings.max_entities:
            allowed = self.settings.max_entities
            raise Undecidable("too_long", f"{len(record.entities)} entities; extraction.max_entities allows {allowed}")
        located = find_mentions(record.text, record.entities)
        if not located.entities and not absent(located):
            detail = "the list of entities is empty"
            if located.unreplaceable:
                detail = "no entity of the list can be replaced: " + ", ".join(
                    f"“{entity}” ({reason.value})" for entity, reason in located.unreplaceable[:5]
                )
            raise Undecidable("no_entity", detail)
        return located

    async def _paraphrased(self, located: Located) -> Located:
        """The same entities in a paraphrase of the text; raises Undecidable if none keeps them."""
        if self._writer is None:
            detail = "extraction.transformation is 'paraphrase', which needs an endpoint as judge"
            raise Undecidable("no_paraphrase", detail)
        reply = (await self._writer.ask(self._prompts.paraphrases(located.text, located.entities))).reply
        for text in reply.paraphrases:
            found = find_mentions(text, located.entities)
            is_other = text.split() != located.text.split() and len(text) <= self.settings.max_characters
            if is_other and found.entities == located.entities:
                return Located(text, found.entities, found.mentions, located.unreplaceable)
        raise Undecidable(
            "no_paraphrase", f"none of {len(reply.paraphrases)} paraphrases keeps all entities as they stand"
        )

    async def _replacements(self, located: Located, seed: str) -> tuple[Replacement, ...]:
        """One for each entity; raises Undecidable if one has none."""
        found = []
        for one in await self._synonyms(seed).replacements(located):
            if isinstance(one, NoReplacement):
                raise Undecidable("no_replacement", f"“{one.entity}” cannot be replaced: {_WHY[one.reason]}")
            found.append(one)
        return tuple(found)

    def _synonyms(self, seed: str) -> SynonymGenerator:
        return SynonymGenerator(self._writer, self._synonym_prompts, seed=seed)

    async def _tried(self, respondent: Respondent, pairs: Pairs, sentence: Callable[[Vector], str], seed: str) -> Trial:
        tests = draw_tests(len(pairs.entities), self.settings.tests, generator(seed, "tests"))
        tried = tried_fully if self.settings.schedule == "full" else tried_fast
        return await tried(tests, respondent, pairs, sentence, rule=self.settings.rule, repeats=self.settings.repeats)

    def _evidence(
        self,
        located: Located,
        tested: tuple[Replacement, ...],
        seed: str,
        *,
        causes: tuple[FailureCause, ...],
        **found: object,
    ) -> ExtractionEvidence:
        settings = self.settings
        return ExtractionEvidence.model_validate(
            {
                "text": located.text,
                "entities": tuple(
                    TestedEntity(text=one.entity, replacement=one.text, named=one.named) for one in tested
                ),
                "untested": untested(located),
                "rule": settings.rule,
                "schedule": settings.schedule,
                "transformation": settings.transformation,
                "tests": settings.tests,
                "repeats": settings.repeats,
                "seed": seed,
                "causes": causes,
                "epsilon": settings.epsilon if self._has_bound and not causes else None,
                "prompt_versions": self._versions,
                **found,
            }
        )

    def _decision(self, evidence: ExtractionEvidence) -> Decision:
        accepted = not evidence.causes
        bound = None
        if evidence.epsilon is not None:
            bound = error_bound(evidence.epsilon, self.settings.tests, len(evidence.entities))
        return Decision(
            accepted=accepted,
            reason=reason_of(evidence, accepted=accepted, error_bound=bound),
            evidence=evidence,
            error_bound=bound,
        )

    @property
    def _has_bound(self) -> bool:
        """True if f has one value for each text, which the theorem is about."""
        return self.settings.rule == "strict" or self.settings.repeats == 1

    @property
    def _versions(self) -> dict[str, str]:
        return {**self._prompts.versions, **self._synonym_prompts.versions}
