"""Asking subjects about a whole corpus (LINT): every statement in every form, many at once, results in order."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay.cli.common import CannotRun
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import generator
from checkers.longtail import PLUGIN
from checkers.longtail.corpus import DISTRIBUTIONS, Statement, read_corpus
from checkers.longtail.questions import Asker, Way
from checkers.longtail.templates import PAIR, TEMPLATES, ProbeTemplate, polarity, templates_of
from checkers.longtail.yes_or_no import Unparsable, claims_no_answer, is_right
from checkers.model_patience import ModelPatience
from lab.probe_table import Asked, ProbeResult, ProbeTable, needed, points
from lab.runs import Run, subject_name
from models.protocol import ModelFailed
from models.work import Work

_Probe = tuple[int, Asked, Statement, ProbeTemplate]
"""The place in the run, and what is asked, and of which subject."""


class ProbeRun(Run[_Probe, ProbeResult]):
    """All probes of a corpus for each subject and way, one after the other."""

    things, plugin = "probes", PLUGIN

    def __init__(
        self,
        corpus: Path,
        configured: Configuration,
        models: Models,
        *,
        names: Sequence[str],
        ways: Sequence[Way],
        limit: int | None,
        seed: int,
    ) -> None:
        """Read the corpus, at most `limit` statements of each domain and distribution. `names` are those of subjects.

        Raises CannotRun if it is none, or as `subject_name`.
        """
        subjects = [subject_name(configured, name, "--model") for name in dict.fromkeys(names) or [""]]
        self._subjects, self.asked = models.subjects, [models.subjects[name] for name in subjects]
        self._ways = [Asked(model=name, way=way) for name in subjects for way in dict.fromkeys(ways)]
        try:
            statements = _limited(list(read_corpus(corpus)), limit, seed)
        except ValueError as error:
            raise CannotRun(str(error)) from error
        self._askers = {way: Asker(way, seed=seed) for way in ways}
        probes = (
            (asked, statement, template)
            for asked in self._ways
            for statement in statements
            for template in templates_of(statement)
        )
        self.items = [(number, *probe) for number, probe in enumerate(probes, start=1)]
        self.note = _size(statements)

    async def result(self, item: _Probe, patience: ModelPatience) -> ProbeResult:
        number, asked, statement, template = item
        asker, subject = self._askers[asked.way], self._subjects[asked.model]
        question, expected = asker.question(statement, template), template.answer(statement)
        found: dict[str, Any] = {"answer": ""}
        with Work() as bill:
            try:
                reply = (await patience.until_answered(lambda: subject.ask(question))).reply
                found = {"answer": reply.answer, "reasoning": getattr(reply, "reasoning", None)}
                found["right"] = is_right(reply.answer, expected)
                found["no_answer"] = not found["right"] and claims_no_answer(reply.answer)
            except ModelFailed as error:
                found["cause"] = error.cause_of_subject
            except Unparsable:
                found["cause"] = "subject_unusable"
            if template.number in PAIR:
                with suppress(ModelFailed):
                    word = asker.word(statement, template)
                    told = await patience.until_answered(lambda: subject.ask(word))
                    found["yes"] = told.probabilities[0] if told.probabilities else float(told.reply.yes)
            return ProbeResult(
                number=number,
                model=asked.model,
                way=asked.way,
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

    def figures(self, results: Sequence[ProbeResult]) -> ProbeTable:
        return ProbeTable(self._ways, results)


def _size(statements: Sequence[Statement]) -> str:
    """What so many statements can show, and how many an interval of ±10 points needs."""
    head, tail = (sum(one.distribution == side for one in statements) for side in DISTRIBUTIONS)
    forms, most = len(TEMPLATES), needed(10)
    least, widest = (points(min(head, tail) * answers) for answers in (forms, 1))
    return (
        f"{head} statements of the head and {tail} of the tail: the gap's interval will be ±{least} to ±{widest} "
        f"points, as a statement's {forms} answers differ or are alike; ±10 needs {-(-most // forms)} to {most} of "
        f"each, and {most} for the paired figure"
    )


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
