"""Rules that can be searched: typed variables, premise sentences that chain them, one conclusion (LINK, 2.2)."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from assay.cli.common import CannotRun
from checkers.longtail.corpus import Sentence
from schemas import explain
from schemas.base import Name

BUNDLED = "bundled"  # names the rules that come with assay

_HOLE = re.compile(r"\{([^{}]*)\}")


class Rule(BaseModel):
    """A rule of a file, which meets the criteria that its form shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    domain: Name
    types: Mapping[Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]?$")], Name] = Field(min_length=3)
    """The data type of each variable, a capital letter; the subject first, unless `subject` names another."""
    premise: tuple[Sentence, ...] = Field(min_length=2)
    """Sentences with two variables each, in braces."""
    conclusion: Sentence
    negation: Sentence
    """The conclusion's opposite."""
    question: Sentence
    """Asks for what the conclusion says or denies, without a negation."""
    answer: Literal["yes", "no"]
    """To the question, if the conclusion is true."""
    subject: str = ""
    """The variable that premise and conclusion are about; by default the first that is also in the conclusion."""
    order: Literal["forward", "backward"] = "forward"
    """From the subject along the chain, or from the conclusion's other variable back, as suits numeric facts."""

    @model_validator(mode="after")
    def _meet_the_criteria(self) -> "Rule":
        for one in (*self.predicates, self.negation, self.question):
            if len(variables(one)) != 2 or not variables(one) <= self.types.keys():
                raise ValueError(f"{one!r} must name two of the variables {', '.join(self.types)} in braces")
        if any(variables(one) != variables(self.conclusion) for one in (self.negation, self.question)):
            raise ValueError("negation and question must name the variables of the conclusion")
        if len(set(self.predicates)) < len(self.predicates):
            raise ValueError("a sentence stands there twice (criterion 3)")
        shared = self._shared
        if not shared:
            raise ValueError("premise and conclusion share no variable, so that they have no one subject (criterion 1)")
        if self.subject and self.subject not in shared:
            told = " and ".join(shared)
            raise ValueError(f"the subject must be in premise and conclusion, as {told} are (criterion 1)")
        if not self.chain:
            raise ValueError(
                f"no single chain of premise sentences leads from the subject {self.generic} to "
                f"{other(self.conclusion, self.generic)} through all other variables (criterion 2)"
            )
        return self

    @property
    def predicates(self) -> tuple[str, ...]:
        """Sentences about two variables: those of the premise, then the conclusion."""
        return (*self.premise, self.conclusion)

    @property
    def _shared(self) -> list[str]:
        in_premise = set[str]().union(*map(variables, self.premise))
        return [name for name in self.types if name in in_premise & variables(self.conclusion)]

    @property
    def generic(self) -> str:
        """The subject, which keeps a general value."""
        return self.subject or self._shared[0]

    @property
    def general_value(self) -> str:
        """The value of the subject: `Person X`."""
        return f"{self.types[self.generic]} X"

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Every variable once, from the subject to the conclusion's other one, linked by sentences; empty if not."""
        end = other(self.conclusion, self.generic)

        def paths(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            if len(path) == len(self.types):
                yield path
            for one in self.premise:
                if path[-1] in variables(one) and (following := other(one, path[-1])) not in path:
                    yield from paths((*path, following))

        return next((path for path in paths((self.generic,)) if path[-1] == end), ())

    @property
    def searched(self) -> tuple[str, ...]:
        """The variables but the subject, in the order in which values are searched for."""
        return self.chain[1:] if self.order == "forward" else self.chain[:0:-1]

    def __str__(self) -> str:
        """The rule in a line, with data types in place of values, as statements name it."""
        typed = {name: f"{data_type} {name}" for name, data_type in self.types.items()}
        return filled(f"{' & '.join(self.premise)} -> {self.conclusion}", typed)


def variables(sentence: str) -> set[str]:
    """The variables of a sentence, which stand in it in braces."""
    return set(_HOLE.findall(sentence))


def other(sentence: str, variable: str) -> str:
    """The variable next to this one in a sentence about two."""
    return next(iter(variables(sentence) - {variable}))


def filled(sentence: str, values: Mapping[str, str]) -> str:
    """The sentence with values in place of its variables; in one pass, so that braces in values stay."""
    return _HOLE.sub(lambda hole: values[hole[1]], sentence)


def read_rules(rules: str, only: Collection[str] = ()) -> list[Rule]:
    """The rules of a YAML file, or `bundled`, in their order; of these names `only`, all if empty."""
    path = Path(__file__).with_name("bundled.yaml") if rules == BUNDLED else Path(rules)
    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CannotRun(f"{path}: cannot be read: {error.strerror or error}") from None
    except (YAMLError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise CannotRun(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, dict) or not document:
        raise CannotRun(f"{path}: holds no rule; expected names of rules, each with {', '.join(_KEYS)}")
    entries = {name: {**entry, "name": name} if isinstance(entry, dict) else entry for name, entry in document.items()}
    try:
        found = TypeAdapter(dict[str, Rule]).validate_python(entries)
    except ValidationError as error:
        raise CannotRun(f"{path}: {explain(error)}") from None
    if unknown := sorted(set(only) - document.keys()):
        raise CannotRun(f"{path}: has no rule {unknown[0]!r}; its rules are {', '.join(document)}")
    return [one for name, one in found.items() if not only or name in only]


_KEYS = [name for name in Rule.model_fields if name != "name"]
