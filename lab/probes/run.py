"""Asking subjects about a whole corpus: every statement in every form, many at once, results in order."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.front_door import CannotRun
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import generator
from checkers.longtail.asking.asker import Asker
from checkers.longtail.corpus import Statement, read_corpus
from checkers.longtail.settings import Way
from checkers.longtail.templates import ProbeTemplate, polarity, templates_of
from checkers.longtail.yes_or_no import Unparsable, is_right
from checkers.model_patience import ModelPatience
from lab.approval import Planned
from lab.probes.results import ProbeResult, Run
from models.billing import billed
from models.concurrent import in_order
from models.protocol import Model, ModelFailed
from schemas.evidence import SubjectCause

_WINDOW = 64
_CHARACTERS_A_TOKEN = 4
_WRITTEN: Mapping[Way, int] = {"zero-shot": 10, "chain-of-thought": 120}
"""About the tokens of an answer."""


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
        """Read the corpus.

        Raises:
            CannotRun: a subject is not configured, or (as BadCorpus) the file cannot be used.
        """
        self._subjects = _subjects(options.models, models)
        self._configured = configured
        self.runs = [Run(model=name, way=way) for name in self._subjects for way in dict.fromkeys(options.ways)]
        try:
            self._statements = _limited(list(read_corpus(corpus)), options.limit, options.seed)
        except ValueError as error:
            raise CannotRun(str(error)) from error
        self._askers = {way: Asker(way, seed=options.seed) for way in options.ways}
        self.count = len(self.runs) * sum(1 for one in self._statements for _ in templates_of(one))
        self._window = max(_WINDOW, *(3 * configured.subjects[name].concurrency // 2 for name in self._subjects))

    def planned(self) -> list[Planned]:
        """The calls to each subject."""
        templates = [(one, template) for one in self._statements for template in templates_of(one)]
        found = []
        for run in self.runs:
            questions = (self._askers[run.way].question(*one) for one in templates)
            read = sum(len(message.content) for one in questions for message in one.messages) / _CHARACTERS_A_TOKEN
            settings = self._configured.subjects[run.model]
            found.append(Planned(str(run), len(templates), read / max(1, len(templates)), _WRITTEN[run.way], settings))
        return found

    async def over(self, emit: Callable[[ProbeResult], None], patience: ModelPatience) -> None:
        """Give `emit` the result of each probe, in order.

        Raises:
            ModelLost: a subject was away for longer than the patience.
        """

        async def result(probe: _Probe) -> ProbeResult:
            return await self._result(probe, patience)

        await in_order(self._probes(), result, emit, window=self._window)

    async def _probes(self) -> AsyncIterator[_Probe]:
        number = 0
        for run in self.runs:
            for statement in self._statements:
                for template in templates_of(statement):
                    number += 1
                    yield _Probe(number, run, statement, template)

    async def _result(self, probe: _Probe, patience: ModelPatience) -> ProbeResult:
        statement, template = probe.statement, probe.template
        question = self._askers[probe.run.way].question(statement, template)
        right: bool | None = None
        cause: SubjectCause | None = None
        answer, reasoning, expected = "", None, template.answer(statement)
        with billed() as bill:
            try:
                subject = self._subjects[probe.run.model]
                reply = (await patience.until_answered(lambda: subject.ask(question))).reply
                answer, reasoning = reply.answer, getattr(reply, "reasoning", None)
                right = is_right(answer, expected)
            except ModelFailed as error:
                cause = error.cause_of_subject
            except Unparsable:
                cause = "subject_unusable"
            return ProbeResult(
                number=probe.number,
                model=probe.run.model,
                way=probe.run.way,
                statement=statement.id,
                domain=statement.domain,
                distribution=statement.distribution,
                template=template.number,
                polarity=polarity(template.number, expected),
                question=template.question(statement),
                expected=expected,
                answer=answer,
                reasoning=reasoning,
                right=right,
                cause=cause,
                usage=bill.usage,
            )


def _subjects(names: Sequence[str], models: Models) -> dict[str, Model]:
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
