"""Rules that can be searched: typed variables, premise predicates that chain them, one conclusion (LINK, 2.2)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from checkers.longtail.corpus import Sentence
from models.wording import counted
from schemas import nearest
from schemas.base import Name

BUNDLED = "bundled"
"""Names the rules that come with assay."""

_BUNDLED_FILE = Path(__file__).with_name("bundled.yaml")
_HOLE = re.compile(r"\{([^{}]*)\}")
_ARGUMENT = r"([^\W\d_][^(),&]*?)\s+([A-Z][0-9]?)"
_PREDICATE = re.compile(rf"([a-z][\w'-]*)\s*\(\s*{_ARGUMENT}\s*,\s*{_ARGUMENT}\s*\)")


class BadRules(ValueError):
    """A file of rules that cannot be used; the message has a line a fault, each with the key that it is about."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb phrase between two variables."""

    verb: str
    variables: tuple[str, str]
    sentence: str = ""
    """The same in words, with variables in braces."""

    def other(self, variable: str) -> str:
        """The variable beside this one."""
        first, second = self.variables
        return second if variable == first else first


@dataclass(frozen=True, slots=True)
class Notation:
    """A rule in the paper's notation: `fits_into(Tool A, Room B) & … -> can_work_in(Person X, Room B)`."""

    premise: tuple[Predicate, ...]
    conclusion: Predicate
    types: Mapping[str, str]
    """The data type of each variable, in the order of the text."""

    @classmethod
    def read(cls, text: object) -> "Notation":
        """Raises ValueError for what is no rule, or breaks a criterion for rules that its form shows."""
        if not isinstance(text, str) or len(halves := re.split("->|→", text)) != 2:
            raise ValueError("expected predicates joined by &, then ->, then the conclusion")
        types: dict[str, str] = {}
        premise = [_predicate(one, types) for one in halves[0].split("&")]
        found = cls(tuple(premise), _predicate(halves[1], types), types)
        if len(set(premise)) < len(premise) or found.conclusion in premise:
            raise ValueError("a predicate stands there twice (criterion 3)")
        if len(premise) < 2 or len(types) < 3:
            raise ValueError(
                f"{counted(len(premise), 'predicate')} in the premise and {counted(len(types), 'variable')}; "
                "needed are 2 and 3, or there is nothing to reason about (criterion 4)"
            )
        return found

    def __str__(self) -> str:
        return f"{' & '.join(map(self._written, self.premise))} -> {self._written(self.conclusion)}"

    def _written(self, predicate: Predicate) -> str:
        return f"{predicate.verb}({', '.join(f'{self.types[one]} {one}' for one in predicate.variables)})"

    def chain(self, subject: str) -> tuple[str, ...]:
        """Every variable once, from the subject to the conclusion's other one, each linked to the next by a predicate.

        Raises:
            ValueError: there is no such chain.
        """
        end = self.conclusion.other(subject)

        def paths(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            if len(path) == len(self.types):
                yield path
            for one in self.premise:
                following = one.other(path[-1])
                if path[-1] in one.variables and following not in path:
                    yield from paths((*path, following))

        found = next((path for path in paths((subject,)) if path[-1] == end), None)
        if found is None:
            raise ValueError(
                f"no single chain of premise predicates leads from the subject {subject} to {end} through "
                f"{', '.join(name for name in self.types if name not in (subject, end))} (criterion 2)"
            )
        return found


def _predicate(text: str, types: dict[str, str]) -> Predicate:
    """The predicate; its types are added to `types`."""
    match = _PREDICATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text.strip()!r} is no predicate such as fits_into(Tool A, Room B): a verb and two variables, each of "
            "which is a capital letter behind its data type"
        )
    verb, type1, first, type2, second = match.groups()
    for name, data_type in ((first, type1), (second, type2)):
        known = types.setdefault(name, " ".join(data_type.split()))
        if known != " ".join(data_type.split()):
            raise ValueError(f"variable {name} is of type {data_type}, and was of {known}")
    if first == second:
        raise ValueError(f"{verb} has the same variable twice")
    return Predicate(verb, (first, second))


class Rule(BaseModel):
    """A rule of a file, which meets the criteria that its form shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    domain: Name
    rule: Annotated[Notation, PlainValidator(Notation.read), PlainSerializer(str)]
    premise: tuple[Sentence, ...]
    """A sentence a predicate, with variables in braces."""
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
    expand: str | None = None
    """The variable whose type is to be replaced by narrower ones: such a rule is a meta-rule."""
    vetted: bool = False
    """True if a person has found that it is no paraphrase and asks for nothing that a model cannot know."""

    @field_validator("premise", "conclusion", "negation", "question")
    @classmethod
    def _name_variables(cls, said: Any, info: ValidationInfo) -> Any:
        notation: Notation | None = info.data.get("rule")
        if notation is not None:
            is_premise = info.field_name == "premise"
            predicates = notation.premise if is_premise else (notation.conclusion,)
            sentences = said if is_premise else (said,)
            if len(sentences) != len(predicates):
                raise ValueError(f"{len(sentences)} sentences for the premise's {len(predicates)} predicates")
            for predicate, sentence in zip(predicates, sentences, strict=True):
                if set(_HOLE.findall(sentence)) != set(predicate.variables):
                    wanted = " and ".join(f"{{{name}}}" for name in predicate.variables)
                    raise ValueError(f"{sentence!r} stands for {predicate.verb}: it must name {wanted} and no other")
        return said

    @model_validator(mode="after")
    def _be_chained(self) -> "Rule":
        shared = self._shared
        if not shared:
            raise ValueError("premise and conclusion share no variable, so that they have no one subject (criterion 1)")
        if self.subject and self.subject not in shared:
            told = " and ".join(shared)
            raise ValueError(f"the subject must be in premise and conclusion, as {told} are (criterion 1)")
        if self.expand is not None and self.expand not in self.rule.types:
            raise ValueError(f"there is no variable {self.expand} to expand; there are {', '.join(self.rule.types)}")
        self.rule.chain(self.generic)
        return self

    @property
    def _shared(self) -> list[str]:
        in_premise = {name for one in self.rule.premise for name in one.variables}
        return [name for name in self.rule.types if name in in_premise and name in self.rule.conclusion.variables]

    @property
    def generic(self) -> str:
        """The subject, which keeps a general value."""
        return self.subject or self._shared[0]

    @property
    def general_value(self) -> str:
        """The value of the subject: `Person X`."""
        return f"{self.rule.types[self.generic]} X"

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The other variables in the order in which values are searched for."""
        others = self.rule.chain(self.generic)[1:]
        return others if self.order == "forward" else others[::-1]

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """Those of the premise, then the conclusion, with their sentences."""
        known = zip((*self.rule.premise, self.rule.conclusion), (*self.premise, self.conclusion), strict=True)
        return tuple(Predicate(one.verb, one.variables, sentence) for one, sentence in known)

    def typed(self, sentence: str) -> str:
        """The sentence with data types in place of values: `Tool A fits into Room B`."""
        return filled(sentence, {name: f"{data_type} {name}" for name, data_type in self.rule.types.items()})


def filled(sentence: str, values: Mapping[str, str]) -> str:
    """The sentence with values in place of its variables; in one pass, so that braces in values stay."""
    return _HOLE.sub(lambda hole: values[hole[1]], sentence)


def read_rules(path: Path) -> list[Rule]:
    """The rules of a YAML file, by name, in its order.

    Raises:
        BadRules: it cannot be read, holds no rule, or a rule breaks a criterion.
    """
    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadRules(f"{path}: cannot be read: {error.strerror or error}") from None
    except (YAMLError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise BadRules(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, dict) or not document:
        raise BadRules(f"{path}: holds no rule; expected names of rules, each with {', '.join(_KEYS)}")
    rules, faults = [], []
    for name, entry in document.items():
        try:
            rules.append(rule_of(name, entry))
        except BadRules as error:
            faults += [f"{path}: {line}" for line in str(error).splitlines()]
    if faults:
        raise BadRules("\n".join(faults))
    return rules


def rule_of(name: Any, entry: Any) -> Rule:
    """The rule with this name.

    Raises:
        BadRules: the entry is none; without the file's name.
    """
    if not isinstance(entry, dict):
        raise BadRules(f"{name}: expected {', '.join(_KEYS)}")
    try:
        return Rule.model_validate({**entry, "name": name})
    except ValidationError as error:
        raise BadRules("\n".join(_told(str(name), entry, error))) from None


def bundled_rules() -> list[Rule]:
    """The rules that come with assay."""
    return read_rules(_BUNDLED_FILE)


def written(rules: Iterable[Rule]) -> str:
    """The text of a file of rules."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 120
    stream = StringIO()
    yaml.dump(
        {rule.name: rule.model_dump(mode="json", exclude_defaults=True, exclude={"name"}) for rule in rules}, stream
    )
    return stream.getvalue()


_KEYS = [name for name in Rule.model_fields if name != "name"]


def _told(name: str, entry: Mapping[str, Any], error: ValidationError) -> Iterator[str]:
    """A line a fault."""
    for fault in error.errors(include_url=False):
        steps: Sequence[Any] = fault["loc"]
        key = ".".join(str(step) for step in (name, *steps))
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = nearest(str(steps[-1]), _KEYS)
            message = f"there is no such key; {f'did you mean {near}?' if near else 'allowed are ' + ', '.join(_KEYS)}"
        elif fault["type"] == "missing":
            message = "is missing"
        yield f"{key}: {message}"
