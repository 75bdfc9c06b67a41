"""Asking subjects about a whole corpus: every statement in every form, many at once, results in order."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cli.common import CannotRun, models_of, progress
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import generator
from checkers.longtail.corpus import DISTRIBUTIONS, Statement, read_corpus
from checkers.longtail.questions import Asker, Way
from checkers.longtail.templates import PAIR, TEMPLATES, ProbeTemplate, polarity, templates_of
from checkers.longtail.yes_or_no import Unparsable, claims_no_answer, is_right
from checkers.model_patience import ModelPatience
from lab.kept_answers import kept_run
from lab.probes.results import ProbeResult, ProbeTable, Run, needed, points
from models.billing import billed
from models.concurrent import in_order
from models.protocol import Model, ModelFailed

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


_Probe = tuple[int, Run, Statement, ProbeTemplate]
"""The place in the run, and what is asked, and of which subject."""


class ProbeRun:
    """All probes of a corpus for each subject and way, one after the other, many at once."""

    def __init__(self, options: ProbeOptions, corpus: Path, configured: Configuration, models: Models) -> None:
        """Read the corpus."""
        self._subjects = _subjects(options.models, models)
        self.runs = [Run(model=name, way=way) for name in self._subjects for way in dict.fromkeys(options.ways)]
        try:
            self._statements = _limited(list(read_corpus(corpus)), options.limit, options.seed)
        except ValueError as error:
            raise CannotRun(str(error)) from error
        self._askers = {way: Asker(way, seed=options.seed) for way in options.ways}
        self.count = len(self.runs) * sum(1 for one in self._statements for _ in templates_of(one))
        self._window = max(_WINDOW, *(3 * configured.subjects[name].concurrency // 2 for name in self._subjects))

    @property
    def size(self) -> str:
        """What so many statements can show, and how many an interval of ±10 points needs."""
        head, tail = (sum(one.distribution == side for one in self._statements) for side in DISTRIBUTIONS)
        asked, most = len(TEMPLATES), needed(10)
        least, widest = (points(min(head, tail) * answers) for answers in (asked, 1))
        return (
            f"{head} statements of the head and {tail} of the tail: the gap's interval will be ±{least} to ±{widest} "
            f"points, as a statement's {asked} answers differ or are alike; ±10 needs {-(-most // asked)} to {most} of "
            f"each, and {most} for the paired figure"
        )

    async def over(self, emit: Callable[[ProbeResult], None], patience: ModelPatience) -> None:
        """Give `emit` the result of each probe, in order."""

        async def result(probe: _Probe) -> ProbeResult:
            return await self._result(probe, patience)

        await in_order(self._probes(), result, emit, window=self._window)

    async def _probes(self) -> AsyncIterator[_Probe]:
        number = 0
        for run in self.runs:
            for statement in self._statements:
                for template in templates_of(statement):
                    number += 1
                    yield number, run, statement, template

    async def _result(self, probe: _Probe, patience: ModelPatience) -> ProbeResult:
        number, run, statement, template = probe
        question, expected = self._askers[run.way].question(statement, template), template.answer(statement)
        found: dict[str, Any] = {"answer": ""}
        with billed() as bill:
            try:
                reply = (await patience.until_answered(lambda: self._subjects[run.model].ask(question))).reply
                found = {"answer": reply.answer, "reasoning": getattr(reply, "reasoning", None)}
                found["right"] = is_right(reply.answer, expected)
                found["no_answer"] = not found["right"] and claims_no_answer(reply.answer)
            except ModelFailed as error:
                found["cause"] = error.cause_of_subject
            except Unparsable:
                found["cause"] = "subject_unusable"
            if template.number in PAIR:
                with suppress(ModelFailed):
                    word = self._askers[run.way].word(statement, template)
                    told = await patience.until_answered(lambda: self._subjects[run.model].ask(word))
                    found["yes"] = told.probabilities[0] if told.probabilities else float(told.reply.yes)
            return ProbeResult(
                number=number,
                model=run.model,
                way=run.way,
                statement=statement.id,
                domain=statement.domain,
                distribution=statement.distribution,
                template=template.number,
                polarity=polarity(template.number, expected),
                question=template.question(statement),
                expected=expected,
                usage=bill.usage,
                **found,
            )


async def probed(configured: Configuration, options: ProbeOptions, data: Path, out: Path | None) -> ProbeTable:
    """The figures over a corpus; with `out` a line a probe goes there, and the run is resumable."""
    async with models_of(configured) as models:
        with kept_run(out, models) as (kept, results):
            probing = ProbeRun(options, data, configured, kept)
            with progress(probing.count) as shown:
                shown.say(probing.size)

                def emit(result: ProbeResult) -> None:
                    results.append(result)
                    shown.at(len(results), f"{len(results)} probes")

                await probing.over(emit, ModelPatience(shown.say))
    return ProbeTable(probing.runs, results)


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
