"""From complete beams to the statements of a corpus, and what separates head from tail (LINK, 2.2 and 3.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pydantic import JsonValue

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement
from lab.link.models import SearchModels
from lab.link.rules import Rule, filled
from lab.link.search import START, Beam, Beams, ranked
from lab.report import table, usage_lines
from schemas import Usage

WRONG_SHARE = 0.16
"""Share of statements that are wrong on purpose, as in the paper's corpus."""

_TRIED = 4
"""Beams with a wrong value that are looked at for each statement that is wanted of them."""
_DIGITS = 6

_Said = tuple[str, str]
"""Premise and conclusion."""


@dataclass(frozen=True, slots=True)
class RuleStatements:
    """The statements of a rule."""

    rule: str
    """Its name."""
    statements: tuple[Statement, ...]
    in_both: int
    """Statements that the search for the head and that for the tail both ended with; they are left out."""

    delta: float | None = None
    """Mean log-likelihood of the head less that of the tail by the measurer, in nats a token; None if there is none, or
    one of them is empty. Above 0.3 the two are well apart."""

    def count(self, distribution: Distribution | None = None, *, correct: bool = True) -> int:
        """The number of statements of this kind."""
        return sum(distribution in (None, one.distribution) and one.correct == correct for one in self.statements)


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """The figures of a build, for people and for programs."""

    rules: Sequence[RuleStatements]
    costs: Mapping[str, Usage]
    """By the role of the model; earlier runs of the same folder are included."""
    failures: Mapping[str, int]
    """Questions without a usable answer, by cause."""

    @property
    def mean_delta(self) -> float | None:
        """Over the rules that have one."""
        known = [one.delta for one in self.rules if one.delta is not None]
        return fmean(known) if known else None

    def summary(self) -> dict[str, JsonValue]:
        """All figures."""
        return {
            "rules": [
                {
                    "rule": one.rule,
                    **{side: one.count(side) for side in DISTRIBUTIONS},
                    "wrong": one.count(correct=False),
                    "in_both": one.in_both,
                    "delta": one.delta,
                }
                for one in self.rules
            ],
            "mean_delta": self.mean_delta,
            "costs": {role: usage.model_dump(exclude={"cached", "seconds"}) for role, usage in self.costs.items()},
            "failures": dict(self.failures),
        }

    def lines(self) -> Iterator[str]:
        """A table for a person."""
        rows: list[list[object]] = [_row(one.rule, [one], one.delta) for one in self.rules]
        yield from table(["rule", *DISTRIBUTIONS, "wrong", "delta"], [*rows, _row("all", self.rules, self.mean_delta)])
        if self.mean_delta is None:
            yield "no delta: no other model than the one that ranked was asked (--measurer)"
        for role, usage in self.costs.items():
            yield from usage_lines(role, usage)
        for cause, count in self.failures.items():
            yield f"{count} questions without a usable answer: {cause}"


def _row(name: str, rules: Sequence[RuleStatements], delta: float | None) -> list[object]:
    sides = (sum(one.count(side) for one in rules) for side in DISTRIBUTIONS)
    return [name, *sides, sum(one.count(correct=False) for one in rules), delta]


async def statements_of(rule: Rule, searched: tuple[Beams, Beams], models: SearchModels) -> RuleStatements:
    """The statements of the beams, head first, each kind followed by those that are wrong on purpose.

    A value of an intermediate variable is not told, so that several beams may say the same; they make one statement.
    """
    right = {side: _distinct(rule, some, side, correct=True) for side, some in searched[0].items()}
    wrong = {side: _distinct(rule, some, side, correct=False) for side, some in searched[1].items()}
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
    scored = (
        one.model_copy(update={"log_likelihood": round(likelihoods[_spoken(one)], _DIGITS)}) for one in statements
    )
    correct = [one for one in statements if one.correct]
    measured = await models.log_likelihoods([_spoken(one) for one in correct], by="measurer")
    found = {one.distribution for one in correct if measured}
    means = {side: fmean(measured[_spoken(one)] for one in correct if one.distribution == side) for side in found}
    delta = means["head"] - means["tail"] if len(means) == 2 else None
    return RuleStatements(rule.name, tuple(scored), len(shared), delta)


def premise_of(rule: Rule, values: Mapping[str, str]) -> str:
    """The premise's predicates that hold the subject, joined by "and": the others are knowledge that is to be had."""
    about = [one.sentence for one in rule.predicates[:-1] if rule.generic in one.variables]
    return filled(" and ".join(about), values)


def _spoken(statement: Statement) -> str:
    """The statement as two sentences: what is scored."""
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in (statement.premise, statement.conclusion))


def _distinct(
    rule: Rule, beams: Iterable[Beam], distribution: Distribution, *, correct: bool
) -> dict[_Said, Statement]:
    found: dict[_Said, Statement] = {}
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
