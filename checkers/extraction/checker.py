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
from checkers.extraction.evidence import absent, causes, reason_of, rounds, statistics, unseen
from checkers.extraction.extracted import Pairs, consistency, is_among
from checkers.extraction.linearity import Vector, draw_tests, error_bound, ideal_share
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.names import Names, SeenNames
from checkers.extraction.replacement import replaced
from checkers.extraction.schedule import finding_of
from checkers.extraction.settings import ExtractionSettings
from models.protocol import Judge
from schemas import Extraction, ExtractionEvidence, FailureCause, TestedEntity

_EPSILON = 0.1
"""Distance from linear that the bound of an acceptance is about."""
_MOST_CHARACTERS = 5_000
"""A text is sent once for each answer, 176 times with the full schedule."""
_MOST_ENTITIES = 50
"""A record's most; each answer is searched for each."""


class ExtractionChecker(Checker[ExtractionSettings]):
    """Decides whether the subject that extracted entities does so whatever stands in their places."""

    name = "extraction"
    version = "2"

    def __init__(self, settings: ExtractionSettings, models: Models) -> None:
        """Raises ValueError (as TemplateError) if templates cannot be used."""
        super().__init__(settings, models)
        self._prompts = ExtractionPrompts(settings.prompts)
        # A judge that grades reads no prompts.
        self._writer = None if self.grader else self.judge
        self._seen = SeenNames()
        self._names = Names(self._writer, self._prompts, self._seen)

    def fingerprint(self) -> JsonValue:
        """The prompts' versions, the subjects that may be asked, and the version of the library that invents names."""
        names: dict[str, JsonValue] = {name: model.name for name, model in self.models.subjects.items()}
        return [dict(self._prompts.versions), names, metadata.version("faker")]

    def judge_of(self, record: Extraction) -> Judge:
        """The model that is tested by asking it: the subject."""
        return self.models.subjects.get(record.model, self.judge)

    async def decide(self, record: Extraction) -> Decision:
        """The tests; undecidable without a subject, without an entity to replace, or without usable answers."""
        subject = self.subject(record)
        located = self._located(record)
        seed = seed_of(record.source, record.id)
        known = absent(located)
        if self._is_settled(located):
            return self._decision(located, (), seed, known)
        respondent = Respondent(subject, self._prompts, record.prompt)
        if self.settings.transformation == "paraphrase":
            located = await self._paraphrased(located)
        respondent.known = located.entities
        untouched = await self._of_the_text_itself(respondent, located)
        if not any(one is not None for one in untouched):
            if known:
                return self._decision(located, (), seed, known)
            detail = f"{len(untouched)} answers of {subject.name} about the text could not be read"
            raise Undecidable("subject_unusable", detail)
        self._seen.add(record, respondent.classes.items())
        tested = await self._names.replacements(record, located, respondent.classes_of(located.entities), seed)
        pairs = Pairs(located.entities, tuple(one.replacement for one in tested))
        respondent.known += pairs.replacements

        @cache
        def sentence(v: Vector) -> str:
            return replaced(located, pairs.replacements, v)

        def ask(v: Vector, count: int, first: int) -> Awaitable[Known]:
            return respondent.extracted(sentence(v), count, first)

        tests = draw_tests(len(pairs.entities), self.settings.tests, generator(seed, "tests"))
        rule, repeats = self.settings.rule, self.settings.repeats
        measured: dict[str, object] = {}
        if self.settings.schedule == "full":
            trial = await tried_fully(tests, ask, pairs, rule=rule, repeats=repeats)
            measured = {**statistics(trial, pairs), "con_o": consistency(untouched)}
        else:
            trial = await tried_fast(tests, ask, pairs, untouched, rule=rule, repeats=repeats)
        finding = finding_of(trial.results)
        if finding == "unusable" and not known:
            detail = f"of {trial.taken} answers of {subject.name} too many could not be read to decide a test"
            raise Undecidable("subject_unusable", detail)
        return self._decision(
            located,
            tested,
            seed,
            (*known, *causes(finding, trial, pairs, sentence)),
            rounds=rounds(trial, pairs, sentence),
            ideal_share=ideal_share(trial.results, pairs.mask),
            answers=trial.taken,
            **unseen(trial, pairs),
            **measured,
        )

    def _is_settled(self, located: Located) -> bool:
        """True if no answer can change the verdict, as an entity of the record is not in its text."""
        return bool(absent(located)) and (self.settings.schedule == "fast" or not located.entities)

    def _located(self, record: Extraction) -> Located:
        """The entities in the record's text; raises Undecidable if there is nothing to test, or too much."""
        if not record.text.strip():
            raise Undecidable("empty_text", "the text is empty")
        if len(record.text) > _MOST_CHARACTERS:
            raise Undecidable("too_long", f"{len(record.text)} characters; a text may have {_MOST_CHARACTERS}")
        if len(record.entities) > _MOST_ENTITIES:
            raise Undecidable("too_long", f"{len(record.entities)} entities; a record may have {_MOST_ENTITIES}")
        located = find_mentions(record.text, record.entities)
        if not located.entities and not absent(located):
            detail = "the list of entities is empty"
            if located.unreplaceable:
                detail = "no entity of the list can be replaced: " + ", ".join(
                    f"“{entity}” ({reason})" for entity, reason in located.unreplaceable[:5]
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
            is_other = text.split() != located.text.split() and len(text) <= _MOST_CHARACTERS
            if is_other and found.entities == located.entities:
                return Located(text, found.entities, found.mentions, located.unreplaceable)
        raise Undecidable(
            "no_paraphrase", f"none of {len(reply.paraphrases)} paraphrases keeps all entities as they stand"
        )

    async def _of_the_text_itself(self, respondent: Respondent, located: Located) -> Known:
        """The subject's answers about the text itself, from which it is known what class it gives to each entity.

        One as a rule; as many as a test takes if the first lacks an entity. The schedule `full` wants them for Con_o,
        numbered like those about no transformed text: one of those may be the text itself.
        """
        text, repeats = located.text, self.settings.repeats
        if self.settings.schedule == "full":
            return await respondent.extracted(text, repeats, first=3 * self.settings.tests * repeats)
        found = await respondent.extracted(text, 1)
        if repeats > 1 and not all(is_among(entity, found[0] or ()) for entity in located.entities):
            found += await respondent.extracted(text, repeats - 1, first=1)
        return found

    def _decision(
        self,
        located: Located,
        tested: tuple[TestedEntity, ...],
        seed: str,
        causes: tuple[FailureCause, ...],
        **found: object,
    ) -> Decision:
        settings = self.settings
        # The theorem is about an f with one value for each text.
        has_bound = not causes and (settings.rule == "strict" or settings.repeats == 1)
        evidence = ExtractionEvidence.model_validate(
            {
                "text": located.text,
                "entities": tested,
                "untested": [{"text": entity, "reason": reason} for entity, reason in located.unreplaceable],
                **{
                    name: getattr(settings, name) for name in ("rule", "schedule", "transformation", "tests", "repeats")
                },
                "seed": seed,
                "causes": causes,
                "epsilon": _EPSILON if has_bound else None,
                "prompt_versions": self._prompts.versions,
                "rounds": (),
                "ideal_share": None,
                "answers": 0,
                **found,
            }
        )
        bound = error_bound(_EPSILON, settings.tests, len(tested)) if has_bound else None
        reason = reason_of(evidence, accepted=not causes, error_bound=bound)
        return Decision(accepted=not causes, reason=reason, evidence=evidence, error_bound=bound)
