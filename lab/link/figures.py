"""The figures of a build: statements and separation of each rule, and the cost of the models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pydantic import JsonValue

from checkers.longtail.corpus import DISTRIBUTIONS
from lab.link.statements import RuleStatements
from schemas import Usage


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
        width = max(len("all rules"), *(len(one.rule) for one in self.rules))
        yield f"{'rule':<{width}}    head   tail  wrong   delta"
        for one in self.rules:
            yield _row(one.rule, width, [one], one.delta)
        yield _row("all rules", width, self.rules, self.mean_delta)
        if self.mean_delta is None:
            yield "no delta: no other model than the one that ranked was asked (--measurer)"
        yield ""
        for role, usage in self.costs.items():
            cost = f", cost {usage.cost:.2f}" if usage.cost else ""
            read, wrote = usage.prompt_tokens, usage.completion_tokens
            yield f"{role}: {usage.calls:,} calls, {read:,} tokens read and {wrote:,} written{cost}"
        for cause, count in self.failures.items():
            yield f"{count} questions without a usable answer: {cause}"


def _row(name: str, width: int, rules: Sequence[RuleStatements], delta: float | None) -> str:
    head, tail = (sum(one.count(side) for one in rules) for side in DISTRIBUTIONS)
    wrong = sum(one.count(correct=False) for one in rules)
    return f"{name:<{width}}  {head:6} {tail:6} {wrong:6} {'      -' if delta is None else f'{delta:7.2f}'}"
