"""Asking subjects about a whole corpus (LINT): every statement in every form, and table 3 of the paper over all."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count, product
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from assay.cli.common import CannotRun
from assay.config import Configuration
from checkers.checker import Models
from checkers.draws import generator
from checkers.intervals import difference, wilson
from checkers.longtail import PLUGIN
from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement, read_corpus
from checkers.longtail.questions import Asker, Way
from checkers.longtail.templates import PAIR, POLARITIES, TEMPLATES, Polarity, ProbeTemplate, polarity, templates_of
from checkers.longtail.yes_or_no import claims_no_answer, is_right
from checkers.model_patience import ModelPatience
from lab.report import Report, listing, table, table_of
from lab.runs import Run, subject_name
from models.protocol import ModelFailed
from models.work import Work
from schemas import Usage
from schemas.evidence import SubjectCause

ALL: Final = "all"

Sign: TypeAlias = Polarity | Literal["all", "paired"]

# The statements whose conclusion is affirmed with a higher probability than its negation, whatever is said oftener.
PAIRED: Final = "paired"
_SHOWN = re.compile(r"\{(?:Premise|About)\}\. ")  # what is left of a template behind it tells what it asks
_SIGNS: tuple[Sign, ...] = (*POLARITIES, ALL, PAIRED)


class ProbeResult(BaseModel):
    """The result of one probe: a line of the output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    """Its place in the run, from 1."""
    model: str
    way: Way
    statement: str
    domain: str
    distribution: Distribution
    template: int
    polarity: Polarity
    question: str
    expected: str
    answer: str
    """Empty if there is none."""
    reasoning: str | None = None
    right: bool | None = None
    """Null if the subject gave no answer that can be read; “I don't know” is not right."""
    no_answer: bool = False
    """True for “I don't know” and the like."""
    yes: float | None = None
    """The probability of a yes, asked for as a word alone; of templates 1 and 8. Else 1 or 0 by the word."""
    cause: SubjectCause | None = None
    usage: Usage = Usage()


class AskedQuestion(NamedTuple):
    """A subject, asked in one way."""

    model: str
    way: Way


_Probe = tuple[int, AskedQuestion, Statement, ProbeTemplate]
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
        """Read the corpus, at most `limit` statements of each domain and distribution; `names` are of subjects."""
        subjects = [subject_name(configured, name, "--model") for name in dict.fromkeys(names) or [""]]
        self._subjects, self.asked = models.subjects, [models.subjects[name] for name in subjects]
        self._ways = [AskedQuestion(model=name, way=way) for name in subjects for way in dict.fromkeys(ways)]
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
                if (right := is_right(reply.answer, expected)) is None:
                    found["cause"] = "subject_unusable"
                else:
                    found |= {"right": right, "no_answer": not right and claims_no_answer(reply.answer)}
            except ModelFailed as error:
                found["cause"] = error.cause_of_subject
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

    def figures(self, results: Sequence[ProbeResult]) -> Report:
        return report(self._ways, results)


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
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in statements:
        groups[one.domain, one.distribution].append(one.id)
    drawn: set[str] = set()
    for key, found in groups.items():
        drawn.update(generator(str(seed), "/".join(key)).sample(found, min(limit or len(found), len(found))))
    return [one for one in statements if one.id in drawn]


def report(asked: Sequence[AskedQuestion], results: Sequence[ProbeResult]) -> Report:
    """All figures for each subject and way, and table 3 for a person; shares are 0 to 1, null without an answer."""
    domains = [*dict.fromkeys(one.domain for one in results), ALL]
    abstained = dict(sorted(Counter(one.cause for one in results if one.cause is not None).items()))
    usage = sum((one.usage for one in results), Usage()).model_dump()
    runs: list[dict[str, Any]] = []
    text = [f"{len(results)} probes"]
    text += [f"  without an answer {number:>8}   {cause}" for cause, number in abstained.items()]
    for each in asked:
        own = [one for one in results if (one.model, one.way) == each]
        groups = {of: _of_cell(own, *of) for of in product(domains, DISTRIBUTIONS, _SIGNS)}
        cells = [
            {"domain": domain, "distribution": side, "polarity": sign} | cell_of(some)
            for (domain, side, sign), some in groups.items()
        ]
        gaps = [
            {"domain": domain, "polarity": sign} | gap_of(*(groups[domain, side, sign] for side in DISTRIBUTIONS))
            for domain, sign in product(domains, _SIGNS)
        ]
        runs.append({**each._asdict(), "cells": cells, "gaps": gaps, "templates": list(_by_template(own))})
        text += _lines(runs[-1])
    figures = {"probes": len(results), "abstained": abstained, "runs": runs, "usage": usage}
    return Report(figures, [*text, *listing({"usage": usage})])


def _of_cell(results: Sequence[ProbeResult], domain: str, side: Distribution, sign: Sign) -> list[ProbeResult]:
    """The answers of one cell; of `paired` one a statement: right if the conclusion is affirmed with more certainty."""
    found = [one for one in results if one.distribution == side and domain in (one.domain, ALL)]
    if sign != PAIRED:
        return [one for one in found if sign in (one.polarity, ALL)]
    first, second = ({one.statement: one for one in found if one.template == number} for number in PAIR)
    pairs = [(first[one], second[one]) for one in first.keys() & second.keys()]
    known = [(one, None if one.yes is None or other.yes is None else one.yes > other.yes) for one, other in pairs]
    return [one.model_copy(update={"right": right}) for one, right in known]


def cell_of(results: Sequence[ProbeResult]) -> dict[str, Any]:
    """The figures of answers of one kind."""
    read = _read(results)
    return {
        "statements": len({statement for statement, _ in read}),
        "answered": len(read),
        "right": sum(right for _, right in read),
        "abstained": len(results) - len(read),
        "unread": share(_unread(results)),
        "accuracy": share(read),
        "interval": list(wilson(*effective(read))) if read else None,
    }


def gap_of(head: Sequence[ProbeResult], tail: Sequence[ProbeResult]) -> dict[str, Any]:
    """Accuracy on the head less accuracy on the tail, with its 95% interval; None if either is not known.

    `unread_differs` is true if head and tail differ in unread answers beyond chance: the gap is then one of the others
    alone.
    """
    low, high = difference(effective(_unread(head)), effective(_unread(tail)))
    found: dict[str, Any] = {"gap": None, "interval": None, "unread_differs": low > 0 or high < 0}
    known = share(_read(head)), share(_read(tail))
    if known[0] is not None and known[1] is not None:
        interval = difference(effective(_read(head)), effective(_read(tail)))
        found |= {"gap": known[0] - known[1], "interval": interval}
    return found


def _read(results: Sequence[ProbeResult]) -> list[tuple[str, bool]]:
    """The statement of each answer that could be read, and if it was right."""
    return [(one.statement, one.right) for one in results if one.right is not None]


def _unread(results: Sequence[ProbeResult]) -> list[tuple[str, bool]]:
    """The statement of each answer, and if it could not be read."""
    return [(one.statement, one.right is None) for one in results]


def _by_template(results: Sequence[ProbeResult]) -> Iterator[dict[str, Any]]:
    """For each template the answers to it: how many, how many are right, say that they do not know, are unread."""
    for number, template in TEMPLATES.items():
        if some := [one for one in results if one.template == number]:
            yield {
                "template": number,
                "asks": _SHOWN.split(template.text)[-1],
                "about": template.about,
                "probes": len(some),
                "right": sum(one.right is True for one in some),
                "wrong": sum(one.right is False and not one.no_answer for one in some),
                "no_answer": sum(one.no_answer for one in some),
                "unread": sum(one.right is None for one in some),
            }


def _lines(run: dict[str, Any]) -> Iterator[str]:
    """Table 3 for a person, with the gaps."""
    name = f"{run['model']}, {run['way']}"
    cells = {(one["domain"], one["polarity"], one["distribution"]): one for one in run["cells"]}
    rows = []
    for gap in run["gaps"]:
        domain, sign = gap["domain"], gap["polarity"]
        told = ["-", "-"]
        if gap["gap"] is not None:
            low, high = gap["interval"]
            told = [f"{100 * gap['gap']:+.1f}", f"{100 * low:+.1f} to {100 * high:+.1f}"]
        of = [cells[domain, sign, side] for side in DISTRIBUTIONS]
        shares = ([one[key] for one in of] for key in ("accuracy", "unread"))
        right, unread = (["-" if one is None else f"{100 * one:.1f}" for one in both] for both in shares)
        rows.append([domain, sign, *right, *told, *unread, "*" if gap["unread_differs"] else ""])
    yield f"{name}: right answers in percent, and the gap between head and tail in points"
    yield from table(["domain", "", *DISTRIBUTIONS, "gap", "95% interval", "unread: head", "tail", ""], rows)
    if any(row[-1] for row in rows):
        yield "* Head and tail differ in answers that cannot be read: this is no gap in what is known."
    yield "paired: of a statement's conclusion and negation, the former is affirmed with the higher probability"
    yield f"{name}: answers by template"
    yield from table_of(run["templates"])


def share(answers: Sequence[tuple[str, bool]]) -> float | None:
    """The share that is true; None if there are none."""
    return sum(one for _, one in answers) / len(answers) if answers else None


def effective(answers: Sequence[tuple[str, bool]]) -> tuple[float, float]:
    """How many are true, and how many there are: as many as of independent answers would tell as much.

    The probes of one statement are answered alike, so their number overstates what is known (Rao and Scott 1992): it is
    divided by the design effect, by which answers that go together by statement vary more than others. Between the
    number of statements and that of answers; where all answers are equal, the former.
    """
    if not answers:
        return 0.0, 0.0
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for statement, one in answers:
        counts[statement].append(one)
    n, groups, rate = len(answers), len(counts), share(answers) or 0.0
    if groups < 2 or rate in {0.0, 1.0}:
        return rate * groups, float(groups)
    spread = sum((sum(some) - rate * len(some)) ** 2 for some in counts.values())
    effect = groups / (groups - 1) * spread / (n * rate * (1 - rate))
    number = min(float(n), max(float(groups), n / effect if effect else float(n)))
    return rate * number, number


def points(answers: int) -> int:
    """Half the width of the gap's interval, in points, if so many independent answers of each side are half right."""
    low, high = difference((answers / 2, answers), (answers / 2, answers))
    return math.ceil(50 * (high - low))


def needed(reach: int) -> int:
    """Independent answers of each side from which the interval is no wider than so many points to either side."""
    return next(answers for answers in count(1) if points(answers) <= reach)
