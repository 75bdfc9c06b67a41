"""From complete beams to the statements of a corpus, and what separates head from tail (LINK, 2.2 and 3.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement
from lab.link.models import SearchModels
from lab.link.rules import Rule, filled
from lab.link.search import START, Beam, Beams, ranked
from lab.report import listing, table
from schemas import Usage

WRONG_SHARE = 0.16
"""Share of statements that are wrong on purpose, as in the paper's corpus."""

_TRIED = 4
"""Beams with a wrong value that are looked at for each statement that is wanted of them."""


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

    def summary(self) -> dict[str, Any]:
        """All figures; the mean is over the rules that have a delta, null if none has."""
        deltas = [one.delta for one in self.rules if one.delta is not None]
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
            "mean_delta": fmean(deltas) if deltas else None,
            "costs": {role: usage.model_dump(exclude={"cached", "seconds"}) for role, usage in self.costs.items()},
            "failures": dict(self.failures),
        }

    def lines(self) -> Iterator[str]:
        """A table for a person, and what it took."""
        rules, *others = self.summary().items()
        rows: Any = rules[1]
        yield from table(list(rows[0]), [list(row.values()) for row in rows])
        yield from listing(dict(others))


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
    scored = (one.model_copy(update={"log_likelihood": round(likelihoods[_spoken(one)], 6)}) for one in statements)
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
