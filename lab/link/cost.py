"""What a build costs at most, reckoned before anything is asked: docs/longtail.md has the formula."""

import math
from collections.abc import Iterable, Mapping

from checkers.estimate import Load, asking, tokens_of
from checkers.longtail.settings import LinkSettings
from lab.link.models import CRITIC_BATCH
from lab.link.questions import ask_critic, ask_values
from lab.link.reranking import kept
from lab.link.rules.rule import Rule
from lab.link.rules.sentences import BLANK, filled
from lab.link.search import sentence
from lab.link.values import gap_of

_VALUE = "a value of some words"
_VALUE_TOKENS = 16
"""Of a value with its number in a reply."""
_MARK_TOKENS = 10
"""Of the critic's answer about one statement."""

Costs = Mapping[str, Load]
"""By the role of the model."""


def most(rules: Iterable[Rule], settings: LinkSettings) -> Costs:
    """If every value that is asked for comes, is new and is accepted, and nothing is known from elsewhere."""
    totals = {"knowledge": Load(), "critic": Load(), "scorer": Load()}
    for rule in rules:
        for role, load in _of_rule(rule, settings).items():
            totals[role] += load
    return totals


def lines_of(costs: Costs) -> list[str]:
    """A table for a person."""
    lines = [f"{'at most':<10}{'calls':>12}{'tokens read':>16}{'tokens written':>16}"]
    for role, load in costs.items():
        calls = f"{math.ceil(load.calls):,}" if load.calls else "-"
        written = f"{math.ceil(load.completion_tokens):,}" if load.completion_tokens else "-"
        lines.append(f"{role:<10}{calls:>12}{math.ceil(load.prompt_tokens):>16,}{written:>16}")
    return lines


def _of_rule(rule: Rule, settings: LinkSettings) -> Costs:
    costs = {"knowledge": Load(), "critic": Load(), "scorer": Load()}
    values = settings.values * settings.calls
    beam = {rule.subject: rule.general_value}
    kept_beams = searches = 1
    for variable in rule.searched:
        gap = gap_of(rule, variable, beam)
        sentences = [filled(one, {variable: BLANK}) for one in gap.sentences]
        for call in range(settings.calls):
            named = [_VALUE] * settings.values * call
            question = ask_values(sentences, gap.data_type, count=settings.values, named=named)
            costs["knowledge"] += asking(question, settings.values * _VALUE_TOKENS) * searches
        beam[variable] = _VALUE
        for statement in (f"{_VALUE} is a {gap.data_type}.", *(filled(one, beam) for one in gap.facts)):
            batch = min(settings.values, CRITIC_BATCH)
            batches = math.ceil(settings.values / batch) * settings.calls * searches
            costs["critic"] += asking(ask_critic([statement] * batch), batch * _MARK_TOKENS) * batches
        # Head and tail have the same beams before the first variable, and each its own behind it.
        costs["scorer"] += Load(prompt_tokens=tokens_of(sentence(rule, beam))) * (
            min(searches, 2 * kept_beams) * values
        )
        kept_beams = kept(kept_beams * values, settings)
        searches = min(2 * kept_beams, searches * values)
    costs["scorer"] += Load(prompt_tokens=tokens_of(sentence(rule, beam))) * searches
    return costs
