"""Asking subjects about a whole corpus: every statement in every form, many at once, results in order."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from assay.cli.front_door import CannotRun
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import generator
from checkers.longtail.answers import Unparsable, meaning
from checkers.longtail.asking.asker import AskedProbe, Asker
from checkers.longtail.corpus import Statement, read_corpus
from checkers.longtail.settings import LongtailSettings, Way
from checkers.longtail.templates import ProbeTemplate, polarity, templates_of
from checkers.patience import ModelPatience
from lab.probes.results import ProbeResult, Run
from models.billing import billed
from models.concurrent import in_order
from models.protocol import Oracle, OracleFailed
from schemas import digest
from schemas.evidence import SubjectCause

_WINDOW = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """The options of the command line."""

    models: tuple[str, ...] = ()
    """Names of subjects; the only one that is configured, if empty."""
    ways: tuple[Way, ...] = ("zero-shot",)
    limit: int | None = None
    """Statements of each domain and distribution at most."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Probe:
    number: int
    run: Run
    statement: Statement
    template: ProbeTemplate


class ProbeRun:
    """All probes of a corpus for each subject and way, one after the other, many at once."""

    def __init__(self, options: ProbeOptions, corpus: Path, configured: Configuration, models: Models) -> None:
        """Reads the corpus.

        Raises:
            CannotRun: a subject is not configured, or (as BadCorpus, TemplateError) a file cannot be used.
        """
        section = configured.checkers.get("longtail")
        settings = (section if isinstance(section, LongtailSettings) else LongtailSettings()).probes
        self._subjects = _subjects(options.models, models)
        self.runs = [Run(model=name, way=way) for name in self._subjects for way in dict.fromkeys(options.ways)]
        try:
            self._statements = _limited(list(read_corpus(corpus)), options.limit, options.seed)
            self._askers = {way: Asker(way, seed=options.seed, own=settings.prompts) for way in options.ways}
        except ValueError as error:
            raise CannotRun(str(error)) from error
        self.count = len(self.runs) * sum(1 for one in self._statements for _ in templates_of(one))
        self._window = max(_WINDOW, *(3 * configured.subjects[name].concurrency // 2 for name in self._subjects))
        asked = [(run.model, self._subjects[run.model].name, run.way) for run in self.runs]
        prompts = [asker.versions for asker in self._askers.values()]
        self.identity = digest([[one.id for one in self._statements], asked, prompts, options.seed])
        """Digest of all that bears on the results."""

    async def over(self, done: int, emit: Callable[[ProbeResult], None], patience: ModelPatience) -> None:
        """Give `emit` the result of each probe behind the first `done`, in order.

        Raises:
            ModelLost: a subject was away for longer than the patience.
        """

        async def each() -> AsyncIterator[_Probe]:
            for probe in islice(self._probes(), done, None):
                yield probe

        async def result(probe: _Probe) -> ProbeResult:
            return await self._result(probe, patience)

        await in_order(each(), result, emit, window=self._window)

    def _probes(self) -> Iterator[_Probe]:
        number = 0
        for run in self.runs:
            for statement in self._statements:
                for template in templates_of(statement):
                    number += 1
                    yield _Probe(number, run, statement, template)

    async def _result(self, probe: _Probe, patience: ModelPatience) -> ProbeResult:
        asker, subject = self._askers[probe.run.way], self._subjects[probe.run.model]
        with billed() as bill:
            try:
                asked = await patience.until_answered(lambda: asker.ask(subject, probe.statement, probe.template))
            except OracleFailed:
                # The subject fails on it again and again, and answers others meanwhile.
                asked = None
            right, cause = (None, "subject_failed") if asked is None else _scored(asked)
            template, statement = probe.template, probe.statement
            return ProbeResult(
                number=probe.number,
                model=probe.run.model,
                way=probe.run.way,
                statement=statement.id,
                domain=statement.domain,
                distribution=statement.distribution,
                template=template.number,
                polarity=polarity(template.number, template.answer(statement)),
                question=template.question(statement),
                expected=template.answer(statement),
                answer="" if asked is None else asked.answer,
                reasoning=None if asked is None else asked.reasoning,
                right=right,
                cause=cause,
                usage=bill.usage,
            )


def _scored(asked: AskedProbe) -> tuple[bool | None, SubjectCause | None]:
    """True if the answer is the right one; or why it cannot be told."""
    if asked.unanswered is not None:
        return None, asked.unanswered
    try:
        return meaning(asked.answer) is meaning(asked.expected), None
    except Unparsable:
        return None, "subject_unusable"


def _subjects(names: Sequence[str], models: Models) -> dict[str, Oracle]:
    known = models.subjects
    told = ", ".join(known) or "none"
    if not names and len(known) != 1:
        raise CannotRun(f"--model is needed; the subjects configured are: {told}")
    for name in names:
        if name not in known:
            raise CannotRun(
                f"--model {name}: no subject has this name, so it has no endpoint to ask (subjects.{name}); "
                f"configured are: {told}"
            )
    return {name: known[name] for name in names or known}


def _limited(statements: list[Statement], limit: int | None, seed: int) -> list[Statement]:
    """At most `limit` statements of each domain and distribution, drawn by the seed, in their order."""
    if limit is None:
        return statements
    places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, statement in enumerate(statements):
        places[statement.domain, statement.distribution].append(place)
    drawn = [
        place
        for key, found in places.items()
        for place in generator(str(seed), "/".join(key)).sample(found, min(limit, len(found)))
    ]
    return [statements[place] for place in sorted(drawn)]
