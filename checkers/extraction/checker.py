"""The extraction checker: every record's entities are put to the linearity test against its subject."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import cache
from importlib import metadata

from pydantic import JsonValue

from checkers.checker import Checker, Decision, Models, Undecidable
from checkers.draws import generator, seed_of
from checkers.extraction.asking import Known, Respondent, tried_fast, tried_fully
from checkers.extraction.entity_questions import ExtractionPrompts
from checkers.extraction.evidence import absent, causes, not_given, reason_of, shown, statistics
from checkers.extraction.extracted import Pairs, consistency
from checkers.extraction.linearity import Vector, draw_tests, error_bound
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.names import Names, SeenNames
from checkers.extraction.replacement import replaced
from checkers.extraction.settings import ExtractionSettings
from models.protocol import Judge, Model
from schemas import Extraction, ExtractionEvidence, FailureCause, TestedEntity

_EPSILON = 0.1
"""Distance from linear that the bound of an acceptance is about."""
_MOST_CHARACTERS = 5_000
"""A text is sent once for each answer, up to 176 times."""
_MOST_ENTITIES = 50
"""A record's most; each answer is searched for each."""


class ExtractionChecker(Checker[ExtractionSettings]):
    """Decides whether the subject that extracted entities does so whatever stands in their places."""

    name = "extraction"
    version = "3"

    def __init__(self, settings: ExtractionSettings, models: Models) -> None:
        """Raises ValueError (as TemplateError) if templates cannot be used."""
        super().__init__(settings, models)
        self._prompts = ExtractionPrompts(settings.prompts)
        self._writer = models.writer
        self._seen = SeenNames()
        self._names = Names(self._writer, self._prompts, self._seen)

    def fingerprint(self) -> JsonValue:
        """The prompts' versions, the subjects that may be asked, and the version of the library that invents names."""
        names: dict[str, JsonValue] = {name: model.name for name, model in self.models.subjects.items()}
        return [dict(self._prompts.versions), names, metadata.version("faker")]

    def judge_of(self, record: Extraction) -> Judge | Model:
        """The model that is tested by asking it: the subject."""
        return self.models.subjects.get(record.model, self.judge)

    async def decide(self, record: Extraction) -> Decision:
        """The tests; undecidable without a subject, without an entity to replace, or without usable answers."""
        subject = self.subject(record)
        repeats = self._repeats(subject)
        located = self._located(record)
        known = absent(located)
        if not self._is_settled(known, located):
            try:
                return await self._tested(record, subject, repeats, located, known)
            except Undecidable:
                # What the record itself shows holds, whatever its subject answers.
                if not known:
                    raise
        return self._decision(record, located, (), known, repeats)

    async def _tested(
        self, record: Extraction, subject: Model, repeats: int, located: Located, known: tuple[FailureCause, ...]
    ) -> Decision:
        """The decision by what the subject answers; `known` are causes to reject by the record alone."""
        seed = seed_of(record.source, record.id)
        respondent = Respondent(subject, self._prompts, record)
        is_full, listed = self.settings.schedule == "full", located.standing
        untouched = await respondent.of_the_text_itself(located.text, listed, repeats, wholly=is_full)
        known, con_o = known + not_given("not_given", listed, untouched), consistency(untouched)
        if self.settings.transformation == "paraphrase" and not self._is_settled(known, located):
            located = await self._paraphrased(located)
            untouched = await respondent.of_the_text_itself(located.text, located.entities, repeats, wholly=is_full)
            known += not_given("wording", located.entities, untouched)
        if self._is_settled(known, located):
            return self._decision(record, located, (), known, repeats, answers=len(untouched))
        self._seen.add(record, respondent.classes.items())
        tested = await self._names.replacements(record, located, respondent.classes_of(located.entities), seed)
        pairs = Pairs(located.entities, tuple(one.replacement for one in tested))

        @cache
        def sentence(v: Vector) -> str:
            return replaced(located, pairs.replacements, v)

        def ask(v: Vector, count: int, first: int) -> Awaitable[Known]:
            return respondent.extracted(sentence(v), count, first)

        count, rule = len(pairs.entities), self.settings.rule
        tests = draw_tests(count, self.settings.tests_of(count, repeats), generator(seed, "tests"))
        measured: dict[str, object] = {}
        if is_full:
            trial = await tried_fully(tests, ask, pairs, rule=rule, repeats=repeats)
            measured = {**statistics(trial, pairs), "con_o": con_o}
        else:
            trial = await tried_fast(tests, ask, pairs, untouched, rule=rule, repeats=repeats)
        outcomes = {one.outcome for one in trial.results}
        if "unusable" in outcomes and "failed" not in outcomes:
            detail = f"too many answers of {subject.name} could not be read to decide a test"
            raise Undecidable("subject_unusable", detail)
        return self._decision(
            record,
            located,
            tested,
            (*known, *causes(trial, pairs, sentence, rule)),
            repeats,
            **shown(trial, pairs, sentence) | measured,
        )

    def _repeats(self, subject: Model) -> int:
        """Answers about each text at most: one, if by the subject's temperature the others would be the same."""
        return 1 if getattr(subject, "temperature", None) == 0 else self.settings.repeats

    def _is_settled(self, known: tuple[FailureCause, ...], located: Located) -> bool:
        """True if no further answer can change the verdict, for the causes that are known."""
        return bool(known) and (self.settings.schedule == "fast" or not located.entities)

    def _located(self, record: Extraction) -> Located:
        """The entities in the record's text; raises Undecidable if there is nothing to test, or too much."""
        if not record.text.strip():
            raise Undecidable("empty_text", "the text is empty")
        if len(record.text) > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{len(record.text)} characters; a text may have {_MOST_CHARACTERS}")
        if len(record.entities) > _MOST_ENTITIES:
            raise Undecidable("too_long", f"{len(record.entities)} entities; a record may have {_MOST_ENTITIES}")
        located = find_mentions(record.text, [one.entity for one in record.listed])
        if not located.entities and not absent(located):
            why = ", ".join(f"“{entity}” ({reason})" for entity, reason in located.unreplaceable[:5])
            detail = f"no entity of the list can be replaced: {why}" if why else "the list of entities is empty"
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
            is_other = text.split() != located.text.split() and len(text) <= _MOST_CHARACTERS
            if is_other and found.entities == located.entities:
                return Located(text, found.entities, found.mentions, located.unreplaceable)
        detail = f"none of {len(reply.paraphrases)} paraphrases keeps all entities as they stand"
        raise Undecidable("no_paraphrase", detail)

    def _decision(
        self,
        record: Extraction,
        located: Located,
        tested: tuple[TestedEntity, ...],
        causes: tuple[FailureCause, ...],
        repeats: int,
        **found: object,
    ) -> Decision:
        settings = self.settings
        tests = settings.tests_of(len(located.entities), repeats)
        # The theorem is about an f with one value for each text.
        has_bound = not causes and (settings.rule == "strict" or repeats == 1)
        bound = error_bound(_EPSILON, tests, len(tested)) if has_bound else None
        evidence = ExtractionEvidence.model_validate(
            {
                "text": located.text,
                "entities": tested,
                "untested": [{"text": entity, "reason": reason} for entity, reason in located.unreplaceable],
                **{name: getattr(settings, name) for name in ("rule", "schedule", "transformation")},
                "tests": tests,
                "repeats": repeats,
                "seed": seed_of(record.source, record.id),
                "causes": causes,
                "epsilon": _EPSILON if has_bound else None,
                "prompt_versions": self._prompts.versions,
                "rounds": (),
                "ideal_share": None,
                "answers": 0,
                **found,
            }
        )
        reason = reason_of(evidence, bound)
        return Decision(accepted=not causes, reason=reason, evidence=evidence, error_bound=bound)
