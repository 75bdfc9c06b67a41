"""Two worked examples for chains of thought: one whose answer affirms, one whose answer denies."""

import json

from checkers.draws import generator
from checkers.longtail.corpus import Statement
from checkers.longtail.templates import TEMPLATES

_PLASTER = Statement(
    rule="example",
    domain="example",
    distribution="head",
    premise="Person X has an arm in plaster",
    conclusion="Person X cannot climb a rope",
    negation="Person X can climb a rope",
    question="can Person X climb a rope",
    answer="no",
)
_ISLAND = Statement(
    rule="example",
    domain="example",
    distribution="tail",
    premise="Village X lies on an island without a bridge or a tunnel",
    conclusion="Village X cannot be reached by train",
    negation="Village X can be reached by train",
    question="can Village X be reached by train",
    answer="no",
)

_ARMS = (
    "Whoever climbs a rope pulls with both arms, one after the other. An arm in plaster can neither grip nor pull. So "
    "Person X cannot climb a rope, as the question says."
)
_RAILS = (
    "A train needs rails all the way. To an island they lead over a bridge or through a tunnel, and there is neither. "
    "So no train gets to Village X, and the question says the opposite."
)
_EXAMPLES = ((_PLASTER, 1, _ARMS), (_ISLAND, 10, _RAILS))


def worked_examples(seed: str) -> str:
    """Both examples, as the subject is to answer, in an order that `seed` decides."""
    shown = []
    for statement, number, reasoning in _EXAMPLES:
        template = TEMPLATES[number]
        reply = json.dumps({"reasoning": reasoning, "answer": template.answer(statement)})
        shown.append(f"{template.question(statement)}\n{reply}")
    generator(seed, "examples").shuffle(shown)
    return "\n\n".join(shown)
