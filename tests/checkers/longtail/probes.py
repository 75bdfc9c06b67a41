"""A corpus of statements, and simulated subjects that are right about it as often as they are told."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from checkers.longtail.corpus import DISTRIBUTIONS, Distribution, Statement, write_corpus
from checkers.longtail.templates import ProbeTemplate, templates_of
from tests.support.stub_request import StubRequest

# Of LINT (table 9), as the bundled corpus and rules have them.
DOMAINS = ("temporal", "food and physical conditions", "natural properties", "locational")
_OPPOSITES = {"yes": "no", "true": "false", "right": "wrong", "no": "yes", "false": "true", "wrong": "right"}


def statements(rules: int = 4, each: int = 5) -> Iterator[Statement]:
    """So many rules, over the domains in turn, with `each` statements of the head and of the tail."""
    for rule in range(rules):
        for distribution in DISTRIBUTIONS:
            for number in range(each):
                thing = f"{distribution} dish {rule}-{number}"
                yield Statement(
                    rule=f"avoids(Person X, Food {rule}) & is_in(Food {rule}, Dish B) -> cannot_eat(Person X, Dish B)",
                    domain=DOMAINS[rule % len(DOMAINS)],
                    distribution=distribution,
                    premise=f"Person X avoids food {rule}, which is in {thing}",
                    conclusion=f"Person X cannot eat {thing}",
                    negation=f"Person X can eat {thing}",
                    question=f"can Person X eat {thing}",
                    answer="no",
                )


def corpus_in(folder: Path, rules: int = 4, each: int = 5) -> Path:
    """Such a corpus as a file."""
    file = folder / "statements.jsonl"
    write_corpus(file, statements(rules, each))
    return file


@dataclass(frozen=True)
class Asked:
    """The statement and the template behind a question."""

    statement: Statement
    template: ProbeTemplate

    @property
    def right(self) -> str:
        return self.template.answer(self.statement)

    @property
    def wrong(self) -> str:
        return _OPPOSITES[self.right]


Manner = Callable[[Asked, random.Random], str]
"""From a question to the answer."""


def perfect(asked: Asked, _: random.Random) -> str:
    return asked.right


def always_no(asked: Asked, _: random.Random) -> str:
    return {"yes": "no", "true": "false", "right": "wrong"}.get(asked.right, asked.right)


def right_at(rates: Mapping[Distribution, float]) -> Manner:
    """Right with these probabilities on the head and on the tail."""
    return lambda asked, draw: asked.right if draw.random() < rates[asked.statement.distribution] else asked.wrong


class SimulatedSubject:
    """A subject that recognises the questions of a corpus, as what a stub endpoint answers."""

    def __init__(self, known: Iterable[Statement], manner: Manner) -> None:
        self._manner = manner
        self._known = {
            template.question(statement): Asked(statement, template)
            for statement in known
            for template in templates_of(statement)
        }

    def __call__(self, request: StubRequest) -> str:
        question = request.texts.get("question")
        if question is None:
            return self._said(request.body["messages"][-1]["content"].split("\n")[0].removeprefix("> "))
        # One of the built-in cases it need not know.
        reply = {"answer": self._said(question).capitalize() + "." if question in self._known else "No."}
        reasoned = {"reasoning": "It follows."} if "step by step" in str(request.body["messages"]) else {}
        return json.dumps(reasoned | reply)

    def _said(self, question: str) -> str:
        # Not in the order of asking, which differs from run to run.
        return self._manner(self._known[question], random.Random(question))
