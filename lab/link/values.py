"""Values for one variable of one beam: asked for in a few calls, judged by the critic (LINK, 2.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from checkers.longtail.settings import LinkSettings
from lab.link.models import SearchModels
from lab.link.questions import ask_values
from lab.link.rules.rule import Rule
from lab.link.rules.sentences import BLANK, filled, sentence_of
from lab.link.threshold import START, TYPE_FLOOR, DynamicThreshold
from models.text.articles import indefinite_article

_MISSES = 2
"""Calls in a row without a correct value that end a search."""
_MOST_CHARACTERS = 120
"""Of a value; longer ones explain themselves."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What a variable stands for, given the values before it. Beams with the same gap share its values."""

    variable: str
    data_type: str
    sentences: tuple[str, ...]
    """All sentences in which it stands with known values."""
    facts: tuple[str, ...]
    """Those of them that are true or false: a sentence about the subject is assumed."""


@dataclass(frozen=True, slots=True)
class FoundValues:
    """What became of a search; values in the order in which they came."""

    accepted: tuple[str, ...]
    wrong: tuple[str, ...]
    """Of the right type; the critic holds a fact to be as improbable as it must be probable to be accepted at once."""


def gap_of(rule: Rule, variable: str, known: Mapping[str, str]) -> Gap:
    """The gap of a variable if `known` holds the values before it, that of the subject included.

    The conclusion is told only if the search goes backward, where it is all that the first variable stands in.
    """
    told = rule.predicates if rule.order == "backward" else rule.premise
    linked = [one for one in told if variable in one.variables and one.other(variable) in known]
    hole = {**known, variable: f"{{{variable}}}"}
    return Gap(
        variable=variable,
        data_type=rule.types[variable],
        sentences=tuple(filled(sentence_of(one), hole) for one in linked),
        facts=tuple(filled(sentence_of(one), hole) for one in linked if one.other(variable) != rule.subject),
    )


async def find_values(gap: Gap, models: SearchModels, settings: LinkSettings) -> FoundValues:
    """Ask for values until there are enough calls, or two in a row had no correct one."""
    judged = _Judged(gap, models, settings.fact_floor)
    sentences = [filled(one, {gap.variable: BLANK}) for one in gap.sentences]
    misses = 0
    for call in range(settings.calls):
        banned = await models.banned_tokens(judged.rejected, judged.accepted)
        question = ask_values(sentences, gap.data_type, count=settings.values, named=judged.accepted, banned=banned)
        new = await judged.judge(await models.values(question, call=call))
        misses = 0 if new else misses + 1
        if misses == _MISSES:
            break
    return FoundValues(tuple(judged.accepted), tuple(judged.wrong))


@dataclass(slots=True)
class _Candidate:
    value: str
    type_probability: float = 0.0
    fact_probabilities: list[float] = field(default_factory=list)
    """For the first facts; none are asked for behind one that was not accepted."""


class _Judged:
    """The values of one beam's variable, with a threshold for its type and one for each fact."""

    def __init__(self, gap: Gap, models: SearchModels, fact_floor: float) -> None:
        self._gap = gap
        self._models = models
        self._types = DynamicThreshold(TYPE_FLOOR)
        self._facts = [DynamicThreshold(fact_floor) for _ in gap.facts]
        self._candidates: dict[str, _Candidate] = {}

    @property
    def accepted(self) -> list[str]:
        """By the thresholds as they are now: a value may have been accepted, and be rejected again."""
        return [one.value for one in self._candidates.values() if self._accepts(one)]

    @property
    def rejected(self) -> list[str]:
        return [one.value for one in self._candidates.values() if not self._accepts(one)]

    @property
    def wrong(self) -> list[str]:
        improbable = 1 - START
        return [
            one.value
            for one in self._candidates.values()
            if self._types.accepts(one.type_probability)
            and any(probability <= improbable for probability in one.fact_probabilities)
        ]

    async def judge(self, values: Sequence[str]) -> list[str]:
        """Judge the values that are new; those of them that are accepted."""
        new: list[_Candidate] = []
        for value in map(cleaned, values):
            if value and value.casefold() not in self._candidates:
                new.append(_Candidate(value))
                self._candidates[value.casefold()] = new[-1]
        name = self._gap.data_type
        kind = f"{indefinite_article(name)} {name}"
        probabilities = await self._models.probabilities([f"{one.value} is {kind}." for one in new])
        for one, probability in zip(new, probabilities, strict=True):
            one.type_probability = probability
        self._types.see(probabilities)
        left = [one for one in new if self._types.accepts(one.type_probability)]
        for fact, threshold in zip(self._gap.facts, self._facts, strict=True):
            said = [_spoken(filled(fact, {self._gap.variable: one.value})) for one in left]
            probabilities = await self._models.probabilities(said)
            for one, probability in zip(left, probabilities, strict=True):
                one.fact_probabilities.append(probability)
            threshold.see(probabilities)
            left = [one for one in left if threshold.accepts(one.fact_probabilities[-1])]
        return [one.value for one in left if self._accepts(one)]

    def _accepts(self, candidate: _Candidate) -> bool:
        told = candidate.fact_probabilities
        return (
            self._types.accepts(candidate.type_probability)
            and len(told) == len(self._facts)
            and all(threshold.accepts(one) for threshold, one in zip(self._facts, told, strict=True))
        )


def cleaned(value: str) -> str:
    """The value on one line without a full stop; empty if it cannot stand in a sentence."""
    text = " ".join(value.split()).rstrip(".")
    return text if len(text) <= _MOST_CHARACTERS and text.isprintable() and not set(text) & set("{}") else ""


def _spoken(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}."
