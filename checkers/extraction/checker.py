"""The extraction checker: every record's entities are put to the linearity test with its subject."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from checkers.checker import Checker, CheckerSettings, Decision, Models, Undecidable
from checkers.draws import generator, seed_of
from checkers.extraction.evidence import absent, causes, not_given, reason_of, shown, statistics
from checkers.extraction.linearity import (
    LinearityTest,
    Pairs,
    Reading,
    TestResult,
    Vector,
    consistency,
    draw_tests,
    error_bound,
    needed,
    result_of,
)
from checkers.extraction.mentions import Located, find_mentions
from checkers.extraction.questions import ExtractionPrompts, Known, Respondent
from checkers.extraction.replacement import Names, replaced
from models.protocol import Judge, Model
from models.work import gather_or_cancel
from schemas import Extraction, ExtractionEvidence, FailureCause, TestedEntity

Ask = Callable[[Vector, int, int], Awaitable[Known]]
"""Takes a vector, how many answers about its text are wanted, and the number of the first."""

_MOST_TESTS, _FEWER_TESTS = 10, 5
_MOST_ANSWERS = 176
"""As many as the paper's five tests of eleven answers a text take, with those about the text itself."""


class ExtractionSettings(CheckerSettings):
    """The extraction checker: how the linearity test is made."""

    repeats: Annotated[int, Field(ge=1, le=101)] = 11
    """Answers about each text that may be taken. A language model with `temperature = 0` is asked once, if
    it gave the same answer about the record's text three times."""
    schedule: Literal["fast", "full"] = "fast"
    """`fast` asks until the verdict is certain: the majority of the answers about a text counts, and an acceptance has
    a bound. `full` is the paper's, for A_test, A_rate, Con_rs and Con_o: all answers, each text asked about again, 176
    with the defaults; a test is passed if any combination of answers passes it. It has no bound."""
    transformation: Literal["replace", "paraphrase"] = "replace"
    """The transformation of texts. `replace`: entities are replaced in the text. `paraphrase`: they are replaced in a
    paraphrase of it that keeps them, which the judge writes; it must be an endpoint then."""

    def tests_of(self, entities: int, repeats: int) -> int:
        """Tests that so many entities are put to, by a subject that is asked so often about each text."""
        texts = 3 * _MOST_TESTS + 1
        most = texts if self.schedule == "full" else min(texts, 2**entities)
        return _MOST_TESTS if most * repeats <= _MOST_ANSWERS else _FEWER_TESTS


_EPSILON = 0.1
"""Distance from linear that the bound of an acceptance is about."""
_TRIED = 3
"""Answers at temperature 0 that must be the same."""
_MOST_CHARACTERS = 5_000
"""A text is sent once for each answer, up to 176 times."""
_MOST_ENTITIES = 50
"""A record's most; each answer is searched for each."""


class ExtractionChecker(Checker[ExtractionSettings]):
    """Decides whether the subject that extracted entities does so whatever stands in their places."""

    name = "extraction"
    version = "3"

    def __init__(self, settings: ExtractionSettings, models: Models) -> None:
        super().__init__(settings, models)
        self._prompts = ExtractionPrompts()
        self._writer = models.writer
        self._names = Names(self._writer, self._prompts)

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
        repeats = self.settings.repeats
        located = self._located(record)
        known = absent(located)
        if not self._is_settled(known, located):
            try:
                return await self._tested(record, subject, located, known)
            except Undecidable:
                # What the record itself shows holds, whatever its subject answers.
                if not known:
                    raise
        return self._decision(record, located, (), known, repeats)

    async def _tested(
        self, record: Extraction, subject: Model, located: Located, known: tuple[FailureCause, ...]
    ) -> Decision:
        """The decision by what the subject answers; `known` are causes to reject by the record alone."""
        seed = seed_of(record.source, record.id)
        respondent = Respondent(subject, self._prompts, record)
        is_full, listed = self.settings.schedule == "full", located.expected
        repeats, tried = await self._repeats(subject, respondent, located.text)
        untouched = await respondent.of_the_text_itself(located.text, listed, repeats, wholly=is_full, known=tried)
        known, con_o = known + not_given("not_given", listed, untouched), consistency(untouched)
        if self.settings.transformation == "paraphrase" and not self._is_settled(known, located):
            located = await self._paraphrased(located)
            untouched = await respondent.of_the_text_itself(located.text, located.entities, repeats, wholly=is_full)
            known += not_given("wording", located.entities, untouched)
        if self._is_settled(known, located):
            return self._decision(record, located, (), known, repeats, answers=len(untouched))
        self._names.keep(record, respondent.classes.items())
        tested = await self._names.replacements(record, located, respondent.classes_of(located.entities), seed)
        located = located.tested({one.text for one in tested})
        if not tested:
            raise Undecidable("no_replacement", "nothing is known that fits in the place of an entity")
        pairs = Pairs(located.entities, tuple(one.replacement for one in tested))

        @cache
        def sentence(v: Vector) -> str:
            return replaced(located, pairs.replacements, v)

        def ask(v: Vector, count: int, first: int) -> Awaitable[Known]:
            return respondent.extracted(sentence(v), count, first)

        count = len(pairs.entities)
        tests = draw_tests(count, self.settings.tests_of(count, repeats), generator(seed, "tests"))
        measured: dict[str, object] = {}
        if is_full:
            results, answers = await tried_fully(tests, ask, pairs, repeats)
            measured = {**statistics(results, pairs), "con_o": con_o}
        else:
            results, answers = await tried_fast(tests, ask, pairs, untouched, repeats)
        outcomes = {one.outcome for one in results}
        if "unusable" in outcomes and "failed" not in outcomes:
            detail = f"too many answers of {subject.name} could not be read to decide a test"
            raise Undecidable("subject_unusable", detail)
        return self._decision(
            record,
            located,
            tested,
            (*known, *causes(results, answers, pairs, sentence, lenient=is_full)),
            repeats,
            **shown(results, answers, pairs, sentence) | measured,
        )

    async def _repeats(self, subject: Model, respondent: Respondent, text: str) -> tuple[int, Known]:
        """Answers about each text at most, with those about this one that were taken to know it.

        It is one if the subject's temperature is 0 and it said the same three times: many endpoints do not.
        """
        most = self.settings.repeats
        if getattr(subject, "temperature", None) != 0 or most <= _TRIED:
            return most, []
        tried = [one for number in range(_TRIED) for one in await respondent.extracted(text, 1, number)]
        is_steady = None not in tried and len({frozenset(one or ()) for one in tried}) == 1
        return (1, tried[:1]) if is_steady else (most, tried)

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
        detail = f"none of {len(reply.paraphrases)} paraphrases keeps all entities unchanged"
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
        has_bound = not causes and (settings.schedule == "fast" or repeats == 1)
        bound = error_bound(_EPSILON, tests, len(tested)) if has_bound else None
        evidence = ExtractionEvidence.model_validate(
            {
                "text": located.text,
                "entities": tested,
                "untested": [{"text": entity, "reason": reason} for entity, reason in located.unreplaceable],
                **{name: getattr(settings, name) for name in ("schedule", "transformation")},
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


Tried = tuple[list[TestResult], dict[Vector, Known]]
"""The tests that were made, and by sentence all answers that were taken."""


async def tried_fast(tests: Sequence[LinearityTest], ask: Ask, pairs: Pairs, untouched: Known, repeats: int) -> Tried:
    """The tests up to the first that fails, with as few answers as decide them; raises as `Respondent.extracted`.

    `untouched` are the first answers about the text itself.
    """
    answers: dict[Vector, Known] = defaultdict(list, {0: untouched})
    results: list[TestResult] = []

    async def ask_further(v: Vector, count: int) -> None:
        answers[v] += await ask(v, count - len(answers[v]), len(answers[v]))

    def read(v: Vector) -> list[Reading]:
        return [pairs.read(one) for one in answers[v]]

    for test in tests:
        while wanted := needed(test, {v: read(v) for v in test.vectors}, repeats):
            await gather_or_cancel(ask_further(v, count) for v, count in wanted.items())
        results.append(result_of(test, [read(v) for v in test.vectors], pairs.mask))
        if results[-1].outcome == "failed":
            break
    # Later tests may have asked further about a sentence.
    results = [replace(one, answers=tuple(answers[v] for v in one.test.vectors)) for one in results]
    return results, {v: known for v, known in answers.items() if known}


async def tried_fully(tests: Sequence[LinearityTest], ask: Ask, pairs: Pairs, repeats: int) -> Tried:
    """All tests with all answers, a text that comes again asked about again; raises as `Respondent.extracted`."""
    slots = [v for test in tests for v in test.vectors]
    # The first about no transformed text are those about the text itself.
    earlier = [slots[:place].count(v) + (v == 0) for place, v in enumerate(slots)]
    taken = await gather_or_cancel(ask(v, repeats, known * repeats) for v, known in zip(slots, earlier, strict=True))
    answers: dict[Vector, Known] = defaultdict(list)
    for v, known in zip(slots, taken, strict=True):
        answers[v] += known
    results = []
    for number, test in enumerate(tests):
        about = tuple(taken[3 * number : 3 * number + 3])
        found = result_of(test, [[pairs.read(one) for one in known] for known in about], pairs.mask, lenient=True)
        results.append(replace(found, answers=about))
    return results, dict(answers)
