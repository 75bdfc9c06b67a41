"""What a build came to: statements and separation of each rule, and what the models cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from pydantic import JsonValue

from checkers.longtail.corpus import DISTRIBUTIONS
from lab.link.statements import RuleStatements
from schemas import Usage


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """The figures of a build, for people and for programs."""

    rules: tuple[RuleStatements, ...]
    costs: Mapping[str, Usage]
    """By the role of the model; what earlier runs of the same folder cost is included."""
    failures: Mapping[str, int]
    """Questions without a usable answer, by cause."""

    @property
    def mean_delta(self) -> float | None:
        """Over the rules that have one."""
        known = [one.delta for one in self.rules if one.delta is not None]
        return fmean(known) if known else None

    def summary(self) -> dict[str, JsonValue]:
        """For programs."""
        return {
            "rules": [
                {
                    "rule": one.rule,
                    **{distribution: one.count(distribution) for distribution in DISTRIBUTIONS},
                    "wrong": _wrong(one),
                    "in_both": one.in_both,
                    "delta": one.delta,
                }
                for one in self.rules
            ],
            "mean_delta": self.mean_delta,
            "costs": {role: usage.model_dump(exclude={"cached", "seconds"}) for role, usage in self.costs.items()},
            "failures": dict(self.failures),
        }

    def lines(self) -> list[str]:
        """A table for a person."""
        width = max(len("all rules"), *(len(one.rule) for one in self.rules))
        lines = [f"{'rule':<{width}}    head   tail  wrong   delta"]
        for one in self.rules:
            head, tail = (one.count(distribution) for distribution in DISTRIBUTIONS)
            lines.append(f"{one.rule:<{width}}  {head:6} {tail:6} {_wrong(one):6} {_shown(one.delta)}")
        head, tail = (sum(one.count(distribution) for one in self.rules) for distribution in DISTRIBUTIONS)
        wrong = sum(map(_wrong, self.rules))
        lines.append(f"{'all rules':<{width}}  {head:6} {tail:6} {wrong:6} {_shown(self.mean_delta)}")
        lines.append("")
        for role, usage in self.costs.items():
            asked = f"{usage.calls:,} calls, " if usage.calls else ""
            answered = f" and {usage.completion_tokens:,} written" if usage.completion_tokens else ""
            cost = f", cost {usage.cost:.2f}" if usage.cost else ""
            lines.append(f"{role}: {asked}{usage.prompt_tokens:,} tokens read{answered}{cost}")
        lines += [f"{count} questions without a usable answer: {cause}" for cause, count in self.failures.items()]
        return lines


def _wrong(rule: RuleStatements) -> int:
    return sum(rule.count(distribution, correct=False) for distribution in DISTRIBUTIONS)


def _shown(delta: float | None) -> str:
    return f"{delta:7.2f}" if delta is not None else "      -"
