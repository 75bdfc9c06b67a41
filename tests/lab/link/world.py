"""A small world whose facts and likelihoods are known, played by an endpoint as knowledge model, critic and scorer.

Tools are called `tool-0`, `tool-1` and so on, and rooms likewise. The numbers in a sentence make it likely.
"""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from tests.assay.running import assay
from tests.support.stub_acts import Act, good
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

RULES = """
tools:
  domain: natural properties
  types: {X: Person, A: Tool, B: Room}
  premise: ["{X} works only with {A}", "{A} fits into {B}"]
  conclusion: "{X} can work in {B}"
  negation: "{X} cannot work in {B}"
  question: "can {X} work in {B}"
  answer: "yes"
"""

_ASKED = re.compile(r"List (\d+) things of the type (\w+)")
_WORD = re.compile(r"\s*\S+")
NAME = re.compile(r"\b(tool|room)-(\d+)\b")


class World(StubEndpoint):
    """The endpoint; `tools` and `rooms` are how many there are."""

    def __init__(self, *, tools: int, rooms: int, holds: Callable[[str], float] = lambda statement: 0.97) -> None:
        """`holds` is the probability of a statement by the critic."""
        super().__init__(answer=self._said, script=self._scored)
        self.things = {"Tool": _names("tool", tools), "Room": _names("room", rooms)}
        self.holds = holds
        self.echoes = True
        """False to score as llama.cpp does."""
        self.words: dict[str, None] = {}
        self.likelihoods = {"world": log_likelihood}
        """By the model that is asked for them, if not those of this world."""
        self.probability = lambda request, place: self.holds(statements_of(request)[place])

    def variables(self) -> dict[str, str]:
        """The environment of a program that asks this endpoint."""
        return {
            "ASSAY_JUDGE__BACKEND": "openai",
            "ASSAY_JUDGE__BASE_URL": self.base_url,
            "ASSAY_JUDGE__MODEL": "world",
            "ASSAY_SUBJECTS__RULER__BASE_URL": self.base_url,
            "ASSAY_SUBJECTS__RULER__MODEL": "ruler",
        }

    def build(self, cwd: Path, *more: str, **sizes: int) -> "subprocess.CompletedProcess[str]":
        """A build of the rules into the folder `out`."""
        command = [*build_of_rules(cwd), *(f"--{name}={value}" for name, value in sizes.items()), *more]
        return assay(*command, cwd=cwd, **self.variables())

    @property
    def asked(self) -> list[str]:
        """Each request's body, in order."""
        return [json.dumps(request.body, sort_keys=True) for request in self.requests]

    @property
    def calls_for_values(self) -> list[StubRequest]:
        """The requests to the knowledge model."""
        return [request for request in self.requests if gaps_of(request)]

    def _said(self, request: StubRequest) -> str:
        if request.kind == "true_statement":
            return "yes" if self.holds(statements_of(request)[0]) >= 0.5 else "no"
        count, data_type = _ASKED.findall(request.body["messages"][1]["content"])[0]
        named = named_in(request)
        values = [one for one in self.things[data_type] if one not in named][: int(count)]
        return orjson.dumps({"values": values}).decode()

    def _scored(self, request: StubRequest) -> Act:
        if request.path.endswith("/tokenize"):
            self.words.update(dict.fromkeys(_WORD.findall(request.body["content"])))
            known = list(self.words)
            return Act(document={"tokens": [known.index(one) for one in _WORD.findall(request.body["content"])]})
        if not request.path.endswith("/completions") or request.path.endswith("/chat/completions"):
            return good()
        likely = self.likelihoods.get(request.body["model"], log_likelihood)
        if not self.echoes:
            return Act(document=self._forced(request, likely))
        choices = []
        for index, text in enumerate(request.body["prompt"]):
            told = {"token_logprobs": [None, likely(text), -99.0], "text_offset": [0, 0, len(text)]}
            choices.append({"index": index, "text": f"{text} and", "finish_reason": "length", "logprobs": told})
        usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
        return Act(document={"choices": choices, "usage": usage})

    def _forced(self, request: StubRequest, likely: Callable[[str], float]) -> dict[str, Any]:
        """As llama.cpp: `echo` is ignored, and what a grammar of tokens allows is written."""
        tokens = [int(one) for one in re.findall(r"<\[(\d+)\]>", request.body.get("grammar", "<[0]>"))]
        known = list(self.words) or [""]
        first = request.body["prompt"][0] if "grammar" in request.body else 0
        whole = "".join(known[token] for token in [first, *tokens])
        told = [{"id": one, "token": known[one], "bytes": [1], "logprob": likely(whole)} for one in tokens]
        return {
            "choices": [{"index": 0, "text": "", "finish_reason": "length", "logprobs": {"content": told}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": len(tokens), "total_tokens": 1 + len(tokens)},
        }


def build_of_rules(cwd: Path) -> list[str]:
    """The command that builds the rules, which it puts there."""
    (cwd / "t.yaml").write_text(RULES, encoding="utf-8")
    return ["probes", "build", "t.yaml", "--out", "out", "--scorer", "endpoint:judge", "--measurer", "endpoint:ruler"]


def log_likelihood(text: str) -> float:
    """By the tool far more than by the room: -0.1 for each number of a tool, -0.001 for each of a room."""
    numbers = {kind: int(number) for kind, number in NAME.findall(text)}
    return -0.1 * numbers.get("tool", 0) - 0.001 * numbers.get("room", 0)


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}-{number}" for number in range(count)]


def statements_of(request: StubRequest) -> list[str]:
    """The statement that the critic is asked about; none if it is not the critic who is asked."""
    return [request.quotes["Statement"]] if request.kind == "true_statement" else []


def gaps_of(request: StubRequest) -> str:
    """The sentences with a gap that the knowledge model is asked about; empty if it is not that who is asked."""
    return request.quotes.get("Sentences with the gap ___", "")


def named_in(request: StubRequest) -> list[str]:
    """The values of the lists before this one."""
    lists = [orjson.loads(one["content"]) for one in request.body["messages"] if one["role"] == "assistant"]
    return [value for one in lists for value in one["values"]]
