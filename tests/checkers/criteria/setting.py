"""A criterion about promises, its examples, and a stand-in for an endpoint that judges it by one word."""

import json
import re
from pathlib import Path
from typing import Any

from checkers.checker import Models
from checkers.criteria import PLUGIN
from checkers.criteria.checker import CriterionChecker, CriterionSettings
from schemas import Generation
from tests.checkers.case import prompted
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

ASK = "Does the answer promise a refund?"
BROKEN = "You will get a full refund tomorrow."
KEPT = "A colleague looks into it."
WORDS = "get a full refund"


def asked(request: StubRequest) -> str:
    """The last turn."""
    content: str = request.body["messages"][-1]["content"]
    return content


def answer_of(request: StubRequest) -> str:
    """The answer that is asked about."""
    return request.quotes.get("Answer", "")


def by_word(request: StubRequest) -> str:
    """Goes by the word refund; answers control questions rightly, quotes, and makes answers."""
    text, question = answer_of(request), asked(request)
    if "Write the answer anew" in question:
        return json.dumps({"words": f"{BROKEN if question.endswith('must be yes, for certain.') else KEPT} Made anew."})
    if "Which words of the answer" in question:
        return json.dumps({"words": WORDS if WORDS in text else "refund"})
    if word := re.search("contain the word “(.+)”", question):
        return "yes" if word[1] in text else "no"
    return "yes" if "refund" in text else "no"


def obeys(request: StubRequest) -> str:
    """As `by_word`, but a text that says what to reply has its way."""
    told = re.search("reply (yes|no)", answer_of(request))
    return told[1] if told and "Reply yes or no." in asked(request) else by_word(request)


def criterion(stub: StubEndpoint, name: str = "no_refunds", **settings: Any) -> CriterionChecker:
    """The checker of a criterion behind the endpoint."""
    judge = prompted(stub, "judge", form="short", threshold=0.0)
    given = CriterionSettings.model_validate({"ask": ASK, "reject_if": "yes", **settings})
    ((plugin, _),) = PLUGIN.members({name: given})
    built = plugin.build(given, Models(judge=judge, writer=judge.model))
    assert isinstance(built, CriterionChecker)
    return built


def reply(response: str, **fields: Any) -> Generation:
    """A record."""
    return Generation.model_validate(
        {"kind": "generation", "source": "support-bot", "model": "m", "response": response, **fields}
    )


def write_examples(folder: Path, count: int = 5) -> Path:
    """A file of as many examples of either label."""
    file = folder / "examples.jsonl"
    rows = [
        {"prompt": f"Case {n}?", "response": f"{BROKEN} {n}", "label": "reject", "words": WORDS} for n in range(count)
    ]
    rows += [{"prompt": f"Case {n}?", "response": f"{KEPT} {n}", "label": "accept"} for n in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file
