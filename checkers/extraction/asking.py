"""Asking the subject: by the full schedule, or by the one that stops as early as it can."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from checkers.checker import Undecidable
from checkers.extraction.entity_questions import ExtractionPrompts
from checkers.extraction.extracted import Extracted, Pairs, missing
from checkers.extraction.linearity import LinearityTest, Reading, Rule, TestResult, Vector, result_of
from checkers.extraction.mentions import bare
from checkers.extraction.schedule import further, sequential
from models.concurrent import gather_or_cancel
from models.protocol import Model, ModelFailed
from models.sampling import sample
from schemas import Extraction

Known = list[Extracted | None]
"""Answers about one text."""
Ask = Callable[[Vector, int, int], Awaitable[Known]]
"""Takes a vector, how many answers about its text are wanted, and the number of the first."""


class Respondent:
    """The subject of one record."""

    def __init__(self, subject: Model, prompts: ExtractionPrompts, record: Extraction) -> None:
        self._subject = subject
        self._prompts = prompts
        self._under = record.prompt
        self.classes = {one.entity: one.kind for one in record.listed if one.kind}
        """By each entity that was extracted, as it was spelled first, the class that the subject gave it."""

    def classes_of(self, entities: Iterable[str]) -> dict[str, str]:
        """The class of each entity, whatever its spelling; empty if the subject gave none."""
        known = {bare(one): kind for one, kind in reversed(self.classes.items())}
        return {entity: known.get(bare(entity), "") for entity in entities}

    async def of_the_text_itself(self, text: str, entities: Sequence[str], repeats: int, *, wholly: bool) -> Known:
        """Answers about a text as it is, until it is certain which of the entities most of `repeats` name, or all.

        Raises:
            Undecidable: as `extracted`, or most answers cannot be read.
        """
        found: Known = []
        while more := repeats - len(found) if wholly else further([missing(entities, one) for one in found], repeats):
            found += await self.extracted(text, more, first=len(found))
        if 2 * found.count(None) >= len(found):
            detail = f"of {len(found)} answers of {self._subject.name} about the text, {found.count(None)}"
            raise Undecidable("subject_unusable", f"{detail} could not be read")
        return found

    async def extracted(self, text: str, count: int, first: int = 0) -> Known:
        """So many answers about a text, numbered from `first` on; None for each that cannot be read.

        Raises:
            Undecidable: the subject fails on the question.
            ModelUnavailable: its endpoint is down.
        """
        try:
            replies = await sample(self._subject, self._prompts.entities(text, self._under), count, first)
        except ModelFailed as error:
            raise Undecidable(error.cause_of_subject, f"{self._subject.name}: {error.detail}") from error
        for found in (found for one in replies if one is not None for found in one.entities):
            if found.kind.strip():
                self.classes.setdefault(found.entity, found.kind.strip())
        return [None if one is None else tuple(found.entity for found in one.entities) for one in replies]


@dataclass(frozen=True, slots=True)
class Trial:
    """Tests that were made."""

    results: tuple[TestResult, ...]
    rounds: tuple[tuple[Known, ...], ...]
    """For each test the answers about its three sentences."""
    answers: dict[Vector, Known]
    """By sentence all that were taken."""


async def tried_fast(
    tests: Sequence[LinearityTest], ask: Ask, pairs: Pairs, untouched: Known, *, rule: Rule, repeats: int
) -> Trial:
    """The tests up to the first that fails, with as few answers as decide them; raises as `Respondent.extracted`.

    `untouched` are the first answers about the text itself.
    """
    answers: dict[Vector, Known] = defaultdict(list, {0: untouched})
    readings: dict[Vector, list[Reading]] = defaultdict(list, {0: [pairs.read(one) for one in untouched]})

    async def ask_further(v: Vector, count: int) -> None:
        known = answers[v]
        known += await ask(v, count - len(known), len(known))
        readings[v] = [pairs.read(one) for one in known]

    steps = sequential(tests, readings, rule=rule, repeats=repeats, mask=pairs.mask)
    while True:
        try:
            wanted = next(steps)
        except StopIteration as ended:
            results: tuple[TestResult, ...] = tuple(ended.value)
            break
        await gather_or_cancel(ask_further(v, count) for v, count in wanted.items())
    rounds = tuple(tuple(answers[v] for v in one.test.vectors) for one in results)
    return Trial(results, rounds, {v: known for v, known in answers.items() if known})


async def tried_fully(tests: Sequence[LinearityTest], ask: Ask, pairs: Pairs, *, rule: Rule, repeats: int) -> Trial:
    """All tests with all answers; raises as `Respondent.extracted`.

    A text that comes again is asked about anew; by the rule strict, f has the majority of all answers about it.
    """
    slots = [v for test in tests for v in test.vectors]
    # The first about no transformed text are those about the text itself.
    earlier = [slots[:place].count(v) + (v == 0) for place, v in enumerate(slots)]
    taken = await gather_or_cancel(ask(v, repeats, known * repeats) for v, known in zip(slots, earlier, strict=True))
    answers: dict[Vector, Known] = defaultdict(list)
    for v, known in zip(slots, taken, strict=True):
        answers[v] += known
    rounds = tuple(tuple(taken[3 * number : 3 * number + 3]) for number in range(len(tests)))
    read = [[answers[v] for v in test.vectors] for test in tests] if rule == "strict" else rounds
    results = tuple(
        result_of(test, [[pairs.read(one) for one in known] for known in about], rule, pairs.mask)
        for test, about in zip(tests, read, strict=True)
    )
    return Trial(results, rounds, dict(answers))
