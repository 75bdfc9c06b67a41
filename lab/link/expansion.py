"""Meta-rules: one general rule becomes several, with narrower data types and the verbs that fit them (appendix A)."""

import re
from typing import Any

from lab.link.link_questions import LinkPrompts
from lab.link.rules import BadRules, Rule, filled, rule_of
from models.concurrent import gather_or_cancel
from models.protocol import Model, ModelFailed

TYPES = 10
"""Data types asked for; a person leaves out those that are none."""

_TYPE = re.compile(r"[^\W\d_][\w'’-]+( [^\W\d_][\w'’-]+)*")


async def narrower(rule: Rule, variable: str, model: Model) -> list[Rule | str]:
    """Rules for narrower types of the variable, with the verbs of each; in place of those that are none the reason.

    Raises:
        ModelUnavailable: the endpoint is down.
        ModelFailed: it gives no types.
    """
    prompts = LinkPrompts()
    # The conclusion comes last, as the question about verbs has it.
    told = [(place, one) for place, one in enumerate(rule.predicates) if variable in one.variables]

    async def retyped(data_type: str) -> Rule | str:
        if not _TYPE.fullmatch(data_type) or data_type == rule.rule.types[variable]:
            return f"{rule.name}: {data_type!a} is no data type"
        types = {**rule.rule.types, variable: data_type}
        names = {name: f"{one} {name}" for name, one in types.items()}
        said = [filled(one.sentence, names) for _, one in told]
        try:
            reply = (await model.ask(prompts.verbs(said, data_type, variable))).reply
        except ModelFailed as error:
            return f"{rule.name}: no verbs for {data_type}: {error.detail}"
        verbs, sentences = [one.verb for one in rule.predicates], [one.sentence for one in rule.predicates]
        for (place, _), new in zip(told, reply.statements, strict=True):
            verbs[place], sentences[place] = "_".join(new.verb.lower().split()), new.sentence.strip()
        written = [
            f"{verb}({', '.join(names[name] for name in one.variables)})"
            for verb, one in zip(verbs, rule.predicates, strict=True)
        ]
        entry: dict[str, Any] = {
            **rule.model_dump(exclude={"name", "expand", "vetted"}),
            "rule": f"{' & '.join(written[:-1])} -> {written[-1]}",
            "premise": sentences[:-1],
            "conclusion": sentences[-1],
        }
        if variable in rule.predicates[-1].variables:
            entry |= {"negation": reply.negation.strip(), "question": reply.question.strip().rstrip("?")}
        try:
            return rule_of(f"{rule.name}-{data_type.lower().replace(' ', '-')}", entry)
        except BadRules as error:
            return f"{rule.name}: no rule for {data_type}: {str(error).splitlines()[0]}"

    statements = [rule.typed(one.sentence) for _, one in told]
    answer = await model.ask(prompts.types(statements, rule.rule.types[variable], variable, count=TYPES))
    types = dict.fromkeys(" ".join(one.split()) for one in answer.reply.types[:TYPES])
    return await gather_or_cancel([retyped(one) for one in types])
