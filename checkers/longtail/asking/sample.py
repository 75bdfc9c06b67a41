"""The order in which subjects are asked about statements: the same in every process."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from checkers.draws import generator, uniform
from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement
from checkers.longtail.templates import TEMPLATES, ProbeTemplate

_Sides: TypeAlias = Mapping[Distribution, Sequence[Statement]]

_SEED = "probes"


class OneSided(ValueError):
    """No rule of the corpus has statements of both the head and the tail."""


class Sample:
    """Statements and templates by number, head and tail in pairs.

    Numbers 2k and 2k + 1 are a pair: the head and the tail of one rule, asked with one template. What makes a rule or a
    template hard is then on both sides of the gap. The side that comes first is drawn, so that neither is asked about
    more where numbers are left out. Rules come equally often, and so do templates: each is drawn again only when all
    have been. Only correct statements are asked, for all templates apply to them.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        """Leave out statements of rules that lack either side.

        Raises:
            OneSided: nothing is left.
        """
        rules: dict[str, dict[Distribution, list[Statement]]] = defaultdict(lambda: {one: [] for one in DISTRIBUTIONS})
        count = 0
        for statement in statements:
            if statement.correct:
                count += 1
                rules[statement.rule][statement.distribution].append(statement)
        self._rules: list[_Sides] = [rules[name] for name in sorted(rules) if all(rules[name].values())]
        self.left_out = count - sum(len(side) for rule in self._rules for side in rule.values())
        """Correct statements whose rule has none of the other side."""
        if not self._rules:
            raise OneSided(
                f"none of its {len(rules)} rules has correct statements of both head and tail: nothing to compare"
            )
        self._numbers = list(TEMPLATES)
        self._order = lru_cache(maxsize=64)(self._drawn)

    def at(self, number: int) -> tuple[Statement, ProbeTemplate]:
        """The statement and the template with a number, from 0."""
        pair, side = divmod(number, len(DISTRIBUTIONS))
        side ^= uniform(_SEED, f"sides/{pair}") < 0.5
        turn, place = divmod(pair, len(self._rules))
        rule = self._order("rules", turn, len(self._rules))[place]
        block, place = divmod(pair, len(self._numbers))
        template = TEMPLATES[self._numbers[self._order("templates", block, len(self._numbers))[place]]]
        distribution = DISTRIBUTIONS[side]
        statements = self._rules[rule][distribution]
        round_, place = divmod(turn, len(statements))
        return statements[self._order(f"{distribution}/{rule}", round_, len(statements))[place]], template

    def _drawn(self, purpose: str, round_: int, count: int) -> list[int]:
        return generator(_SEED, f"{purpose}/{round_}").sample(range(count), count)
