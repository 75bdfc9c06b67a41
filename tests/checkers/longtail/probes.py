"""A corpus of statements, and simulated subjects that are right about it as often as they are told."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkers.longtail.corpus import DISTRIBUTIONS, DOMAINS, Distribution, Statement, write_corpus
from checkers.longtail.templates import ProbeTemplate, templates_of
from models.protocol import Answer, ModelFailed, Question, ReplyT, YesNo
from schemas import Usage
from tests.support.stub_request import StubRequest

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
    """A subject that recognises the questions of a corpus; as an oracle, or as what a stub endpoint answers."""

    def __init__(self, known: Iterator[Statement] | list[Statement], manner: Manner, seed: int = 0) -> None:
        self.name = "simulated"
        self.manner = manner
        self.asked: list[str] = []
        """The questions, in order."""
        self._seed = seed
        self._known = {
            template.question(statement): Asked(statement, template)
            for statement in known
            for template in templates_of(statement)
        }

    def __call__(self, request: StubRequest) -> str:
        if "question" not in request.texts:
            return self._word(request.body["messages"][-1]["content"].split("\n")[0].removeprefix("> "))
        if request.texts["question"] not in self._known:
            # One of the built-in cases, which it need not know.
            return '{"answer": "No."}'
        return json.dumps(self._reply(request.texts["question"], "step by step" in str(request.body["messages"])))

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        texts = [message.content for message in question.messages]
        if question.reply is YesNo:
            word = self._word(texts[-1].split("\n")[0].removeprefix("> "))
            return Answer(question.reply.model_validate({"yes": word == "yes"}), Usage(calls=1))
        asked = texts[-1].split("Question:\n> ")[1].split("\n")[0]
        reply = self._reply(asked, "reasoning" in question.reply.model_fields)
        return Answer(question.reply.model_validate(reply), Usage(calls=1))

    async def close(self) -> None:
        pass

    def _word(self, question: str) -> str:
        return self.manner(self._known[question], random.Random(f"{self._seed}/{question}"))

    def _reply(self, question: str, reasoned: bool) -> dict[str, Any]:
        self.asked.append(question)
        # Not in the order of asking, which differs from run to run.
        answer = self.manner(self._known[question], random.Random(f"{self._seed}/{question}"))
        return ({"reasoning": "It follows."} if reasoned else {}) | {"answer": answer.capitalize() + "."}


class SilentSubject:
    """A subject that refuses every question."""

    name = "silent"

    async def ask(self, question: Question[ReplyT]) -> Answer[ReplyT]:
        raise ModelFailed("the model declined to answer", cause="judge_refused")

    async def close(self) -> None:
        pass
