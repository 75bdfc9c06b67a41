"""Meta-rules: one general rule becomes several, with narrower data types and the verbs that fit them (appendix A)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.link.questions import VerbsReply, ask_types, ask_verbs
from lab.link.rules.reading import BadRules, parsed
from lab.link.rules.rule import Predicate, Rule
from lab.link.rules.sentences import filled, forms_of, sentence_of
from lab.link.rules.writing import written
from models.concurrent import gather_or_cancel
from models.protocol import Oracle, OracleFailed

TYPES = 10
"""Data types asked for; a person leaves out those that are none."""

_TYPE = re.compile(r"[^\W\d_][\w'’-]+( [^\W\d_][\w'’-]+)*")


@dataclass(frozen=True, slots=True)
class Expansion:
    """What a meta-rule became."""

    rules: tuple[Rule, ...]
    refused: tuple[str, ...]
    """What the model gave that is no rule, each with the reason."""


async def expand(rule: Rule, variable: str, model: Oracle) -> Expansion:
    """Ask for narrower types of the variable, then for the verbs of each.

    Raises:
        OracleUnavailable: the endpoint is down.
        OracleFailed: it gives no types.
    """
    names = {one: f"{data_type} {one}" for one, data_type in rule.types.items()}
    told = [filled(sentence_of(one), names) for one in rule.predicates if variable in one.variables]
    answer = await model.ask(ask_types(told, rule.types[variable], variable, count=TYPES))
    types = dict.fromkeys(" ".join(one.split()) for one in answer.reply.types[:TYPES])
    found = await gather_or_cancel([_retyped(rule, variable, data_type, model) for data_type in types])
    return Expansion(
        tuple(one for one in found if isinstance(one, Rule)), tuple(one for one in found if isinstance(one, str))
    )


async def _retyped(rule: Rule, variable: str, data_type: str, model: Oracle) -> Rule | str:
    """The rule for this type, or why there is none."""
    if not _TYPE.fullmatch(data_type) or data_type == rule.types[variable]:
        return f"{rule.name}: {data_type!a} is no data type"
    retyped = replace(rule, types={**rule.types, variable: data_type})
    names = {one: f"{of} {one}" for one, of in retyped.types.items()}
    changed = [one for one in rule.predicates if variable in one.variables]
    try:
        answer = await model.ask(ask_verbs([filled(sentence_of(one), names) for one in changed], data_type, variable))
    except OracleFailed as error:
        return f"{rule.name}: no verbs for {data_type}: {error.detail}"
    made = _reworded(retyped, changed, answer.reply, name=f"{rule.name}-{data_type.lower().replace(' ', '-')}")
    try:
        read = parsed(written([made]), data_type)
    except BadRules as error:
        return f"{rule.name}: no rule for {data_type}: {str(error).splitlines()[0]}"
    # A quotation mark in what the model wrote would end its sentence, and what follows would be read as a rule's words.
    return made if read == (made,) else f"{rule.name}: no rule for {data_type}: its sentences read as something else"


def _reworded(rule: Rule, changed: Sequence[Predicate], reply: VerbsReply, *, name: str) -> Rule:
    new = {
        old: replace(old, verb=_verb(one.verb), sentence=one.sentence.strip())
        for old, one in zip(changed, reply.statements, strict=True)
    }
    premise = tuple(_short(new.get(one, one)) for one in rule.premise)
    conclusion = _short(new.get(rule.conclusion, rule.conclusion))
    made = replace(rule, name=name, premise=premise, conclusion=conclusion, expand=None, vetted=False)
    if rule.conclusion not in new:
        return made
    forms = forms_of(replace(made, negation=None, question=None))
    negation, question = reply.negation.strip(), reply.question.strip().rstrip("?")
    return replace(
        made,
        negation=None if negation == forms.negation else negation,
        question=None if question == forms.question else question,
    )


def _short(predicate: Predicate) -> Predicate:
    """Without a sentence that the words of the verb make."""
    bare = replace(predicate, sentence=None)
    return bare if predicate.sentence == sentence_of(bare) else predicate


def _verb(text: str) -> str:
    return "_".join(text.lower().split())
