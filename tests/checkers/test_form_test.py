"""Whether a model can follow the forms of the methods: known before anything is said of its trust."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkers.extraction.extractors import CallableSubject
from checkers.form_test import MethodResult, method_results
from checkers.plugin import installed_checkers
from models.build import build_model
from models.settings import SubjectSettings
from tests.support.stub_acts import status
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

METHODS = {"equivalence", "extraction", "labelling", "longtail", "consistency"}
CASES = [case for one in installed_checkers(reserved=()).plugins.values() for case in one.form_cases(one.name)]


@pytest.fixture(autouse=True)
def _nothing_on_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


async def results_of(answer: Callable[[StubRequest], str], *, again: bool = False) -> tuple[list[MethodResult], int]:
    """The results of a model that answers so, twice if `again`, and how many requests it got."""
    with StubEndpoint(answer=answer) as stub:
        model = build_model(SubjectSettings.model_validate({"base_url": stub.base_url, "model": "stub"}))
        try:
            found = await method_results(model, CASES)
            if again:
                assert await method_results(model, CASES) == found
        finally:
            await model.close()
        return found, len(stub.requests)


def well(request: StubRequest) -> str:
    """What a good model says."""
    if request.kind == "same_phrase":
        return "no" if "bank" in str(request.quotes) else "yes"
    texts, name = request.texts, request.body["response_format"]["json_schema"]["name"]
    mark = texts.get("datapoint", "")
    known: dict[str, Callable[[], dict[str, Any]]] = {
        "EquivalenceReply": lambda: {
            "explanation": "So.",
            "answer": "no" if re.search("opened|bank", str(texts)) else "yes",
        },
        "ParaphraseReply": lambda: {"paraphrase": "By nine the keeper had the north door closed."},
        "EntitiesReply": lambda: {
            "entities": [{"class": "x", "entity": one} for one in re.findall(r"[A-Z]\w+(?: [A-Z]\w+)?", texts["text"])]
            + [{"class": "ship", "entity": "Corvina"}]
        },
        "OthersReply": lambda: {"others": ["Ona Brill", "Peder Stolt", "Ida Crane"]},
        "LabelReply": lambda: {
            "reasons": [
                {"criterion": 1, "reason": "its first letter", "holds": mark.startswith("B")},
                {"criterion": 2, "reason": "its digits", "holds": "7" in mark},
            ],
            "label": str(int(mark == "B-17")),
        },
        "PickReply": lambda: {"reason": "It has both a B and a seven.", "choice": 2},
        "GenerateReply": lambda: {"reason": "It has both a B and a seven.", "datapoint": "B-71"},
        "AnswerReply": lambda: {"answer": "yes" if "cannot" in request.body["messages"][-1]["content"] else "no"},
        "SentenceRewrite": lambda: {"improved": "A ticket costs 6 crowns."},
    }  # fmt: skip
    return json.dumps(known[name]())


def parrot(request: StubRequest) -> str:
    """The last example of the prompt; the question where there is none."""
    *before, last = [message["content"] for message in request.body["messages"]]
    found = [one for turn in before for one in re.findall(r"^\{.*\}$", turn, re.MULTILINE | re.DOTALL)]
    return found[-1] if found else last


async def test_a_model_that_follows_them_is_asked_once_for_all():
    found, asked = await results_of(well, again=True)
    assert {one.method for one in found} == METHODS
    assert {(one.followed, one.right, one.answered) for one in found} == {(one.cases, one.cases, None) for one in found}
    assert all(one.verdict == "follows the form" for one in found)
    assert asked == sum(one.cases for one in found)


async def test_one_that_repeats_the_prompt_follows_none_and_is_told_by_its_reply():
    found, _ = await results_of(parrot)
    assert {one.method for one in found} == METHODS
    assert [one for one in found if one.is_followed or one.right] == []
    told = {one.method: one.answered for one in found}
    assert "the reply is the example of the prompt" in (told["equivalence"] or "")
    assert "it said: {" in (told["equivalence"] or "")


async def test_an_endpoint_that_fails_says_nothing_of_its_model(tmp_path: Path):
    with StubEndpoint(script=lambda _: status(400)) as stub:
        model = build_model(SubjectSettings.model_validate({"base_url": stub.base_url, "model": "stub"}))
        assert await method_results(model, CASES) == []
        await model.close()
    assert not list(tmp_path.rglob("*.json"))  # noqa: ASYNC240 - a small folder


async def test_one_that_is_no_language_model_is_asked_nothing():
    assert await method_results(CallableSubject("capitals", lambda text: 1 / 0), CASES) == []
