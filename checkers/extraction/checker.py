"""The extraction checker: every record's entities are put to the linearity test with its subject."""

from dataclasses import replace
from importlib import metadata
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from checkers.checker import Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.draws import generator, seed_of
from checkers.extraction.evidence import absent, causes, not_given, reason_of, shown, statistics
from checkers.extraction.linearity import Answers, Vector, draw_tests, error_bound, tried_fast, tried_fully
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.questions import ExtractionPrompts, Respondent
from checkers.extraction.replacement import Names
from models.protocol import Judge, Model
from schemas import Extraction, ExtractionEvidence
from schemas.extraction import FailureCause

_MOST_TESTS, _FEWER_TESTS = 10, 5
_MOST_ANSWERS = 176
"""As many as the paper's five tests of eleven answers a text take, with those about the text itself."""


class ExtractionSettings(CheckerSettings):
    """The extraction checker: how the linearity test is made."""

    repeats: Annotated[int, Field(ge=1, le=101)] = 11
    """Answers about each text at most."""
    schedule: Literal["fast", "full"] = "fast"
    """`fast` asks until the verdict is certain, and bounds the error of an acceptance. `full`, the paper's, asks for
    all answers, 176 by default, without a bound."""
    transformation: Literal["replace", "paraphrase"] = "replace"
    """Replace entities in the text, or in a `paraphrase` that the judge, an endpoint, writes."""

    def tests_of(self, entities: int, repeats: int) -> int:
        """Tests that so many entities are put to, by a subject that is asked so often about each text."""
        texts = 3 * _MOST_TESTS + 1
        most = texts if self.schedule == "full" else min(texts, 2**entities)
        return _MOST_TESTS if most * repeats <= _MOST_ANSWERS else _FEWER_TESTS


_EPSILON = 0.1
"""Distance from linear that the bound of an acceptance is about."""
_MOST_CHARACTERS, _MOST_ENTITIES = 5_000, 50
"""A text is sent up to 176 times, and each answer searched for each entity."""


class ExtractionChecker(Checker[ExtractionSettings]):
    """Decides whether the subject that extracted entities does so whatever stands in their places."""

    name = "extraction"
    version = "4"

    def __init__(self, settings: ExtractionSettings, models: Models) -> None:
        super().__init__(settings, models)
        self._prompts = ExtractionPrompts()
        self._names = Names(models.writer, self._prompts)

    def fingerprint(self) -> JsonValue:
        names: dict[str, JsonValue] = {name: model.name for name, model in self.models.subjects.items()}
        return [dict(self._prompts.versions), names, metadata.version("faker")]

    def judge_of(self, record: Extraction) -> Judge | Model:
        return self.models.subjects.get(record.model, self.judge)

    async def decide(self, record: Extraction) -> Decision:
        """The tests; undecidable without a subject, without an entity to replace, or without usable answers."""
        subject, repeats, is_full = self.subject(record), self.settings.repeats, self.settings.schedule == "full"
        located = _located(record)
        known = absent(located)
        # By the paper's schedule all tests are made, for their figures, if anything can be replaced.
        if known and not (is_full and located.entities):
            return self._decision(record, located, known, repeats)
        respondent = Respondent(subject, self._prompts, record)
        listed = located.expected
        repeats, tried = await respondent.repeats(located.text, repeats)
        original = await respondent.of_the_text_itself(located.text, listed, repeats, wholly=is_full, known=tried)
        known, untouched = known + not_given("not_given", listed, original), original
        if self.settings.transformation == "paraphrase" and (is_full or not known):
            located = await self._paraphrased(located)
            untouched = await respondent.of_the_text_itself(located.text, located.entities, repeats, wholly=is_full)
            known += not_given("wording", located.entities, untouched)
        if known and not is_full:
            return self._decision(record, located, known, repeats, answers=len(untouched))
        seed = seed_of(record.source, record.id)
        self._names.keep(record, respondent.classes.items())
        entities = await self._names.replacements(record, located, respondent.classes, seed)
        if not entities:
            raise Undecidable("no_replacement", "nothing is known that fits in the place of an entity")
        located = located.replaced_by({one.text: one.replacement for one in entities})

        async def ask(v: Vector, count: int, first: int) -> Answers:
            return await respondent.extracted(located.sentence(v), count, first)

        tests = draw_tests(len(entities), self.settings.tests_of(len(entities), repeats), generator(seed, "tests"))
        if is_full:
            made = await tried_fully(tests, ask, located, repeats)
        else:
            made = await tried_fast(tests, ask, located, untouched, repeats)
        outcomes = {one.outcome for one in made.results}
        if "unusable" in outcomes and "failed" not in outcomes:
            raise Undecidable("subject_unusable", f"too many answers of {subject.name} could not be read for a test")
        found = shown(made) | (statistics(made, original) if is_full else {})
        return self._decision(
            record, located, known + causes(made, self._prompts.example), repeats, entities=entities, **found
        )

    async def _paraphrased(self, located: Located) -> Located:
        """The same entities in a paraphrase of the text; raises Undecidable if none keeps them."""
        if self.models.writer is None:
            detail = "extraction.transformation is 'paraphrase', which needs an endpoint as judge"
            raise Undecidable("no_paraphrase", detail)
        question = self._prompts.paraphrases(located.text, located.entities)
        paraphrases = (await self.models.writer.ask(question)).reply.paraphrases
        for text in paraphrases:
            found = find_mentions(text, located.entities)
            is_other = text.split() != located.text.split() and len(text) <= _MOST_CHARACTERS
            if is_other and found.entities == located.entities:
                return replace(found, unreplaceable=located.unreplaceable)
        raise Undecidable("no_paraphrase", f"none of {len(paraphrases)} paraphrases keeps all entities unchanged")

    def _decision(
        self, record: Extraction, located: Located, causes: list[FailureCause], repeats: int, **found: object
    ) -> Decision:
        settings = self.settings
        tests = settings.tests_of(len(located.entities), repeats)
        # The theorem is about an f with one value for each text.
        has_bound = not causes and (settings.schedule == "fast" or repeats == 1)
        bound = error_bound(_EPSILON, tests, len(located.entities)) if has_bound else None
        evidence = ExtractionEvidence.model_validate(
            {
                "text": located.text,
                "entities": (),
                "untested": located.unreplaceable,
                "schedule": settings.schedule,
                "transformation": settings.transformation,
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
        return Decision(accepted=not causes, reason=reason_of(evidence, bound), evidence=evidence, error_bound=bound)


def _located(record: Extraction) -> Located:
    """The entities in the record's text; raises Undecidable if there is nothing to test, or too much."""
    if not record.text.strip():
        raise Undecidable("empty_text", "the text is empty")
    if len(record.text) > _MOST_CHARACTERS:
        raise Undecidable("too_long", f"{len(record.text)} characters; a text may have {_MOST_CHARACTERS}")
    if len(record.entities) > _MOST_ENTITIES:
        raise Undecidable("too_long", f"{len(record.entities)} entities; a record may have {_MOST_ENTITIES}")
    located = find_mentions(record.text, [one.entity for one in record.listed])
    if not located.entities and not absent(located):
        why = ", ".join(f"“{one.text}” ({one.reason})" for one in located.unreplaceable[:5])
        detail = f"no entity of the list can be replaced: {why}" if why else "the list of entities is empty"
        raise Undecidable("no_entity", detail)
    return located
