"""Putting a probe to a subject (LINT, section 4): zero-shot, or with a chain of thought."""

import json
from typing import Any, Literal

from checkers.draws import generator, seed_of
from checkers.longtail.corpus import Statement
from checkers.longtail.templates import TEMPLATES, ProbeTemplate
from models.judges.questions import WORD_TOKENS
from models.prompts import PromptSet
from models.protocol import Question, Reply, YesNo

Way = Literal["zero-shot", "chain-of-thought"]
"""The way in which a probe is asked: for the answer alone, or for reasoning first, after two worked examples."""


_ANSWER_TOKENS, _REASONING_TOKENS = 100, 600


class AnswerReply(Reply):
    """An answer alone."""

    answer: str


class ReasonedReply(Reply):
    """An answer after reasoning."""

    reasoning: str
    answer: str


class Asker(PromptSet):
    """Puts probes in one way."""

    package = "checkers.longtail.prompts"

    def __init__(self, way: Way, *, seed: int = 0) -> None:
        """`seed` draws the order of worked examples."""
        super().__init__()
        self._way = way
        self._seed = seed

    def question(self, statement: Statement, template: ProbeTemplate) -> Question[Any]:
        """The question to the subject; the same whenever it is asked."""
        texts = {"question": template.question(statement)}
        if self._way == "zero-shot":
            return self._question("answer", "longtail.answer", AnswerReply, texts, max_tokens=_ANSWER_TOKENS)
        examples = _worked_examples(seed_of(self._seed, statement.id, template.number))
        words = {"examples": examples}
        return self._question(
            "reasoning", "longtail.reasoning", ReasonedReply, texts, words, max_tokens=_REASONING_TOKENS
        )

    def word(self, statement: Statement, template: ProbeTemplate) -> Question[YesNo]:
        """A question that offers yes and no, for the probability of a yes."""
        texts = {"question": template.question(statement)}
        return self._question("word", "longtail.word", YesNo, texts, written=1, max_tokens=WORD_TOKENS)


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
"""One whose answer affirms, one whose answer denies."""


def _worked_examples(seed: str) -> str:
    """Both examples, as the subject is to answer, in an order that `seed` decides."""
    shown = []
    for statement, number, reasoning in _EXAMPLES:
        template = TEMPLATES[number]
        reply = json.dumps({"reasoning": reasoning, "answer": template.answer(statement)})
        shown.append(f"{template.question(statement)}\n{reply}")
    generator(seed, "examples").shuffle(shown)
    return "\n\n".join(shown)
