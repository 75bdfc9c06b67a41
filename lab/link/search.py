"""Knowledge beam search: values for a rule's variables one after the other, for head and tail (LINK, 2.3)."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution
from lab.link.models import MOST_CHARACTERS, SearchModels
from lab.link.rules import Rule, filled, other, variables
from models.work import gather_or_cancel

CALLS = 4  # calls for a variable of one beam, at most
KEEP = 0.75  # the share of beams that goes on, where they are not too many

START = 0.85  # the critic's probability from which a value is accepted, at first
_STEPS = 20  # from 0 to 1, of a threshold
TYPE_FLOOR = 0.65  # a critic is more certain about data types than about facts
FACT_FLOOR = 0.5

_MISSES = 2  # calls in a row without a correct value that end a search
_NUMBER = re.compile(r"\d{1,3}[.)] ")

ItemT = TypeVar("ItemT")

Beam = Mapping[str, str]
"""A value for the subject, and for each variable up to some point of the search."""

Beams = Mapping[Distribution, Sequence[Beam]]
"""Those of head and tail, the ones to be kept longest first."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The place of a variable, given the values before it. Beams with the same gap share its values."""

    variable: str
    data_type: str
    sentences: tuple[str, ...]
    """All sentences in which it stands with known values."""
    facts: tuple[str, ...]
    """Those of them that are true or false: a sentence about the subject is assumed."""

    def statements(self, value: str) -> list[str]:
        """All that must hold of a value: its type first."""
        facts = (filled(one, {self.variable: value}) for one in self.facts)
        return [f"{one[0].upper()}{one[1:]}." for one in (f"{value} is {_a(self.data_type)}", *facts)]


@dataclass(frozen=True, slots=True)
class VariableFigures:
    """How many values of a variable were named, of its type, and true, over all beams.

    The best probability is the highest of any value, None if none was judged; needed is the lowest threshold in the
    end, None if no sentence can be false.
    """

    rule: str
    variable: str
    gaps: int
    """Places that it was asked for: beams with other values before it."""
    named: int
    of_type: int
    best_type: float | None
    needed_type: float
    true: int
    best_fact: float | None
    needed_fact: float | None


@dataclass(frozen=True, slots=True)
class Searched:
    """The beams of a search, the same with a last value that breaks the chain, and what became of each variable."""

    beams: Beams
    wrong: Beams
    variables: Sequence[VariableFigures]


async def search(rule: Rule, models: SearchModels, values: int, most: int) -> Searched:
    """Search for values of all variables, for head and tail: `values` a call, at most so many beams."""
    figures = []
    beams: dict[Distribution, list[Beam]] = {one: [{rule.generic: rule.general_value}] for one in DISTRIBUTIONS}
    wrong: dict[Distribution, list[Beam]] = {one: [] for one in DISTRIBUTIONS}
    for variable in rule.searched:
        models.begin(f"{rule.name}, {rule.types[variable]} {variable}")
        gaps = dict.fromkeys(gap_of(rule, variable, beam) for some in beams.values() for beam in some)
        if not gaps:
            continue
        searches = await gather_or_cancel(_Search(gap).run(models, values) for gap in gaps)
        found = dict(zip(gaps, searches, strict=True))
        figures.append(_figures(rule, variable, found.values()))
        wrong = {one: list(_grown(rule, variable, some, found, "wrong")) for one, some in beams.items()}
        after = {one: list(_grown(rule, variable, some, found, "accepted")) for one, some in beams.items()}
        likelihoods = await models.log_likelihoods([_sentence(rule, beam) for some in after.values() for beam in some])
        for one, some in after.items():
            order = ranked([(likelihoods[_sentence(rule, beam)], beam) for beam in some], one)
            beams[one] = order[: kept(len(some), most)]
    return Searched(beams, wrong, figures)


def _figures(rule: Rule, variable: str, found: Collection["_Search"]) -> VariableFigures:
    told = [one for search in found for one in search.named.values()]
    facts = [search.threshold(check) for search in found for check in range(1, 1 + len(search.gap.facts))]
    return VariableFigures(
        rule=rule.name,
        variable=f"{rule.types[variable]} {variable}",
        gaps=len(found),
        named=len(told),
        of_type=sum(len(search.of_type) for search in found),
        best_type=_best(some[:1] for some in told),
        needed_type=min(search.threshold(0) for search in found),
        true=sum(len(search.accepted) for search in found),
        best_fact=_best(some[1:] for some in told),
        needed_fact=min(facts, default=None),
    )


def _best(told: Iterable[Sequence[float | None]]) -> float | None:
    return max((one for some in told for one in some if one is not None), default=None)


def _a(data_type: str) -> str:
    """The type within a sentence: `a historical event`; what is short for something stays: `a US state`."""
    said = " ".join(word.lower() if word.istitle() else word for word in data_type.split())
    return f"{'an' if said[0].lower() in 'aeiou' else 'a'} {said}"


def gap_of(rule: Rule, variable: str, known: Mapping[str, str]) -> Gap:
    """The gap of a variable if `known` holds the values before it, that of the subject included.

    The conclusion is told only if the search goes backward, where it is all that the first variable stands in.
    """
    told = rule.predicates if rule.order == "backward" else rule.premise
    linked = [one for one in told if variable in variables(one) and other(one, variable) in known]
    hole = {**known, variable: f"{{{variable}}}"}
    facts = tuple(filled(one, hole) for one in linked if other(one, variable) != rule.generic)
    return Gap(variable, rule.types[variable], tuple(filled(one, hole) for one in linked), facts)


def _sentence(rule: Rule, beam: Beam) -> str:
    """All predicates whose values are known, joined by "and"."""
    said = [one for one in rule.predicates if beam.keys() >= variables(one)]
    return filled(" and ".join(said), beam)


def ranked(likelihoods: Sequence[tuple[float, ItemT]], distribution: Distribution) -> list[ItemT]:
    """Things by their likelihoods, the least likely first for the tail, the likeliest for the head."""
    sign = 1 if distribution == "tail" else -1
    return [item for _, item in sorted(likelihoods, key=lambda one: sign * one[0])]


def kept(count: int, most: int) -> int:
    """The number of beams that go on, of so many."""
    return most if count > most else math.ceil(KEEP * count)


def threshold(probabilities: Iterable[float | None], floor: float) -> float:
    """The probability of "yes" from which values of one predicate in one beam are accepted (LINK, appendix B).

    `probabilities` are those of all values so far, None where the critic did not answer. It starts high, falls by steps
    to what the best value reaches, but not below the floor, and rises with it: values that were accepted before may be
    accepted no longer. A threshold of 1 would ask for more certainty than there is: such a probability has been
    rounded.
    """
    known = [one for one in probabilities if one is not None]
    steps = (step / _STEPS for step in range(round(floor * _STEPS), _STEPS))
    return max((one for one in steps if one <= max(known)), default=floor) if known else START


class _Search:
    """The values of one gap, each with the probabilities of its statements."""

    def __init__(self, gap: Gap) -> None:
        self.gap = gap
        self.named: dict[str, list[float | None]] = {}
        """The type's probability first, none behind one that was not accepted."""

    def threshold(self, check: int) -> float:
        """That of the type or of a fact, as it is now."""
        floor = FACT_FLOOR if check else TYPE_FLOOR
        return threshold([told[check] for told in self.named.values() if len(told) > check], floor)

    @property
    def of_type(self) -> list[str]:
        """By the type's threshold as it is now."""
        return self._reaching([self.threshold(0)])

    @property
    def accepted(self) -> list[str]:
        """By the thresholds as they are now: a value may have been accepted, and be rejected again."""
        return self._reaching([self.threshold(check) for check in range(1 + len(self.gap.facts))])

    @property
    def wrong(self) -> list[str]:
        """Values of the right type with a fact that is as improbable as it must be probable to be accepted at once."""
        facts = {value: [one for one in self.named[value][1:] if one is not None] for value in self.of_type}
        return [value for value, told in facts.items() if told and min(told) <= 1 - START]

    def _reaching(self, needed: Sequence[float]) -> list[str]:
        def reaches(told: Sequence[float | None]) -> bool:
            known = zip(told, needed, strict=False)
            return len(told) >= len(needed) and all(one is not None and one >= least for one, least in known)

        return [value for value, told in self.named.items() if reaches(told)]

    async def run(self, models: SearchModels, count: int) -> "_Search":
        """Ask for values in a few calls, and have them judged."""
        sentences = [filled(said, {self.gap.variable: "___"}) for said in self.gap.sentences]
        misses, lists = 0, list[list[str]]()
        for _ in range(CALLS):
            values = await models.values(sentences, self.gap.data_type, count=count, earlier=lists)
            lists += [] if values is None else [values]
            left = self._new(values or ())
            for check in range(1 + len(self.gap.facts)):
                told = await models.probabilities([self.gap.statements(value)[check] for value in left])
                for value, probability in zip(left, told, strict=True):
                    self.named[value].append(probability)
                needed = self.threshold(check)
                left = [value for value, p in zip(left, told, strict=True) if p is not None and p >= needed]
            misses = 0 if set(self.accepted).intersection(left) else misses + 1
            if misses == _MISSES:
                break
        return self

    def _new(self, values: Iterable[str]) -> list[str]:
        """The values of a call that were not named before."""
        known, found = {one.casefold() for one in self.named}, []
        for value in map(_cleaned, values):
            if value and value.casefold() not in known:
                known.add(value.casefold())
                found.append(value)
                self.named[value] = []
        return found


def _grown(rule: Rule, variable: str, beams: Iterable[Beam], found: Mapping[Gap, _Search], kind: str) -> Iterator[Beam]:
    values = {gap: getattr(one, kind) for gap, one in found.items()}
    for beam in beams:
        for value in values[gap_of(rule, variable, beam)]:
            # Nothing is compared with itself.
            if value.casefold() not in {known.casefold() for known in beam.values()}:
                yield {**beam, variable: value}


def _cleaned(value: str) -> str:
    """The value on one line without a number before it or a full stop; empty if it cannot stand in a sentence."""
    text = _NUMBER.sub("", " ".join(value.split())).rstrip(".")
    return text if len(text) <= MOST_CHARACTERS and text.isprintable() and not set(text) & set("{}<>_") else ""
