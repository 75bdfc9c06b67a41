"""A baseline: one prompt for all variables, without search and critic; reranked afterwards or not (LINK, 3.1, D.2)."""

from collections.abc import Sequence

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution
from checkers.longtail.settings import LinkSettings
from lab.link.models import SearchModels
from lab.link.questions import ask_direct
from lab.link.reranking import Reranker, kept
from lab.link.rules.rule import Rule
from lab.link.rules.sentences import filled, sentence_of
from lab.link.search import Beam, Searched, sentence
from lab.link.values import cleaned
from models.concurrent import gather_or_cancel


async def ask_directly(rule: Rule, models: SearchModels, reranker: Reranker | None, settings: LinkSettings) -> Searched:
    """As many beams for head and tail as one search for values has calls and values; with a reranker, those it keeps.

    Raises:
        ModelLost: a model was away for too long.
        OracleFailed: the scorer gives no likelihoods.
    """
    found = await gather_or_cancel([_beams(rule, one, models, settings) for one in DISTRIBUTIONS])
    beams = dict(zip(DISTRIBUTIONS, found, strict=True))
    if reranker is not None:
        for distribution, some in beams.items():
            order = await reranker.order([sentence(rule, beam) for beam in some], distribution)
            beams[distribution] = [some[place] for place in order[: kept(len(some), settings)]]
    return Searched(beams, dict.fromkeys(DISTRIBUTIONS, ()))


async def _beams(
    rule: Rule, distribution: Distribution, models: SearchModels, settings: LinkSettings
) -> Sequence[Beam]:
    gaps = {variable: f"[{variable}]" for variable in rule.types if variable != rule.subject}
    names = {rule.subject: rule.general_value, **gaps}
    premise = " and ".join(sentence_of(one) for one in rule.premise)
    question = ask_direct(
        filled(f"If {premise}, then {sentence_of(rule.conclusion)}.", names),
        [(gap, rule.types[variable]) for variable, gap in gaps.items()],
        count=settings.values,
        rare=distribution == "tail",
    )
    found: dict[tuple[str, ...], Beam] = {}
    # One after the other: questions that are worded alike share an answer while they are under way.
    for call in range(settings.calls):
        for entry in await models.entries(question, call=call):
            values = tuple(map(cleaned, entry))
            if len(values) == len(gaps) and all(values):
                beam = {rule.subject: rule.general_value, **dict(zip(gaps, values, strict=True))}
                found.setdefault(tuple(value.casefold() for value in values), beam)
    return list(found.values())
