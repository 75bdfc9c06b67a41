"""A small model gives its prompt back: the form, the example, a marker, or what was said about its last reply."""

import re
from json import JSONDecoder
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, create_model

from models.protocol import Message, Question
from models.replies import Completion, Unusable, read_reply
from tests.models.asking import question
from tests.models.conftest import MakeModel
from tests.support import stub_acts as stubs
from tests.support.stub_endpoint import StubEndpoint
from tests.support.stub_request import StubRequest

ROOT = Path(__file__).parents[2]
PROMPTS = sorted(ROOT.glob("[a-z]*/**/prompts/*.txt"))


def completion(content: str) -> Completion:
    return Completion(content, "stop")


def objects_in(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a template, as a model reads them; the outermost."""
    found, at = [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = JSONDecoder().raw_decode(text, at)
        except ValueError:
            at += 1
        else:
            found += [value] if isinstance(value, dict) else []
    return found


def strings_in(value: Any) -> list[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for one in inner for text in strings_in(one)]


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_prompt_of_the_product_is_answered_by_what_stands_in_it(path: Path) -> None:
    parts = re.split(r"^=== (\w+) ===$", path.read_text("utf-8"), flags=re.MULTILINE)
    turns = tuple(Message(role, text) for role, text in zip(parts[1::2], parts[2::2], strict=True))  # type: ignore[arg-type]
    for turn in turns:
        for shown in objects_in(turn.content) if turn.role != "user" else []:
            # A word or two, or numbers alone, may be the answer.
            words = [word for text in strings_in(shown) for word in re.findall(r"\w+|\.{3}", text)]
            if len(words) < 3 and "..." not in words:
                continue
            form = create_model("Form", **dict.fromkeys(shown, (Any, ...)))  # type: ignore[call-overload]
            asked = Question("t", "v", (*turns[:-1], Message("user", "Text")), form)
            with pytest.raises(Unusable, match=r"the example of the prompt|its own words belong"):
                read_reply(completion(form.model_validate(shown).model_dump_json()), asked)


def test_the_mark_of_a_quotation_is_no_answer() -> None:
    reply = '{"reason": [{"sentence": "> First.", "reason": "It is so."}], "is_consistent": true}'
    with pytest.raises(Unusable, match="the mark of a quotation"):
        read_reply(completion(reply), question("First."))
    read_reply(completion(reply), question("> First."))


async def test_what_was_said_about_a_reply_is_none(model_of: MakeModel, stub: StubEndpoint) -> None:
    def answer(request: StubRequest) -> stubs.Act:
        said = request.body["messages"][-1]["content"].partition("quoted here:\n> ")[2].partition("\n")[0]
        found = {"sentence": said or "One.", "reason": said or "It is so."}
        entries = [found] * (2 if said else 1)
        return stubs.says(str({"reason": entries, "is_consistent": True}).replace("'", '"').replace("True", "true"))

    stub.play(answer)
    with pytest.raises(Exception, match="repeats what was said about the one before"):
        await model_of().ask(question())


class Five(BaseModel):
    names: list[str] = Field(min_length=1, max_length=5)


async def test_an_endpoint_that_refuses_bounds_gets_the_schema_without_them(
    model_of: MakeModel, stub: StubEndpoint
) -> None:
    def answer(request: StubRequest) -> stubs.Act:
        said = {"error": {"message": "Invalid schema for response_format: 'minItems' is not permitted."}}
        refused = "minItems" in str(request.body["response_format"])
        return stubs.error(400, said) if refused else stubs.says('{"names": ["Bergen"]}')

    stub.play(answer)
    model = model_of()
    asked = question(reply=Five, complaint=lambda reply: None)
    assert (await model.ask(asked)).usage.calls == 2
    other = question("Another.", reply=Five, complaint=lambda reply: None)
    assert (await model.ask(other)).usage.calls == 1
    assert {request.body["response_format"]["type"] for request in stub.requests} == {"json_schema"}
    assert "maxItems" not in str(stub.requests[-1].body)
