"""The cost of a check of a label: docs/cost.md has the formulas."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from checkers.estimate import Estimate, Load, Range, load_of, sum_of, tokens_of, with_long_replies
from checkers.labelling.evaluators import CANDIDATES, EXEMPLARS, MOST_TRIED_BY_JUDGE, Strategy
from checkers.labelling.examples import Exemplar
from checkers.labelling.labeller_questions import LabellingPrompts
from checkers.labelling.rubric import Rubric
from checkers.labelling.values import shown

_REASON = 30
"""Tokens of a criterion's reason in a label's reply."""
_ANSWER = 50
"""Tokens of an answer with a reason."""


def reckoned(
    prompts: LabellingPrompts,
    rubrics: Sequence[Rubric],
    x: JsonValue,
    examples: Sequence[Exemplar],
    *,
    strategy: Strategy,
    rounds: int,
    under: str | None,
) -> Estimate:
    """A game for each rubric, all rounds of which are played; a challenge that is failed early makes it less."""
    judge, subject = Load(), Load()
    judge_most = Load()
    for rubric in rubrics:
        subject += load_of(
            prompts.label(rubric, x, examples[:EXEMPLARS], under=under), _REASON * len(rubric.criteria) + 10
        )
        if strategy == "pick":
            shown_ones = [one.x for one in examples[:CANDIDATES]]
            subject += load_of(prompts.pick(rubric, x, shown_ones, under=under), _ANSWER) * rounds
        else:
            made = [prompts.generate(rubric, x, 0, examples[:EXEMPLARS], [x] * n, under=under) for n in range(rounds)]
            subject += sum_of(load_of(one, _ANSWER + tokens_of(shown(x))) for one in made)
        a_datapoint = _judged(prompts, rubric, x)
        judge += a_datapoint * (1 + rounds)
        tried = min(MOST_TRIED_BY_JUDGE * rounds, len(examples)) if strategy == "pick" else rounds
        judge_most += a_datapoint * (1 + tried)
    return Estimate(
        judge=Range(judge, with_long_replies(judge_most)), subject=Range(subject, with_long_replies(subject))
    )


def _judged(prompts: LabellingPrompts, rubric: Rubric, x: JsonValue) -> Load:
    """All questions in plain language about a datapoint, and about the parts of it that the rubric looks at."""
    return sum_of(
        load_of(prompts.criterion(question.ask, question.value(part)), _ANSWER)
        for part in rubric.relevant(x)
        for question in rubric.questions(part)
    )
