"""Knowledge beam search: values for a rule's variables one after the other, for head and tail (LINK, 2.3)."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution
from checkers.longtail.settings import LinkSettings
from lab.link.models import SearchModels
from lab.link.reranking import Reranker, kept
from lab.link.rules.rule import Rule
from lab.link.rules.sentences import filled, sentence_of
from lab.link.values import FoundValues, Gap, find_values, gap_of
from models.concurrent import in_order

Beam = Mapping[str, str]
"""A value for the subject, and for each variable up to some point of the search."""

Watch = Callable[[str, int, int], None]
"""Told the variable, and how many of its searches are done of how many."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The beams with a value for each variable, those to be kept longest first."""

    beams: Mapping[Distribution, Sequence[Beam]]
    wrong: Mapping[Distribution, Sequence[Beam]]
    """The same with a last value that breaks the chain."""


async def search(
    rule: Rule, models: SearchModels, reranker: Reranker, settings: LinkSettings, *, watch: Watch
) -> Searched:
    """Search for values of all variables.

    Raises:
        ModelLost: a model was away for too long.
        OracleFailed: the scorer gives no likelihoods.
    """
    beams: dict[Distribution, list[Beam]] = {one: [{rule.subject: rule.general_value}] for one in DISTRIBUTIONS}
    wrong: dict[Distribution, list[Beam]] = {one: [] for one in DISTRIBUTIONS}
    for variable in rule.searched:
        gaps = dict.fromkeys(gap_of(rule, variable, beam) for some in beams.values() for beam in some)
        found = await _find_all(list(gaps), models, settings, watch)
        for distribution, before in beams.items():
            wrong[distribution] = list(_grown(rule, variable, before, {gap: one.wrong for gap, one in found.items()}))
            after = list(_grown(rule, variable, before, {gap: one.accepted for gap, one in found.items()}))
            order = await reranker.order([sentence(rule, beam) for beam in after], distribution)
            beams[distribution] = [after[place] for place in order[: kept(len(after), settings)]]
    return Searched(beams, wrong)


def sentence(rule: Rule, beam: Beam) -> str:
    """What a beam says: all predicates whose values are known, joined by "and"."""
    said = [sentence_of(one) for one in rule.predicates if beam.keys() >= set(one.variables)]
    return filled(" and ".join(said), beam)


def _grown(rule: Rule, variable: str, beams: Iterable[Beam], values: Mapping[Gap, Sequence[str]]) -> Iterable[Beam]:
    for beam in beams:
        for value in values[gap_of(rule, variable, beam)]:
            # Nothing is compared with itself.
            if value.casefold() not in {known.casefold() for known in beam.values()}:
                yield {**beam, variable: value}


async def _find_all(
    gaps: Sequence[Gap], models: SearchModels, settings: LinkSettings, watch: Watch
) -> dict[Gap, FoundValues]:
    found: dict[Gap, FoundValues] = {}

    async def each() -> AsyncIterator[Gap]:
        for gap in gaps:
            yield gap

    async def work(gap: Gap) -> tuple[Gap, FoundValues]:
        return gap, await find_values(gap, models, settings)

    def emit(result: tuple[Gap, FoundValues]) -> None:
        gap, values = result
        found[gap] = values
        watch(gap.variable, len(found), len(gaps))

    await in_order(each(), work, emit, window=models.concurrency)
    return found
