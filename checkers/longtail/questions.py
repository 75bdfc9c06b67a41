"""Putting a probe to a subject (LINT, section 4): zero-shot, or with a chain of thought."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from checkers.draws import generator, seed_of
from checkers.form_test import FormCase
from checkers.longtail.corpus import Statement
from checkers.longtail.templates import TEMPLATES, ProbeTemplate
from checkers.longtail.yes_or_no import is_right
from models.prompts import WORD_TOKENS, PromptSet
from models.protocol import Question, Reply, YesNo

Way = Literal["zero-shot", "chain-of-thought"]
"""The way in which a probe is asked: for the answer alone, or for reasoning first, after two worked examples."""

_ANSWER_TOKENS, _REASONING_TOKENS = 100, 600

_ARMS = (
    "Whoever climbs a rope pulls with both arms, one after the other. An arm in plaster can neither grip nor pull. So "
    "Person X cannot climb a rope, as the question says."
)
_RAILS = (
    "A train needs rails all the way. To an island they lead over a bridge or through a tunnel, and there is neither. "
    "So no train gets to Village X, and the question says the opposite."
)
_ROPE = "Person X has an arm in plaster. Is it true that Person X cannot climb a rope? Answer yes or no."
_ISLAND = "Village X lies on an island without a bridge or a tunnel. True or false: Village X can be reached by train."
_EXAMPLES = ((_ROPE, _ARMS, "yes"), (_ISLAND, _RAILS, "false"))
"""Question, reasoning and answer; one answer affirms, one denies."""


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
        shown = [f"{asked}\n{json.dumps({'reasoning': why, 'answer': answer})}" for asked, why, answer in _EXAMPLES]
        generator(seed_of(self._seed, statement.id, template.number), "examples").shuffle(shown)
        words, most = {"examples": "\n\n".join(shown)}, _REASONING_TOKENS
        return self._question("reasoning", "longtail.reasoning", ReasonedReply, texts, words, max_tokens=most)

    def word(self, statement: Statement, template: ProbeTemplate) -> Question[YesNo]:
        """A question that offers yes and no, for the probability of a yes."""
        texts = {"question": template.question(statement)}
        return self._question("word", "longtail.word", YesNo, texts, written=1, max_tokens=WORD_TOKENS)


def form_cases(method: str) -> Iterator[FormCase]:
    """Built-in cases of the question to a subject: a statement that is to be affirmed, and its negation."""
    said = {"premise": "Animal X is a penguin", "conclusion": "Animal X cannot fly", "negation": "Animal X can fly"}
    about = {"rule": "built-in", "domain": "built-in", "distribution": "head", "answer": "no"}
    bird, asker = Statement.model_validate(said | about | {"question": "can Animal X fly"}), Asker("zero-shot")
    for template in (TEMPLATES[2], TEMPLATES[9]):
        right = template.answer(bird)
        yield FormCase(method, "subject", asker.question(bird, template), partial(_says, right))


def _says(expected: str, reply: AnswerReply) -> bool:
    return is_right(reply.answer, expected) is True
