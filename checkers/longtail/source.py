"""Probes as a source of records: the next statement is asked, and the answer is a record.

Statements come in an order that is the same in every process.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from checkers.checker import Models
from checkers.draws import generator, uniform
from checkers.longtail.checker import UNANSWERED, LongtailSettings
from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement, read_corpus
from checkers.longtail.questions import Asker
from checkers.longtail.templates import TEMPLATES, ProbeTemplate
from models.protocol import ModelFailed
from schemas import Probe
from schemas.records import ProbeStatement

_SEED = "probes"

SECONDS_BETWEEN = 60.0
"""Length of the intervals in which a subject is asked one probe each: 1,440 questions a day."""


_Sides: TypeAlias = Mapping[Distribution, Sequence[Statement]]


def paired(statements: Iterable[Statement]) -> list[_Sides]:
    """The correct statements, for all templates apply to them, by rule; rules that lack either side are skipped."""
    rules: dict[str, dict[Distribution, list[Statement]]] = defaultdict(lambda: {one: [] for one in DISTRIBUTIONS})
    for statement in statements:
        if statement.correct:
            rules[statement.rule][statement.distribution].append(statement)
    return [rules[name] for name in sorted(rules) if all(rules[name].values())]


def probe(rules: Sequence[_Sides], number: int) -> tuple[Statement, ProbeTemplate]:
    """The statement and the template with a number, from 0.

    Numbers 2k and 2k + 1 are a pair: the head and the tail of one rule, asked with one template; which comes first is
    drawn. Rules come equally often, and so do templates: each is drawn again only when all have been.
    """
    pair, side = divmod(number, len(DISTRIBUTIONS))
    side ^= uniform(_SEED, f"sides/{pair}") < 0.5
    turn, place = divmod(pair, len(rules))
    rule = _drawn("rules", turn, len(rules))[place]
    block, place = divmod(pair, len(TEMPLATES))
    template = TEMPLATES[_drawn("templates", block, len(TEMPLATES))[place] + 1]
    distribution = DISTRIBUTIONS[side]
    statements = rules[rule][distribution]
    round_, place = divmod(turn, len(statements))
    return statements[_drawn(f"{distribution}/{rule}", round_, len(statements))[place]], template


@lru_cache(maxsize=64)
def _drawn(purpose: str, round_: int, count: int) -> list[int]:
    return generator(_SEED, f"{purpose}/{round_}").sample(range(count), count)


class ProbeSource:
    """Asks the subjects about the statements of a corpus, all of them in the same order."""

    name = "probe-scheduler"

    def __init__(self, settings: LongtailSettings, models: Models) -> None:
        """Raises ValueError if no subject is configured, or the corpus cannot be used."""
        corpus, self.seconds_between = settings.probes.corpus, SECONDS_BETWEEN
        if corpus is None:
            raise ValueError("longtail.probes.corpus is not set: there is nothing to ask about")
        if not models.subjects:
            raise ValueError("longtail.probes: no subject is configured in subjects, so there is nobody to ask")
        self.models = tuple(models.subjects)
        self._subjects = models.subjects
        self._asker = Asker("zero-shot")
        self._rules = paired(read_corpus(corpus))
        if not self._rules:
            detail = "no rule has correct statements of both head and tail: nothing to compare"
            raise ValueError(f"longtail.probes.corpus = {corpus}: {detail}")

    async def record(self, model: str, number: int, id_: str) -> Probe:
        """Ask the probe with a number, from 0; its answer may be missing. Raises ModelUnavailable."""
        statement, template = probe(self._rules, number)
        answer, metadata = "", {"statement": statement.id}
        try:
            answer = (await self._subjects[model].ask(self._asker.question(statement, template))).reply.answer
        except ModelFailed as error:
            metadata[UNANSWERED] = error.cause_of_subject
        said = statement.model_dump(include={"premise", "conclusion", "domain", "distribution"})
        return Probe(
            kind="probe",
            id=id_,
            source=self.name,
            model=model,
            metadata=metadata,
            statement=ProbeStatement(**said),
            template=template.number,
            question=template.question(statement),
            expected=template.answer(statement),
            answer=answer,
        )
