"""From rules by complete beams to the statements of a corpus, and what separates head from tail (LINK, 2.2, 3.2)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, variance
from typing import Any

from assay.cli.common import progress
from assay.config import Configuration
from assay.kept_answers import KeptAnswers
from checkers.longtail.corpus import DISTRIBUTIONS, STATEMENTS, Distribution, Statement, write_corpus
from lab.link.models import Scorers, SearchModels
from lab.link.rules import Rule, filled, variables
from lab.link.search import START, Beam, Searched, ranked, search
from lab.report import Report, listing, table_of
from schemas import Usage

WRONG_SHARE = 0.16  # share of statements that are wrong on purpose, as in the paper's corpus

_TRIED = 4  # beams with a wrong value that are looked at for each statement that is wanted of them


@dataclass(frozen=True, slots=True)
class RuleStatements:
    """The statements of a rule."""

    rule: str
    """Its name."""
    statements: tuple[Statement, ...]
    in_both: int
    """Statements that the search for the head and that for the tail both ended with; they are left out."""
    searched: Searched

    delta: float | None = None
    """Mean log-likelihood of the head less that of the tail by the measurer, in nats a token; None if there is none, or
    one of them is empty. Above 0.3 the two are well apart."""
    interval: tuple[float, float] | None = None
    """Of delta, 95%; None if it is not known, or a side has a single statement."""

    @property
    def missing(self) -> str | None:
        """What the rule lacks for statements of both head and tail; None if nothing."""
        if min(map(self.count, DISTRIBUTIONS)):
            return None
        for one in self.searched.variables:
            what = f"{one.named} named, {one.of_type} of the type"
            if not one.of_type:
                return f"{one.variable}: {what} (best {_figure(one.best_type)}, needed {one.needed_type:.2f})"
            if not one.true:
                needed = f"best {_figure(one.best_fact)}, needed {_figure(one.needed_fact)}"
                return f"{one.variable}: {what}, 0 true ({needed})"
        same = sum(beam in self.searched.beams["tail"] for beam in self.searched.beams["head"])
        return f"head and tail are the same {same} beams: more values are needed"

    def count(self, distribution: Distribution | None = None, *, correct: bool = True) -> int:
        """The number of statements of this kind."""
        return sum(distribution in (None, one.distribution) and one.correct == correct for one in self.statements)

    def row(self) -> dict[str, Any]:
        """The figures of the rule, as a row of a table."""
        row: dict[str, Any] = {"rule": self.rule, **{side: self.count(side) for side in DISTRIBUTIONS}}
        row |= {"wrong": self.count(correct=False), "in_both": self.in_both, "delta": self.delta}
        return row | dict(zip(("low", "high"), self.interval or (None, None), strict=True))


def report(rules: Sequence[RuleStatements], costs: Mapping[str, Usage], failures: Mapping[str, int]) -> Report:
    """The figures of a build: tables of rules and of variables, the mean delta with its 95% interval, and costs.

    `costs` are by the role of the model, those of earlier runs of the same folder included; `failures` are the
    questions without a usable answer, by cause.
    """
    deltas = [one.delta for one in rules if one.delta is not None]
    spreads = [one.interval[1] - one.interval[0] for one in rules if one.interval is not None]
    mean, reach = fmean(deltas) if deltas else None, math.hypot(*spreads) / 2 / max(len(spreads), 1)
    rows = [one.row() for one in rules]
    of_variables = [asdict(each) for one in rules for each in one.searched.variables]
    figures = {
        "mean_delta": mean,
        "mean_interval": [mean - reach, mean + reach] if mean is not None and len(spreads) == len(deltas) else None,
        "costs": {role: usage.model_dump(exclude={"cached", "seconds"}) for role, usage in costs.items()},
        "failures": dict(failures),
    }
    lacking = [f"{one.rule} lacks head or tail: {one.missing}" for one in rules if one.missing]
    lines = [*table_of(rows), "", *table_of(of_variables), "", *lacking, *listing(figures)]
    return Report({"rules": rows, "variables": of_variables} | figures, lines)


def _figure(known: float | None) -> str:
    return "unknown" if known is None else f"{known:.2f}"


async def build(
    configured: Configuration, rules: Sequence[Rule], folder: Path, scorers: Scorers, *, values: int, beams: int
) -> tuple[Report, str]:
    """Make the statements of each rule, in order, and write them into the folder; what it holds is not asked again.

    `values` are asked for at once, `beams` are kept. With the figures it tells what the rules lack if there is no
    statement at all.
    """
    steps = sum(len(rule.searched) for rule in rules)
    with closing(KeptAnswers(folder / "answers.sqlite")) as kept, progress(steps) as shown:
        async with aclosing(SearchModels(configured, scorers, kept, shown)) as models:
            found = [await statements_of(rule, await search(rule, models, values, beams), models) for rule in rules]
            figures = report(found, models.costs, models.failures)
    statements = [statement for one in found for statement in one.statements]
    if not statements:
        return figures, "; ".join(f"{one.rule}: {one.missing}" for one in found)
    write_corpus(folder / STATEMENTS, statements)
    return figures, ""


async def statements_of(rule: Rule, searched: Searched, models: SearchModels) -> RuleStatements:
    """The statements of the beams, head first, each kind followed by those that are wrong on purpose.

    A value of an intermediate variable is not told, so that several beams may say the same; they make one statement.
    """
    right = {side: _distinct(rule, some, side, correct=True) for side, some in searched.beams.items()}
    wrong = {side: _distinct(rule, some, side, correct=False) for side, some in searched.wrong.items()}
    shared = right["head"].keys() & right["tail"].keys()
    known = right["head"].keys() | right["tail"].keys()
    candidates = [one for some in (*right.values(), *wrong.values()) for one in some.values()]
    likelihoods = await models.log_likelihoods([_spoken(one) for one in candidates])
    statements: list[Statement] = []
    for side in DISTRIBUTIONS:
        some = [one for said, one in right[side].items() if said not in shared]
        doubtful = [one for said, one in wrong[side].items() if said not in known]
        wanted = round(len(some) * WRONG_SHARE / (1 - WRONG_SHARE))
        order = ranked([(likelihoods[_spoken(one)], one) for one in doubtful], side)
        chosen = await _wrong(order[: _TRIED * wanted], wanted, models)
        known |= {(one.premise, one.conclusion) for one in chosen}
        statements += [*some, *chosen]
    scored = (one.model_copy(update={"log_likelihood": round(likelihoods[_spoken(one)], 6)}) for one in statements)
    correct = [one for one in statements if one.correct]
    measured = await models.log_likelihoods([_spoken(one) for one in correct], by="measurer")
    told = RuleStatements(rule.name, tuple(scored), len(shared), searched)
    if not measured or not min(map(told.count, DISTRIBUTIONS)):
        return told
    head, tail = ([measured[_spoken(one)] for one in correct if one.distribution == side] for side in DISTRIBUTIONS)
    delta = fmean(head) - fmean(tail)
    if min(len(head), len(tail)) < 2:
        return replace(told, delta=delta)
    reach = 1.96 * math.sqrt(variance(head) / len(head) + variance(tail) / len(tail))
    return replace(told, delta=delta, interval=(delta - reach, delta + reach))


def premise_of(rule: Rule, values: Mapping[str, str]) -> str:
    """The premise's predicates that hold the subject, joined by "and": the others are knowledge that is to be had."""
    about = [one for one in rule.premise if rule.generic in variables(one)]
    return filled(" and ".join(about), values)


def _spoken(statement: Statement) -> str:
    """The statement as two sentences: what is scored."""
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in (statement.premise, statement.conclusion))


def _distinct(
    rule: Rule, beams: Iterable[Beam], distribution: Distribution, *, correct: bool
) -> dict[tuple[str, str], Statement]:
    found: dict[tuple[str, str], Statement] = {}
    for beam in beams:
        said = premise_of(rule, beam), filled(rule.conclusion, beam)
        if said not in found:
            found[said] = Statement(
                rule=str(rule),
                domain=rule.domain,
                distribution=distribution,
                premise=said[0],
                conclusion=said[1],
                negation=filled(rule.negation, beam),
                question=filled(rule.question, beam),
                answer=rule.answer,
                correct=correct,
            )
    return found


async def _wrong(statements: Sequence[Statement], wanted: int, models: SearchModels) -> list[Statement]:
    """Take as many as are wanted of those that the critic finds wrong as a whole.

    A chain that is broken proves nothing: the conclusion may be reached by another one.
    """
    told = await models.probabilities([f"If {one.premise}, then {one.conclusion}." for one in statements])
    return [one for one, p in zip(statements, told, strict=True) if p is not None and p <= 1 - START][:wanted]
