"""A rule that can be searched: typed variables, premise predicates that chain them, one conclusion (LINK, 2.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Order = Literal["forward", "backward"]
"""From the subject along the chain, or from the conclusion's other variable back, as suits numeric facts."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file of rules, from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb phrase between two variables."""

    verb: str
    """As in the file: `is_an_ingredient_in`."""
    variables: tuple[str, str]
    place: Place = field(compare=False)
    sentence: str | None = None
    """What it stands for, with variables in braces; None if the verb's words say it: `{Z} is an ingredient in {B}`."""

    def other(self, variable: str) -> str:
        """The variable beside this one."""
        first, second = self.variables
        return second if variable == first else first


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that was found right; `read_rules` makes them."""

    name: str
    domain: str
    types: Mapping[str, str]
    """The data type of each variable, in the order of the text."""
    premise: tuple[Predicate, ...]
    conclusion: Predicate
    chain: tuple[str, ...]
    """Every variable once, from the subject to the conclusion's other one, each linked to the next by a predicate."""
    order: Order
    negation: str | None = None
    """The opposite of the conclusion; None if English grammar says it."""
    question: str | None = None
    """Asks for what the conclusion says or denies; None as before."""
    expand: str | None = None
    """The variable whose type is to be replaced by narrower ones: such a rule is a meta-rule."""
    vetted: bool = False
    """True if a person has found that it is no paraphrase and asks for nothing that a model cannot know."""

    @property
    def subject(self) -> str:
        """The variable that premise and conclusion are about, which keeps a general value."""
        return self.chain[0]

    @property
    def general_value(self) -> str:
        """The value of the subject: `Person X`."""
        return f"{self.types[self.subject]} X"

    @property
    def searched(self) -> tuple[str, ...]:
        """The other variables in the order in which values are searched for."""
        others = self.chain[1:]
        return others if self.order == "forward" else others[::-1]

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """Those of the premise, then the conclusion."""
        return (*self.premise, self.conclusion)

    @property
    def text(self) -> str:
        """On one line, as it is written in a file."""
        premise = " & ".join(self._shown(predicate) for predicate in self.premise)
        return f"{premise} -> {self._shown(self.conclusion)}"

    def _shown(self, predicate: Predicate) -> str:
        arguments = ", ".join(f"{self.types[variable]} {variable}" for variable in predicate.variables)
        return f"{predicate.verb}({arguments})"
